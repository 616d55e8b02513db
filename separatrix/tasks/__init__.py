"""Tasks: distributions over (x, y), each a frozen dataclass with a sampler and, where finite, its population."""

from separatrix.tasks.base import Population, Split, Task, stream
from separatrix.tasks.bits import (
    BiasedBits,
    BitDistribution,
    MarkovBits,
    SampledBits,
    Uniform,
    WeightedBits,
    hypercube,
)
from separatrix.tasks.concepts import Concept
from separatrix.tasks.custom import Arrays, Sampled
from separatrix.tasks.digit_sequences import DigitSequences
from separatrix.tasks.digits import DigitDetection
from separatrix.tasks.hard_instance import HardInstance, Monomial
from separatrix.tasks.hierarchical import Composed, Hierarchical, HierarchicalParity
from separatrix.tasks.k_pattern import KPattern
from separatrix.tasks.pattern_detection import PatternDetection
from separatrix.tasks.photographs import Photographs
from separatrix.tasks.sparse_parity import SparseParity

__all__ = [
    "Arrays",
    "BiasedBits",
    "BitDistribution",
    "Composed",
    "Concept",
    "DigitDetection",
    "DigitSequences",
    "HardInstance",
    "Hierarchical",
    "HierarchicalParity",
    "KPattern",
    "MarkovBits",
    "Monomial",
    "PatternDetection",
    "Photographs",
    "Population",
    "Sampled",
    "SampledBits",
    "SparseParity",
    "Split",
    "Task",
    "Uniform",
    "WeightedBits",
    "hypercube",
    "stream",
]
