"""Training: cells, the fleet engine and its records."""

from separatrix.training.cell import Cell, Procedure
from separatrix.training.engine import train

__all__ = ["Cell", "Procedure", "train"]
