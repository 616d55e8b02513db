"""Population gradient descent on D_A by the algorithm of section 2, as Lemmas 12 to 14 and Theorem 2 look at it.

The run is the engine's, in float64, on the enumerated population and followed step by step; what the lemmas say of it
is evaluated here in NumPy. Step 1 has eta = 1 and lambda = 1/2, steps 2..T have eta and lambda.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.learners.least_distance import least_distance
from separatrix.papers.parity.features import CAP
from separatrix.rules import Maybe, Real, Rule, Whole
from separatrix.theory.parameters import Floats
from separatrix.theory.regret import Descent

if TYPE_CHECKING:
    from separatrix.training.cell import Cell

MOST_WORK = 1 << 30
"""Pre-activations that a run computes, over all of its steps."""
LARGEST_BITS = 16
TIE = 1e-12
"""A margin this near to 1 may be on either side of it in another order of summation."""


@dataclass(frozen=True)
class Places(Rule):
    """Places of x, from 1: a tuple, or text such as "2,5,8"."""

    @property
    def allowed(self) -> str:
        return "different places from 1 on, such as 2,5,8"

    def convert(self, value: Any) -> tuple[int, ...]:
        parts = value.strip("()[] ").split(",") if isinstance(value, str) else tuple(value)
        places = tuple(sorted(Whole(1).convert(part) for part in parts if part != ""))
        if not places or len(set(places)) != len(places):
            raise ValueError
        return places


Bits = Annotated[int, Whole(3, LARGEST_BITS)]
Odd = Annotated[int, Whole(3, 15)]
Width = Annotated[int, Whole(1)]
Steps = Annotated[int, Whole(2)]
MaybePlaces = Annotated[tuple[int, ...] | None, Maybe(Places())]
MaybeRate = Annotated[float | None, Maybe(Real(above=0, high=0.5))]
MaybeDecay = Annotated[float | None, Maybe(Real(0, 0.5))]


def step_size(k: int, q: int, T: int) -> float:
    """Theorem 2's eta = k^2 / (T sqrt q).

    >>> step_size(3, 16, 10)
    0.225
    """
    return k * k / (T * math.sqrt(q))


@dataclass(frozen=True)
class Setting:
    """The paper's symbols; ``T`` counts the first step. ``A`` is drawn by the seed where it is None."""

    n: int
    k: int
    q: int
    T: int
    eta: float
    lambda_: float
    A: tuple[int, ...] | None = None
    version: str = "corrected"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.k > self.n or self.k % 2 == 0:
            raise InputError(f"k must be odd and at most n = {self.n}, got {self.k}")
        if self.n > LARGEST_BITS:
            raise InputError(f"n must be of at most {LARGEST_BITS} for a run on all of the cube, got {self.n}")
        if self.work > MOST_WORK:
            raise InputError(
                f"n, q and T must have 2^n 2q T of at most {MOST_WORK} to be followed step by step, got {self.work}"
            )

    @staticmethod
    def of(
        n: int,
        k: int,
        q: int,
        T: int,
        eta: float | None,
        lambda_: float | None,
        A: tuple[int, ...] | None,
        version: str,
        seed: int,
    ) -> Setting:
        """With Theorem 2's eta and the largest lambda that it allows, k/n, where these are not given."""
        rate = min(step_size(k, q, T), 0.5) if eta is None else eta
        return Setting(n, k, q, T, rate, min(k / n, 0.5) if lambda_ is None else lambda_, A, version, seed)

    @property
    def work(self) -> int:
        return int(2**self.n * 2 * self.q * self.T)

    def cell(self) -> Cell:
        return _cell(self.n, self.k, self.q, self.eta, self.lambda_, self.A, self.version, self.seed)


