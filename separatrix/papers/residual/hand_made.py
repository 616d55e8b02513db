r"""Section 8.2: the network that computes the degree-6 monomial, made by hand, and why none has a smaller norm.

With z = sqrt(d) x in {+-1}^d, S the monomial's six coordinates and y = prod_{i in S} z_i, the 64 neurons

    (1/sqrt d) relu(g . z_S),  g in {+-1}^6,  with the sign chi(g) = prod_i g_i before it

add up to a multiple of y: sum_g chi(g) relu(g . z_S) = 12 y, because sum over even g is 36 where y = 1 and 24 where
y = -1, and over odd g the other way round. Rows of length zero outside S (padding) and copies of rows (duplication)
make of it a network of any d >= 6 and any even m >= 64.

The norm. Let c_i = ||w_i|| / sqrt(m), where F(W; x) = sum_i +-c_i relu(<w_i, x> / ||w_i||). Then ||W||_F^2 = m sum
c_i^2 >= (sum c_i)^2, and E y F <= sum_i c_i B / sqrt d, where B = max over unit vectors u of E y relu(u . z). As
E (F - y)^2 >= (1 - E y F)^2, an error of at most eta needs

    ||W||_F >= sqrt(d) (1 - sqrt eta) / B,     B = 3 sqrt 6 / 96,  1 / B = 16 sqrt 6 / 3 = 13.06...

and the network above, scaled by 1 - sqrt eta, has this norm wherever 64 divides m. So it is the smallest there is, for
every d >= 6, every m and every eta <= 1. The value of B is found by :func:`largest_correlation`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from separatrix.errors import InputError
from separatrix.rules import Maybe, Real, Whole
from separatrix.theory.certificate import Finding, at_least, at_most
from separatrix.theory.parameters import Floats, Ints, Seed, Version
from separatrix.theory.results import result

DEGREE = 6
SIGNS: Ints = np.array(list(itertools.product((1, -1), repeat=DEGREE)), dtype=np.int64)
"""Every g in {+-1}^6: the directions of the 64 neurons, and the patterns of the six bits."""
CHARACTERS: Ints = SIGNS.prod(axis=1)
GAIN = 12
"""sum_g chi(g) relu(g . z) = GAIN y."""
UNIT_NORM = 64 * math.sqrt(6) / GAIN
"""||W*||_F / sqrt d = 16 sqrt 6 / 3 at error 0 with every neuron equally often: the reciprocal of B."""
LARGEST_CORRELATION = 3 * math.sqrt(6) / 96
"""B."""
STATED = ((9.7, 0.12), (12.5, 0.037), (13.8, 0.011))
"""The paper's norms over sqrt d, and the errors that they reach."""
LEAST_M = len(SIGNS)
_SWEEPS = 400
_WEIGHTS_UP_TO = 9
CELLS = {6: 21, 7: 135}
"""Classes of self-dual threshold functions of 6 and of 7 variables (OEIS A001532)."""

_sums = (CHARACTERS[:, None] * np.maximum(SIGNS @ SIGNS.T, 0)).sum(axis=0)
assert (_sums == GAIN * CHARACTERS).all()


