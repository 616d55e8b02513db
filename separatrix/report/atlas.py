"""The atlas: everything a store says about the papers' claims, gathered and rendered as one HTML page."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from typing import Any

from separatrix import papers
from separatrix.report.certificates import is_printed, kept, verdict_of
from separatrix.report.contents import overview
from separatrix.report.evidence import Section, sections
from separatrix.report.figures import FigureView, figure_view
from separatrix.report.words import number
from separatrix.studies.figures import summaries
from separatrix.studies.store import Store

VERDICTS = ("supported", "refuted", "inconclusive", "vacuous", "not run")
_PACKAGES = ("jax", "equinox", "optax", "numpy", "scipy", "scikit-learn", "polars", "altair")


@dataclass(frozen=True)
class ClaimView:
    """A claim as the atlas shows it."""

    claim: papers.KnownClaim
    verdict: str
    source: str
    evidence: Sequence[Section]


@dataclass(frozen=True)
class Erratum:
    """A statement as printed beside the corrected one, at the same parameters; either may be missing."""

    id: str
    at: str
    printed: Mapping[str, Any] | None
    corrected: Mapping[str, Any] | None


@dataclass(frozen=True)
class Atlas:
    """What the page shows."""

    claims: Mapping[str, Sequence[ClaimView]]
    figures: Sequence[FigureView]
    certificates: Mapping[str, Sequence[Mapping[str, Any]]]
    errata: Sequence[Erratum]
    contents: Mapping[str, Any]
    provenance: Mapping[str, str]

    def verdict_counts(self) -> dict[str, int]:
        """How many claims have each verdict."""
        counts = Counter(view.verdict for views in self.claims.values() for view in views)
        return {verdict: counts[verdict] for verdict in VERDICTS}


def gather(folder: Path) -> Atlas:
    """Read a store's summaries, certificates and counts."""
    store = Store(folder)
    found = summaries(store)
    certificates: dict[str, list[dict[str, Any]]] = {}
    for certificate in kept(folder):
        certificates.setdefault(certificate["claim"], []).append(certificate)
    return Atlas(
        claims=_claims(found, certificates),
        figures=[figure_view(summary, folder / "figures") for summary in found],
        certificates=certificates,
        errata=[erratum for id, those in certificates.items() for erratum in _errata(id, those)],
        contents=overview(store),
        provenance=_provenance(store, certificates),
    )


def render(atlas: Atlas) -> str:
    """The page, which loads nothing."""
    import jinja2

    from separatrix.report.figures import DARK, interactive_script

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("separatrix", "report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    environment.filters["at"] = lambda params: at(params)
    template = environment.get_template("atlas.html.j2")
    script = interactive_script() if any(figure.specification for figure in atlas.figures) else ""
    return template.render(atlas=atlas, counts=atlas.verdict_counts(), papers=papers.PAPERS, dark=DARK, script=script)


def at(params: Mapping[str, Any]) -> str:
    """Parameters in one line, without those left open."""
    return ", ".join(f"{name} = {number(value)}" for name, value in params.items() if value is not None)


def _claims(
    found: Sequence[Mapping[str, Any]], certificates: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, list[ClaimView]]:
    """The claims of every paper with their verdicts, by paper; those of users' own studies have none."""
    views: dict[str, list[ClaimView]] = {paper: [] for paper in papers.PAPERS}
    for claim in papers.claims().values():
        view = _by_figures(claim, found) if claim.kind == "figure" else _by_certificates(claim, certificates)
        views[claim.paper].append(view)
    return {paper: those for paper, those in views.items() if those}


def _by_figures(claim: papers.KnownClaim, found: Sequence[Mapping[str, Any]]) -> ClaimView:
    """The verdict at the paper's scale where it was run, with the evidence of every scale."""
    decided = {summary["scale"]: entry for summary in found for entry in summary["claims"] if entry["id"] == claim.id}
    if not decided:
        return ClaimView(claim, "not run", f"separatrix reproduce {claim.test}", ())
    scale = "paper" if "paper" in decided else next(iter(decided))
    parts = [
        Section(f"{name} scale: {entry['verdict']}" + (f", {part.title}" if part.title else ""), part.rows)
        for name, entry in decided.items()
        for part in sections(entry["evidence"])
    ]
    return ClaimView(claim, decided[scale]["verdict"], f"{claim.test} at {scale} scale", parts)


def _by_certificates(claim: papers.KnownClaim, certificates: Mapping[str, Sequence[Mapping[str, Any]]]) -> ClaimView:
    those = [certificate for certificate in certificates.get(claim.id, ()) if not is_printed(certificate)]
    if not those:
        return ClaimView(claim, "not run", f"separatrix certify {claim.id} --store ...", ())
    rows = [(one["status"], f"slack {number(one['slack'])} at {at(one['params'])}") for one in those]
    words = "1 certificate" if len(those) == 1 else f"{len(those)} certificates"
    return ClaimView(claim, verdict_of(those), words, [Section("", rows)])


def _errata(id: str, certificates: Sequence[Mapping[str, Any]]) -> list[Erratum]:
    """Pairs of certificates that differ in ``version`` alone; without a printed one there is no row."""
    pairs: dict[str, dict[str, Mapping[str, Any]]] = {}
    for certificate in certificates:
        if "version" in certificate["params"]:
            others = {name: value for name, value in certificate["params"].items() if name != "version"}
            pairs.setdefault(at(others), {})[certificate["params"]["version"]] = certificate
    return [
        Erratum(id, place, pair["printed"], pair.get("corrected")) for place, pair in pairs.items() if "printed" in pair
    ]


def _provenance(store: Store, certificates: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    frame = store.frame()
    versions = set(frame["version"].drop_nulls().to_list()) if "version" in frame.columns else set()
    versions |= {one["made"]["version"] for those in certificates.values() for one in those}
    return {
        "page made": datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC"),
        "by": f"separatrix {version('separatrix')}, Python {platform.python_version()}",
        "results from": ", ".join(f"separatrix {name}" for name in sorted(versions)) or "no results yet",
        "packages here": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        "machine here": f"{platform.system()} {platform.machine()}, {cpu_count()} cores",
        "store": store.folder.resolve().name,
    }
