"""One run of Algorithm 1's first layer, as the lemmas of section 5 and appendix C look at it.

The run is the engine's, in float64, followed step by step. Without noise every statement about it needs only the
products w_i^(t) . o_j, the norms, a^(0) and which patterns each sample contains.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.rules import Maybe, Whole
from separatrix.theory.certificate import Assumption
from separatrix.theory.parameters import Floats, Ints

if TYPE_CHECKING:
    from separatrix.training.cell import Cell
    from separatrix.training.trajectory import Trajectory

Dimension = Annotated[int, Whole(3)]
MaybePatterns = Annotated[int | None, Maybe(Whole(3))]
Bools = NDArray[np.bool_]
Sign = Literal[1, -1]
SCAN = tuple(10.0**power for power in range(8))
"""The r / eta_1 at which a lemma's conclusion is also tried."""
MOST_SCANNED = 1 << 22
"""Products kept of one run, up to which other r are tried."""


@dataclass(frozen=True)
class Setting:
    """The paper's symbols; what is left out takes the largest value (k: the smallest) that Theorem 5.1 allows."""

    d: int
    n: int
    l: int  # noqa: E741
    k: int
    m: int
    T1: int
    eta_1: float
    r: float
    seed: int
    patterns: str = "orthogonal"

    @staticmethod
    def of(
        d: int,
        n: int,
        l: int | None,  # noqa: E741
        k: int | None,
        m: int,
        T1: int,
        eta_1: float | None,
        r: float | None,
        seed: int,
    ) -> Setting:
        filters = 8 * d**3 + 1 if k is None else k
        rate = 1 / (4 * filters * (T1 + 1)) if eta_1 is None else eta_1
        return Setting(d, n, d if l is None else l, filters, m, T1, rate, rate / 200 if r is None else r, seed)

    def cell(self, eta_2: float = 1.0) -> Cell:
        from separatrix.learners import ConvPool, Trained
        from separatrix.learners.algorithms import Layerwise
        from separatrix.tasks import PatternDetection
        from separatrix.training.cell import Cell, Procedure

        learner = Trained(ConvPool(self.k, "sphere", self.r), Layerwise(self.T1, self.eta_1, eta_2), "logistic")
        procedure = Procedure(precision="float64", evaluation="sample", test_size=1, validation_size=1)
        return Cell(PatternDetection(self.d, self.n, self.l, self.patterns), learner, self.m, self.seed, procedure)


@dataclass(frozen=True)
class Run:
    """What a run left: axes are t = 0..T1, patterns j (from 0), filters i."""

    setting: Setting
    products: Floats
    norms: Floats
    steps: Floats
    a: Floats
    present: Bools
    y: Floats

    @property
    def m1(self) -> int:
        return (self.setting.m + 1) // 2

    def lucky(self, sign: Sign) -> Ints:
        """W_0^+ and A^+ (sign 1), or W_0^- and A^- (sign -1): Equation 6 at t = 0."""
        return lucky(self.products[0], self.a, sign)

    def share(self, sign: Sign) -> Fraction:
        """|S_1^+| / m_1 or |S_1^-| / m_1."""
        return Fraction(int(np.sum(self.y[: self.m1] == sign)), self.m1)


def lucky(products: Floats, a: Floats, sign: Sign) -> Ints:
    """Filters whose best pattern of all but the other label's is their own label's, with a positive product.

    >>> products = np.array([[0.2, 0.2, -0.2], [0.9, 0.9, -0.3], [0.1, 0.1, -0.1]])
    >>> lucky(products, np.array([1.0, -1.0, 1.0]), 1), lucky(products, np.array([1.0, -1.0, 1.0]), -1)
    (array([0]), array([1]))
    """
    own = products[0 if sign == 1 else 1]
    rivals = np.maximum(products[2:].max(axis=0), 0)
    return np.flatnonzero((own > rivals) & (a == sign))


def patterns_present(x: Floats, patterns: Floats) -> Bools:
    """Which patterns each input contains; every place must hold one of them exactly (up to rounding)."""
    matches = np.einsum("pnd,ld->pnl", x, patterns) > 1 - 1e-9
    if not (matches.sum(axis=2) == 1).all():
        raise ValueError("every place of an input must hold one pattern, without noise")
    return np.asarray(matches.any(axis=1))