def copies(m: int) -> Ints:
    """How many of m neurons each of the 64 directions gets: m/2 for each sign, as evenly as can be.

    >>> sorted(set(copies(200).tolist())), int(copies(200).sum())
    ([3, 4], 200)
    """
    if m < LEAST_M or m % 2:
        raise InputError(f"m must be even and at least {LEAST_M}, got {m}")
    each, rest = divmod(m // 2, LEAST_M // 2)
    found = np.full(LEAST_M, each)
    for sign in (1, -1):
        found[np.flatnonzero(sign == CHARACTERS)[:rest]] += 1
    return found


def norm_factor(m: int) -> float:
    """By what m neurons exceed the least norm: sqrt(m sum_g 1/copies_g) / 64, which is 1 where 64 divides m."""
    return math.sqrt(m * float(np.sum(1 / copies(m)))) / LEAST_M


@dataclass(frozen=True)
class HandMade:
    """W* by its 64 different rows: row g is ``lengths[g] * SIGNS[g]`` at ``places``, 0 elsewhere, ``counts[g]`` times.

    a^T relu(W* x) = ``target`` y for every x in {+-1/sqrt d}^d, so its error is (1 - target)^2, and its norm is
    ``target`` UNIT_NORM norm_factor(m) sqrt(d).

    >>> made = HandMade.of(d=8, m=64, places=(7, 1, 2, 3, 4, 6))
    >>> x = np.array([1, -1, 1, 1, -1, 1, 1, -1]) / math.sqrt(8)
    >>> round(float(np.repeat([1, -1], 32) / 8 @ np.maximum(made.weights() @ x, 0)), 12)  # the product of the six is -1
    -1.0
    """

    d: int
    m: int
    places: tuple[int, ...]
    counts: Ints
    lengths: Floats

    @staticmethod
    def of(d: int, m: int, target: float = 1.0, places: tuple[int, ...] = tuple(range(DEGREE))) -> HandMade:
        if len(set(places)) != DEGREE or not all(0 <= place < d for place in places):
            raise InputError(f"places must be {DEGREE} different numbers from 0 to d - 1 = {d - 1}, got {places}")
        counts = copies(m)
        return HandMade(d, m, places, counts, target / GAIN * math.sqrt(d * m) / counts)

    @property
    def norm(self) -> float:
        """||W*||_F."""
        return math.sqrt(DEGREE * float(np.sum(self.counts * self.lengths**2)))

    def weights(self) -> Floats:
        """W* itself, m x d; a is +1/sqrt(m) for the first half of its rows and -1/sqrt(m) for the others."""
        rows = np.concatenate(
            [np.repeat(np.flatnonzero(own), self.counts[own]) for own in (CHARACTERS == 1, CHARACTERS == -1)]
        )
        W = np.zeros((self.m, self.d))
        W[:, list(self.places)] = (self.lengths[:, None] * SIGNS)[rows]
        return W

    def outputs(self, bits: Floats | Ints) -> Floats:
        """F(W*; x) at inputs whose six bits sqrt(d) x are given, a row each."""
        a = CHARACTERS * self.counts / math.sqrt(self.m)
        hidden = np.maximum(bits @ SIGNS.T * (self.lengths / math.sqrt(self.d)), 0)
        return np.asarray(hidden @ a, dtype=np.float64)

    @property
    def risk(self) -> float:
        """E (F(W*; x) - y)^2, over the 64 patterns of the six bits."""
        return float(np.mean((self.outputs(SIGNS) - CHARACTERS) ** 2))


def risk_of(W: Floats, places: tuple[int, ...] = tuple(range(DEGREE))) -> float:
    """E (a^T relu(W x) - y)^2 of any W whose columns outside ``places`` are zero (say an exported one)."""
    m, d = W.shape
    if W[:, np.setdiff1d(np.arange(d), places)].any():
        raise InputError("W must be zero outside the monomial's coordinates to be evaluated on 64 patterns")
    a = np.repeat([1.0, -1.0], m // 2) / math.sqrt(m)
    outputs = np.maximum(SIGNS @ (W[:, list(places)] / math.sqrt(d)).T, 0) @ a
    return float(np.mean((outputs - CHARACTERS) ** 2))


def least_norm(error: float) -> float:
    """The least ||W||_F / sqrt(d) of any network of this form with at most this error.

    >>> [round(least_norm(error), 2) for _, error in STATED]
    [8.54, 10.55, 11.69]
    """
    return max(0.0, 1 - math.sqrt(error)) / LARGEST_CORRELATION


def self_dual_threshold_functions(n: int) -> Ints:
    """The values, on half of the cube, of every z -> sign(w . z) without ties, up to the order and the signs of w.

    Weights up to 9 give all of them for n <= 7.
    """
    half = _half(n)
    weights = np.array(list(itertools.combinations_with_replacement(range(_WEIGHTS_UP_TO, -1, -1), n)))
    weights = weights[weights.sum(axis=1) % 2 == 1]
    return np.unique(np.sign(weights @ half.T), axis=0)


def _half(n: int) -> Ints:
    return np.array(list(itertools.product((1, -1), repeat=n)), dtype=np.int64)[: 2 ** (n - 1)]


def largest_correlation(irrelevant: bool = True) -> float:
    r"""An upper bound on max over unit u of E y relu(u . z), for every d >= 6: it is 3 sqrt 6 / 96, to rounding.

    E y relu(u . z) = E y |u . z| / 2, and what the coordinates outside S add to u . z is a number v independent of z_S:
    E y |u_S . z_S + v| is at most the maximum over unit vectors of R^7 (the seventh entry is v, its sign does not
    matter, as y is even) times E sqrt(||u_S||^2 + v^2) <= 1. On the cone C of the u of R^7 (R^6 without ``irrelevant``)
    with given signs s(z) of u . z, E y |u . z| / 2 = <b, u> with b = E y s(z) z / 2, and for any lambda >= 0

        <b, u> <= <b + sum_z lambda_z s(z) z, u> <= ||b + sum_z lambda_z s(z) z||        (u in C, ||u|| = 1)

    so that every lambda proves a bound: it is improved until the worst cone's is B. The cones, up to the order and
    signs of coordinates, are the 135 (21) classes of self-dual threshold functions, times the place of the seventh.
    """
    n = DEGREE + irrelevant
    half = _half(n)
    cones = self_dual_threshold_functions(n)
    if len(cones) != CELLS[n]:
        raise AssertionError(f"there are {CELLS[n]} classes of threshold functions, found {len(cones)}")
    omitted = range(n) if irrelevant else [None]
    characters = [half.prod(axis=1) * (1 if place is None else half[:, place]) for place in omitted]
    vectors, rows = [], []
    for signs in cones:
        for y in characters:
            b = ((y * signs)[:, None] * half).mean(axis=0) / 2
            vectors += [b, -b]
            rows += [signs[:, None] * half] * 2
    return _certified_maximum(np.array(vectors), np.array(rows, dtype=np.float64))


def _certified_maximum(vectors: Floats, rows: Floats) -> float:
    """max over problems of ||b + sum lambda_z row_z||, each lambda >= 0 improved one entry at a time (Hildreth)."""
    n = vectors.shape[1]
    multipliers = np.zeros(rows.shape[:2])
    settled = 0.0
    for _ in range(_SWEEPS):
        for z in range(rows.shape[1]):
            row = rows[:, z]
            change = np.maximum(-(vectors * row).sum(axis=1) / n, -multipliers[:, z])
            multipliers[:, z] += change
            vectors = vectors + change[:, None] * row
        norms = np.linalg.norm(vectors, axis=1)
        open_ = norms > LARGEST_CORRELATION * (1 + 1e-12)
        settled = max(settled, float(norms[~open_].max(initial=0.0)))
        if not open_.any():
            return settled
        vectors, rows, multipliers = vectors[open_], rows[open_], multipliers[open_]
    return max(settled, float(norms[open_].max()))


@result(
    "residual/section-8.2",
    "For every d >= 6 and even m >= 200 there are W* with ||W*||_F = 9.7, 12.5 and 13.8 sqrt(d) and errors of at most "
    "0.12, 0.037 and 0.011 on the degree-6 monomial; the least norm of any network with error eta is "
    "(16 sqrt 6 / 3)(1 - sqrt eta) sqrt(d), and one made by hand has it.",
)
def section_8_2(
    d: Annotated[int, Whole(DEGREE, 100_000)] = 40,
    m: Annotated[int, Whole(LEAST_M, 200_000)] = 200,
    epsilon: Annotated[float | None, Maybe(Real(0, 1))] = None,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Section 8.2 of Allen-Zhu & Li: F(W; x) = a^T relu(W x), y = d^3 x_{i_1} ... x_{i_6}, x in {+-1/sqrt d}^d.

    W* is a :class:`HandMade` network at places drawn by the ``seed``, scaled to each of the paper's three norms, or to
    the least norm for the error ``epsilon``; its error is exact, over the 64 patterns of the six bits. ``export`` is
    what W* is made of: row g is lengths[g] times its six signs at ``places`` and 0 elsewhere, ``copies[g]`` times, with
    the sign prod_i g_i in a; multiplied by ``targets`` it is each of the networks.
    The lower bound holds for every network of this form (``version=printed`` speaks of existence alone).

    >>> found = section_8_2(d=7, m=64, epsilon="1/10")
    >>> found.status, round(found.measured["least_norm_at_error_0"], 4)
    ('holds', 13.0639)
    """
    if m % 2:
        raise InputError(f"m must be even, got {m}")
    places = tuple(int(place) for place in np.random.default_rng(seed).permutation(d)[:DEGREE])
    factor = norm_factor(m)
    wanted = STATED if epsilon is None else ((least_norm(epsilon) * factor, epsilon),)
    targets = [min(1.0, norm / (UNIT_NORM * factor)) for norm, _ in wanted]
    made = [HandMade.of(d, m, target, places) for target in targets]
    norms = [network.norm / math.sqrt(d) for network in made]
    errors = [network.risk for network in made]
    checks = []
    for (norm, error), own, risk in zip(wanted, norms, errors, strict=True):
        checks += [
            at_most(f"error at norm {norm:.4g} sqrt d", risk, error, 1e-12),
            at_most(f"norm over {norm:.4g} sqrt d", own / norm if norm else 0, 1, 1e-12),
        ]
    whole = HandMade.of(d, m, 1.0, places)
    measured: dict[str, Any] = {
        "norms": norms,
        "errors": errors,
        "least_norm_at_error_0": UNIT_NORM,
        "norm_factor": factor,
        "export": {
            "places": list(places),
            "rows": SIGNS.tolist(),
            "copies": whole.counts.tolist(),
            "lengths": whole.lengths.tolist(),
            "targets": targets,
        },
    }
    least = [least_norm(error) for _, error in wanted]
    bound: dict[str, Any] = {
        "norms": [norm for norm, _ in wanted],
        "errors": [error for _, error in wanted],
        "least_norms": least,
    }
    notes = [f"64 directions g of six entries +-1: sum_g prod(g) relu(g . z) = {GAIN} y for all 64 z"]
    if version == "corrected":
        correlation = largest_correlation(irrelevant=d > DEGREE)
        measured["largest_correlation"] = correlation
        bound["largest_correlation"] = LARGEST_CORRELATION
        checks.append(at_most("largest_correlation over B", correlation / LARGEST_CORRELATION, 1, 1e-9))
        checks += [
            at_least("norm less the least for its own error", own - least_norm(risk), 0, 1e-9)
            for own, risk in zip(norms, errors, strict=True)
        ]
        notes.append(f"the least norms for errors of {_listed(bound['errors'])} are {_listed(least)} times sqrt(d)")
    return Finding(measured, bound, checks, "exact", notes=notes)


def _listed(values: list[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