@dataclass(frozen=True)
class Run:
    """What a run left, for t = 0..T: ``W`` (t, 2q, n), ``b`` and ``u`` (t, 2q); the points, labels, probabilities."""

    setting: Setting
    W: Floats
    b: Floats
    u: Floats
    x: Floats
    y: Floats
    p: Floats

    def features(self, t: int) -> Floats:
        """sigma(<w_i, x> + b_i) at every point: (2^n, 2q)."""
        return np.asarray(np.clip(self.x @ self.W[t].T + self.b[t], 0, CAP))

    def outputs(self, t: int, u: Floats) -> Floats:
        """g_u^(t) at every point."""
        return np.asarray(self.features(t) @ u)

    def seen(self, u: Floats) -> list[tuple[float, float]]:
        """(L, P(sign g != f)) of g^(t) with the readout ``u``, or with that of each step, for t = 0..T."""
        found = []
        for t in range(self.setting.T + 1):
            g = self.outputs(t, u[t] if u.ndim == 2 else u)
            found.append((float(self.p @ hinge(self.y * g)), float(self.p @ ((g > 0) != (self.y > 0)))))
        return found

    @functools.cached_property
    def own(self) -> Floats:
        """(t, 2): L(g^(t)) and the error of the run itself."""
        return np.array(self.seen(self.u))

    @property
    def losses(self) -> Floats:
        return self.own[:, 0]

    @property
    def errors(self) -> Floats:
        return self.own[:, 1]

    @functools.cached_property
    def gradients(self) -> Floats:
        """d/du (L(g) + lambda ||u||^2) at u^(t), t = 1..T: E[-y 1{y g < 1} sigma] + 2 lambda u.

        Where a point sits on the hinge's kink, the subgradient is the one that the engine took.
        """
        s, found = self.setting, []
        for t in range(1, s.T + 1):
            H = self.features(t)
            margin = self.y * (H @ self.u[t])
            if t < s.T and (np.abs(1 - margin) < TIE).any():
                found.append((self.u[t] - self.u[t + 1]) / s.eta)
            else:
                found.append(np.where(margin < 1, -self.p * self.y, 0) @ H + 2 * s.lambda_ * self.u[t])
        return np.array(found)

    def regularised(self, u: Floats) -> Floats:
        """L(g_u^(t)) + lambda ||u||^2 for t = 1..T, with one readout."""
        return np.array(self.seen(u))[1:, 0] + self.setting.lambda_ * float(u @ u)

    @functools.cached_property
    def readout(self) -> Descent:
        """The readout's descent from t = 1 on: theta_t = u^(t), f_t(u) = L(g_u^(t)) + lambda ||u||^2."""
        s, u = self.setting, self.u[1:]
        theta = np.vstack([u, u[-1] - s.eta * self.gradients[-1]])
        own = self.losses[1:] + s.lambda_ * (u**2).sum(axis=1)
        return Descent(s.eta, theta, self.gradients, own, self.regularised)

    @functools.cached_property
    def separator(self) -> Floats | None:
        """The u* of least norm with f g_{u*}^(1) >= 1 on the whole cube; None where the features have none."""
        return least_norm_separator(self.features(1) * self.y[:, None])


def hinge(margin: Floats) -> Floats:
    return np.maximum(1 - margin, 0)


def least_norm_separator(rows: Floats) -> Floats | None:
    """The u of least norm with rows @ u >= 1, scaled up by what rounding takes; None where there is none.

    >>> least_norm_separator(np.array([[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]])).round(6).tolist()
    [0.5, 1.0]
    >>> least_norm_separator(np.array([[1.0], [-1.0]])) is None
    True
    """
    rows = np.unique(rows, axis=0)
    scaled = rows / np.abs(rows).max()
    multipliers, gap = least_distance(scaled)
    if math.isinf(gap):
        return None
    u = multipliers @ scaled
    return np.asarray(u / float((rows @ u).min()))


@functools.lru_cache(maxsize=8)
def descend(setting: Setting) -> Run:
    """The run of one setting; kept for what looks at it again."""
    return descend_all(setting, [setting.seed])[0]


def descend_all(setting: Setting, seeds: Sequence[int]) -> list[Run]:
    """Runs of several seeds side by side."""
    from separatrix.training.trajectory import follow_all

    settings = [replace(setting, seed=seed) for seed in seeds]
    found = []
    for own, path in zip(settings, follow_all([own.cell() for own in settings], setting.T), strict=True):
        params: Any = path.params
        x, y, p = (np.asarray(part, np.float64) for part in (path.sample.x, path.sample.y, path.sample.w))
        W, b, u = (np.asarray(part, np.float64) for part in (params.w, params.b, params.u))
        found.append(Run(own, W, b, u, x, y, p))
    return found


def drawn_weights(n: int, k: int, q: int, A: tuple[int, ...] | None, seed: int) -> NDArray[np.int64]:
    """w^(0) of the q pairs that a run of this seed starts with, A's places first; for any n."""
    from separatrix.training.trajectory import follow

    path = follow(_cell(n, k, q, 0.5, 0.0, A, "corrected", seed, train_size=1), 0)
    params: Any = path.params
    order = np.concatenate([path.instance, np.setdiff1d(np.arange(n), path.instance)])
    return np.rint(np.asarray(params.w)[0, :q, order].T).astype(np.int64)


def _cell(
    n: int,
    k: int,
    q: int,
    eta: float,
    lambda_: float,
    A: tuple[int, ...] | None,
    version: str,
    seed: int,
    train_size: int | None = None,
) -> Cell:
    from separatrix.learners import PairedFCN, Trained, TwoPhase
    from separatrix.tasks import SparseParity
    from separatrix.training.cell import Cell, Procedure

    learner = Trained(PairedFCN(q, k, version), TwoPhase(eta=eta, lambda_=lambda_), "hinge")
    procedure = Procedure(precision="float64", evaluation="population" if train_size is None else "sample")
    return Cell(SparseParity(n=n, k=k, A=A), learner, train_size, seed, procedure)
