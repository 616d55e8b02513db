"""The paper's symbols as parameters, the training that they describe, and what the paper asks of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from separatrix.errors import InputError, unknown
from separatrix.rules import Choice, Maybe, Real, Rule, Whole
from separatrix.tasks.bits import BiasedBits, BitDistribution, MarkovBits, Uniform
from separatrix.theory.activations import ACTIVATIONS, Activation
from separatrix.theory.certificate import Assumption
from separatrix.theory.search import root

if TYPE_CHECKING:
    from separatrix.training.cell import Cell

NAMED = ("parity", "majority", "and", "random")
MOST_WORK = 1 << 31
"""Table entries and points that a run looks at, over all of its steps."""


@dataclass(frozen=True)
class Target(Rule):
    """The name of a g, or its truth table in signs, the pattern + + ... + first and the first bit the slowest."""

    @property
    def allowed(self) -> str:
        return f"one of {', '.join(NAMED)}, or a truth table of 2^k signs such as '+--+'"

    def convert(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError
        if value not in NAMED and not (value and set(value) <= {"+", "-"}):
            raise ValueError
        return value

    def accept(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and value[:1].isalpha() and value not in (*NAMED, "all"):
            raise unknown(name, value, NAMED)
        return super().accept(name, value)


Bits = Annotated[int, Whole(1, 16)]
Window = Annotated[int, Whole(1, 8)]
MaybeExact = Annotated[Fraction | None, Maybe(Real(above=0, high=1e9, exact=True))]
Pattern = Annotated[str, Target()]
MaybePattern = Annotated[str | None, Maybe(Target())]
Sigma = Annotated[str, Choice(*ACTIVATIONS)]
MaybeSigma = Annotated[str | None, Maybe(Choice(*ACTIVATIONS))]
Law = Annotated[str, Choice("uniform", "biased", "markov")]
Probability = Annotated[float, Real(0, 1)]


def step_size(n: int, q: int, T: int, version: str = "corrected") -> float:
    """Theorem 4's eta = sqrt(n) / (sqrt(q) T); the later version prints sqrt(n) / sqrt(q T).

    >>> step_size(4, 16, 10), step_size(4, 16, 4, "printed")
    (0.05, 0.25)
    """
    return root(Fraction(n, q * (T * T if version == "corrected" else T)))


def chosen_rate(eta: float | None, n: int, q: int, T: int) -> float:
    """eta as given, or Theorem 4's."""
    return step_size(n, q, T) if eta is None else eta


def nominal_c(sigma: Activation, c: Fraction | None) -> Fraction | float:
    """The paper's c: as given, or the activation's largest modulus."""
    if c is not None:
        return c
    return Fraction(sigma.sup) if math.isfinite(sigma.sup) else math.inf


@dataclass(frozen=True)
class Setting:
    """The paper's symbols. ``p`` is P(x_i = 1) of ``biased`` bits, and the chance of a flip of ``markov`` ones."""

    n: int
    k: int
    q: int
    T: int
    eta: float
    g: str = "parity"
    j: int | None = None
    activation: str = "clipped_relu"
    distribution: str = "uniform"
    p: float = 0.5
    seed: int = 0
    shared: bool = True
    classes: bool = False

    def __post_init__(self) -> None:
        if self.k > self.n:
            raise InputError(f"k must be at most n = {self.n}, got {self.k}")
        if self.j is not None and self.j > self.windows:
            raise InputError(f"j must be at most n - k + 1 = {self.windows}, got {self.j}")
        if self.g not in NAMED and len(self.g) != 2**self.k:
            raise InputError(f"g must have 2^k = {2**self.k} signs, got {len(self.g)}")
        if self.work > MOST_WORK:
            raise InputError(
                f"n, k, q and T must leave at most {MOST_WORK} values to follow a run through, got {self.work}; take "
                "smaller ones"
            )

    @property
    def windows(self) -> int:
        return self.n - self.k + 1

    @property
    def neurons(self) -> int:
        return 2**self.k if self.classes else self.q

    @property
    def work(self) -> int:
        """What a run computes, roughly: activations and outputs at every step."""
        layers = 1 if self.shared else self.windows
        return (self.T + 1) * (2**self.n * self.windows + (layers * 2**self.k + self.windows) * self.neurons)

    @property
    def law(self) -> BitDistribution:
        if self.distribution == "uniform":
            return Uniform()
        return BiasedBits(self.p) if self.distribution == "biased" else MarkovBits(self.p)

    def cell(self) -> Cell:
        from separatrix.learners import CNN, LCN, Trained
        from separatrix.learners.algorithms import GradientDescent
        from separatrix.papers.convolution.classes import Classes
        from separatrix.tasks import KPattern
        from separatrix.training.cell import Cell, Procedure

        table = self.g if self.g in NAMED else tuple(1 if sign == "+" else -1 for sign in self.g)
        task = KPattern(self.n, self.k, self.j, table, self.law)
        kind = CNN if self.shared else LCN
        network = (
            Classes(self.q, self.k, self.activation, self.shared)
            if self.classes
            else kind(self.q, self.k, self.activation, "paper")
        )
        procedure = Procedure(precision="float64", evaluation="population")
        return Cell(task, Trained(network, GradientDescent(self.eta), "hinge"), None, self.seed, procedure)


def bounded(sigma: Activation, c: Fraction | float) -> list[Assumption]:
    """What the paper asks of sigma."""
    return [
        Assumption("|sigma| <= c", sigma.sup, c, math.isfinite(sigma.sup) and sigma.sup <= c),
        Assumption("|sigma'| <= 1", sigma.derivative_sup, 1, sigma.derivative_sup <= 1),
    ]


def indicator(sigma: Activation, k: int) -> list[Assumption]:
    """What the proof of Lemma 6 uses besides: sigma tells a pattern met in all k bits from all others."""
    met, *missed = sigma.exact_values([Fraction(1 - 2 * m, k) for m in range(k + 1)], 60)
    largest = max(abs(value) for value in missed)
    return [
        Assumption("sigma(1/k) = 1/k", met, Fraction(1, k), met == Fraction(1, k)),
        Assumption("largest |sigma((1-2m)/k)|, m = 1..k, is 0", largest, 0, largest == 0),
    ]


def least_width(k: int, delta: float) -> Fraction:
    """What q must exceed: 2^(k+3) log(2^k / delta), the logarithm in float64.

    >>> round(float(least_width(3, 0.05)), 3)
    324.811
    """
    return 2 ** (k + 3) * Fraction(k * math.log(2) - math.log(delta))


def wide_enough(k: int, q: int, delta: float) -> Assumption:
    limit = least_width(k, delta)
    return Assumption("q > 2^(k+3) log(2^k/delta)", q, limit, q > limit)