def run_of(setting: Setting, path: Trajectory, eta_1_steps: int) -> Run:
    """The first ``eta_1_steps`` + 1 kept steps of a followed training."""
    W = path.params.W[: eta_1_steps + 1]  # type: ignore[attr-defined]
    return Run(
        setting,
        np.einsum("jd,tdi->tji", path.instance, W),
        np.linalg.norm(W, axis=1),
        np.linalg.norm(np.diff(W, axis=0), axis=1),
        np.asarray(path.params.a[0]),  # type: ignore[attr-defined]
        patterns_present(np.asarray(path.sample.x), path.instance),
        np.asarray(path.sample.y),
    )


@functools.lru_cache(maxsize=12)
def first_layer(setting: Setting) -> Run:
    """T1 steps of Algorithm 1 by the engine, followed; kept for the lemmas that look at the same run."""
    from separatrix.training.trajectory import follow

    return run_of(setting, follow(setting.cell(), setting.T1), setting.T1)


def features(products: Floats, present: Bools) -> Floats:
    """z(x)_i = max(0, max of w_i . o_j over the patterns j present), for each row of ``present``."""
    pooled = np.zeros((len(present), products.shape[1]))
    for j, row in enumerate(products):
        np.maximum(pooled, np.where(present[:, j, None], row, 0), out=pooled)
    return pooled


@functools.lru_cache(maxsize=8)
def pattern_sets(n: int, l: int) -> tuple[Bools, Floats, Floats]:  # noqa: E741
    """The whole support as sets of patterns: presence (a row a set), labels, probabilities; the task's own list."""
    import jax.numpy as jnp

    from separatrix.tasks import PatternDetection
    from separatrix.training.engine import numerics

    with numerics("float64"):
        x, y, p = PatternDetection(l, n, patterns="standard").pattern_sets(jnp.eye(l))
        return np.asarray(x).max(axis=1) > 0.5, np.asarray(y), np.asarray(p)


def assumptions(setting: Setting) -> list[Assumption]:
    """What Theorem 5.1 asks of the first layer."""
    s = setting
    rate = 1 / (4 * s.k * (s.T1 + 1))
    return [
        Assumption("eta_1 <= 1/(4k(T1+1))", s.eta_1, rate, s.eta_1 <= rate),
        Assumption("r <= eta_1/200", s.r, s.eta_1 / 200, s.r <= s.eta_1 / 200),
        Assumption("k > 8 d^3", s.k, 8 * s.d**3, s.k > 8 * s.d**3),
    ]


def equation_14(run: Run) -> list[Assumption]:
    """Both labels make at least a third of S_1 (the paper prints m_1/3, which no proportion reaches)."""
    third = Fraction(1, 3)
    shares = {"+": run.share(1), "-": run.share(-1)}
    return [Assumption(f"|S1^{sign}|/m1 >= 1/3", share, third, share >= third) for sign, share in shares.items()]


def equation_14_failure(m1: int, limit: Fraction = Fraction(1, 3)) -> Fraction:
    """P(|S_1^+|/m_1 < limit or |S_1^-|/m_1 < limit), exactly.

    >>> equation_14_failure(3), equation_14_failure(100, Fraction(100, 3))
    (Fraction(1, 4), Fraction(1, 1))
    """
    inside = sum(math.comb(m1, s) for s in range(m1 + 1) if min(s, m1 - s) >= limit * m1)
    return 1 - Fraction(inside, 2**m1)


def first_failing_r(setting: Setting, conclusion: Callable[[Run], bool]) -> float | None:
    """The smallest r / eta_1 of ``SCAN`` at which the conclusion fails, with all else as it is."""
    from dataclasses import replace

    if (setting.T1 + 1) * setting.l * setting.k > MOST_SCANNED:
        return None
    for ratio in SCAN:
        if not conclusion(first_layer(replace(setting, r=ratio * setting.eta_1))):
            return ratio
    return None


def scan_note(failing: float | None) -> str:
    """What the scan over r found, in words."""
    if failing is None:
        return f"tried r/eta_1 = {SCAN[0]:g}, ..., {SCAN[-1]:g} (theorem: 1/200) where cheap: none broke the conclusion"
    return f"of r/eta_1 = {SCAN[0]:g}, 10, 100, ... (theorem: 1/200) the conclusion first fails at {failing:g}"


def where_least(values: Floats) -> tuple[int, ...]:
    """The place of the smallest entry."""
    return tuple(int(place) for place in np.unravel_index(int(values.argmin()), values.shape))
