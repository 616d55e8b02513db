"""The results of the convolution paper, as ``certify`` finds them."""

from __future__ import annotations

from separatrix.papers.convolution.fully_connected import theorem_12

__all__ = ["theorem_12"]
