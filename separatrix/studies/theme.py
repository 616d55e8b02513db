"""What charts look like: colours, shapes and fonts that are there without a network."""

from __future__ import annotations

from typing import Any

import altair as alt

THEME = "separatrix"
PALETTE = ("#0B5FA5", "#D1480F", "#0B8A6A", "#8A3FA0", "#B07A00", "#2E9BD6", "#C2387A", "#6B6B6B", "#7A4A21")
"""After Okabe and Ito, darkened to be read as text: apart for the colour-blind, and on white or dark paper."""

_PENTAGON = "M0,-1L0.95,-0.31L0.59,0.81L-0.59,0.81L-0.95,-0.31Z"
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"),
    _PENTAGON,
)
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
INK, FAINT, GRID = "#222222", "#5F5F5F", "#E4E4E4"


@alt.theme.register(THEME, enable=False)
def _theme() -> alt.theme.ThemeConfig:
    axis: dict[str, Any] = {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 9,
        "labelColor": INK,
        "titleColor": INK,
        "gridColor": GRID,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "labelPadding": 5,
    }
    title = {"font": FONT, "subtitleFont": FONT, "fontSize": 15, "subtitleFontSize": 12, "subtitleColor": FAINT}
    config: Any = {
        "font": FONT,
        "background": "white",
        "padding": 12,
        "view": {"stroke": None},
        "axis": axis,
        "title": title | {"anchor": "start", "offset": 14, "color": INK, "subtitlePadding": 5},
        "text": {"font": FONT},
    }
    return {"config": config}


def use_theme() -> None:
    """Give every chart of this session (a notebook) the fonts and lines that saved charts have."""
    alt.theme.enable(THEME)
