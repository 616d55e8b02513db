"""The figures of the residual paper."""

from __future__ import annotations

from separatrix.papers.residual import minimal_norm

FIGURES = (*minimal_norm.FIGURES,)
