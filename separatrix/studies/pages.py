"""Charts as files: SVG, PNG, PDF and a page that needs no network, from one specification."""

from __future__ import annotations

import functools
import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt

from separatrix.files import write_whole
from separatrix.studies.theme import THEME

_GLOBALS = "window.vegaEmbed = vegaEmbed; window.vegaLite = vegaLite; window.vega = vega;"


def save_chart(chart: alt.TopLevelMixin, stem: str | Path) -> list[Path]:
    """Write SVG, PNG (at twice the size), PDF and an interactive page that needs no network, from one specification."""
    import vl_convert

    place = Path(stem)
    with alt.theme.enable(THEME):
        specification = chart.to_dict()
    version = _vegalite_version()
    text = json.dumps(specification)  # as a dictionary it could not hold 1e20, which it takes for an integer
    made: dict[str, bytes | str] = {
        ".svg": vl_convert.vegalite_to_svg(text, vl_version=version),
        ".png": vl_convert.vegalite_to_png(text, vl_version=version, scale=2),
        ".pdf": vl_convert.vegalite_to_pdf(text, vl_version=version),
        ".html": _page(specification, place.name, javascript_bundle()),
    }
    return [write_whole(place.with_name(place.name + suffix), content) for suffix, content in made.items()]


@functools.cache
def javascript_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that loads nothing else."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(_GLOBALS, _vegalite_version())
    return _inert(bundle)


def specification_of(page: str) -> dict[str, Any]:
    """The specification that a page written by :func:`save_chart` shows."""
    text = page.split('<script type="application/json" id="specification">', 1)[1].split("</script>", 1)[0]
    found: dict[str, Any] = json.loads(text)
    return found


def _page(specification: Mapping[str, Any], name: str, bundle: str) -> str:
    text = _inert(json.dumps(specification))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(name)}</title><style>body {{ margin: 1.5rem; background: white; }}</style></head>
<body><div id="chart"></div>
<script type="application/json" id="specification">{text}</script>
<script>{bundle}</script>
<script>vegaEmbed("#chart", JSON.parse(document.getElementById("specification").textContent),
{{renderer: "svg", actions: {{export: true, source: false, compiled: false, editor: false}}}});</script>
</body></html>
"""


def _vegalite_version() -> str:
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _inert(text: str) -> str:
    """JavaScript or JSON that cannot end the element that it stands in."""
    return text.replace("</script", "<\\/script")
