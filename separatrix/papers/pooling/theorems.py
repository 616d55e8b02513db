"""The results of the pooling paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.pooling.expressivity import theorem_4_2

__all__ = ["theorem_4_2"]
