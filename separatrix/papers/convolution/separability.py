"""Lemma 6: after a random first layer every k-pattern is linearly separable, by a readout of small norm."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.papers.convolution.occupancy import all_at_least, chance_below, least_covering
from separatrix.papers.convolution.setting import NAMED, Target, bounded, indicator, least_width, nominal_c, wide_enough
from separatrix.rules import Choice, Whole
from separatrix.tasks.bits import hypercube
from separatrix.theory.activations import ACTIVATIONS, Activation, Clip
from separatrix.theory.certificate import Assumption, Check, Finding, at_least, at_most, equal
from separatrix.theory.parameters import Ints, MaybeCount, Seed, Share, Version
from separatrix.theory.results import result

EXTRA = {
    "zero": Clip("zero", 0.0, 0.0, (), 0, 0),
    "affine": Clip("affine", 2.0, 1.0, (-2, 2), -2, 2),
}
"""Activations that the paper's assumptions allow: sigma = 0, and one that is affine on all pre-activations."""
SIGMAS = {**ACTIVATIONS, **EXTRA}
MOST_TARGETS = 4
"""All 2^(2^k) targets are tried up to this k."""
SAMPLED = 64
MOST_SOLVED = 8
LITERAL_BITS, LITERAL_WIDTH = 8, 1024
LITERAL_TOLERANCE = 1e-9


class _Targets(Target):
    """A target, or all of them."""

    @property
    def allowed(self) -> str:
        return f"all, {super().allowed}"

    def convert(self, value: Any) -> str:
        return "all" if value == "all" else super().convert(value)


@result(
    "convolution/lemma-6",
    "With q > 2^(k+3) log(2^k/delta) random filters in {+-1/k}^k and bias 1/k - 1, with probability 1 - delta every "
    "k-pattern is <u*, features> exactly, with ||u*|| <= 2^(k+1) k / sqrt(q) at its own window and 0 elsewhere.",
)
def lemma_6(
    n: Annotated[int, Whole(1, 4096)] = 6,
    k: Annotated[int, Whole(1, 12)] = 3,
    q: MaybeCount = None,
    delta: Share = 0.05,
    g: Annotated[str, _Targets()] = "all",
    j: MaybeCount = None,
    activation: Annotated[str, Choice(*SIGMAS)] = "clipped_relu",
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 6 of Malach & Shalev-Shwartz: u*_i = k g(z) / |J_z| for the neurons i of J_z = {i : sign w_i = z}.

    With m bits missed the pre-activation is (1 - 2m)/k, so that if sigma(1/k) = 1/k and sigma((1-2m)/k) = 0 for
    m >= 1, neuron i is (1/k) 1{z = sign w_i}, h = f, and ||u*||^2 = k^2 sum_z 1/|J_z| <= 4 (2^k k)^2 / q as soon as
    every |J_z| >= q / 2^(k+1).

    =============  ==================================================================================
    paper          here
    =============  ==================================================================================
    n, k, q        ``n``, ``k``, ``q`` (the least that the lemma allows by default)
    g, j*          ``g`` (``all``, a name or signs) and ``j`` (every window by default)
    W              drawn by ``seed``, as the network's own ``paper`` initialisation draws it
    =============  ==================================================================================

    ``mismatches`` counts the (g, j*, x) at which h, computed in integers, is not f: for all 2^(2^k) g up to
    k = 4, and above that for all by linearity, h being linear in g, where u* is right on each single pattern.
    ``success_probability`` is P(every |J_z| >= q/2^(k+1)), exactly, to be at least 1 - delta; below the lemma's q
    (``outside``) it tells how the lemma fails, and ``smallest_q_covering`` is the q under which some J_z is empty with
    probability above delta, when no u* at all serves some g.

    **As printed** there are n - k windows, so that j* = n-k+1 has none, and sigma need only have |sigma| <= c and
    |sigma'| <= 1: ``version=printed`` looks for a g that no readout within the norm bound gives (least squares over
    all u), with ``activation`` ``affine`` or ``zero`` (or ``hard_tanh`` at k = 1) say.

    >>> found = lemma_6(n=5, k=2)
    >>> found.status, found.measured["mismatches"], found.measured["checked"] == 16 * 4 * 2**5
    ('holds', 0, True)
    >>> lemma_6(k=2, version="printed", activation="affine", j=1).measured["example_g"]
    '+--+'
    """
    if k > n:
        raise InputError(f"k must be at most n = {n}, got {k}")
    windows = n - k + 1
    if j is not None and j > windows:
        raise InputError(f"j must be at most n - k + 1 = {windows}, got {j}")
    sigma = SIGMAS[activation]
    width = math.floor(least_width(k, delta)) + 1 if q is None else q
    signs = _drawn_signs(n, k, width, seed)
    sizes = np.bincount(signs, minlength=2**k).astype(np.int64)
    targets = _targets(g, k, seed)
    places = list(range(1, windows + 1)) if j is None else [j]
    kernel = _kernel(sigma, k)
    by_linearity = g == "all" and k > MOST_TARGETS and _is_indicator(kernel) and bool(sizes.all())
    wrong = 0 if by_linearity else _wrong(kernel, targets, sizes)
    norm = sum((Fraction(k * k, int(size)) for size in sizes if size), Fraction(0))
    half = Fraction(width, 2 ** (k + 1))
    limit = Fraction(4 * (2**k * k) ** 2, width)
    success = all_at_least(width, k, math.ceil(half))
    measured: dict[str, Any] = {
        "mismatches": wrong * len(places) << (n - k),
        "checked": (2 ** (2**k) if by_linearity else len(targets)) * len(places) << n,
        "norm_u_star_sq": norm,
        "least_class": int(sizes.min()),
        "empty_classes": int(np.sum(sizes == 0)),
        "success_probability": success,
        "covering_probability": all_at_least(width, k, 1),
        "smallest_q_covering": least_covering(k, delta),
        "q": width,
    }
    bound: dict[str, Any] = {
        "mismatches": 0,
        "norm_u_star_sq": limit,
        "least_class": half,
        "success_probability": 1 - delta,
        "q": float(least_width(k, delta)),
    }
    notes = [
        "h is linear in g, and right for each single pattern, so for all g"
        if by_linearity
        else f"{len(targets)} g at {len(places)} windows, in {'integers' if kernel.dtype.kind == 'i' else 'float64'}",
    ]
    premises = [*bounded(sigma, nominal_c(sigma, None)), wide_enough(k, width, delta)]
    if version == "printed":
        checks = _as_printed(measured, kernel, targets, sizes, limit, [p for p in places if p == windows], notes)
        return Finding(measured, bound, checks, "enumeration", premises, None, notes)
    chernoff = math.exp(-width / 2 ** (k + 3))
    checks = [
        equal("mismatches", measured["mismatches"], 0),
        at_most("norm_u_star_sq", norm, limit),
        at_least("success_probability", success, 1 - delta),
        at_most("P(|J_z| <= q/2^(k+1)), by Chernoff e^(-q/2^(k+3))", chance_below(width, k, half), chernoff),
        at_most("2^k e^(-q/2^(k+3)), at most delta", 2**k * chernoff, delta),
    ]
    if n <= LITERAL_BITS and width <= LITERAL_WIDTH:
        measured["literal_error"] = _literal_error(n, k, sigma, signs, targets[len(targets) // 2], places)
        notes.append("literal_error: the largest |h(x) - f(x)| of Definition 1 in float64 over all x and j*, for one g")
        if _is_indicator(kernel) and sizes.all():
            checks.append(at_most("literal_error", measured["literal_error"], 0, LITERAL_TOLERANCE))
    half_full = Assumption("the draw's least |J_z| >= q/2^(k+1)", int(sizes.min()), half, int(sizes.min()) >= half)
    premises = [*premises[1:], *indicator(sigma, k), half_full]
    return Finding(measured, bound, checks, "exact" if sigma.exact else "enumeration", premises, None, notes)


def _drawn_signs(n: int, k: int, q: int, seed: int) -> Ints:
    """The number of each neuron's sign pattern, in the W that the seed draws."""
    from separatrix.learners import CNN
    from separatrix.tasks.base import stream
    from separatrix.training.engine import numerics

    with numerics("float64"):
        W = np.asarray(CNN(q, k, "relu", "paper").build(stream(seed, "initialise"), (n,), ()).W)
    return np.asarray((W < 0) @ (2 ** np.arange(k - 1, -1, -1)), dtype=np.int64)


def _targets(g: str, k: int, seed: int) -> Ints:
    """Truth tables, a row each: the one asked for, or all, or (k above 4) some of all."""
    cube = hypercube(k)
    named = {
        "parity": cube.prod(axis=1),
        "majority": np.where(cube.sum(axis=1) > 0, 1, -1),
        "and": np.where((cube == 1).all(axis=1), 1, -1),
    }
    generator = np.random.default_rng(seed)
    if g == "all" and k <= MOST_TARGETS:
        return np.array(list(itertools.product([1, -1], repeat=2**k)), dtype=np.int64)
    if g == "all":
        return np.vstack([*named.values(), generator.choice([-1, 1], (SAMPLED, 2**k))]).astype(np.int64)
    if g == "random":
        return np.asarray(generator.choice([-1, 1], (1, 2**k)), dtype=np.int64)
    if g in NAMED:
        return np.asarray(named[g][None], dtype=np.int64)
    if len(g) != 2**k:
        raise InputError(f"g must have 2^k = {2**k} signs, got {len(g)}")
    return np.array([[1 if sign == "+" else -1 for sign in g]], dtype=np.int64)


def _kernel(sigma: Activation, k: int) -> NDArray[Any]:
    """k sigma((1 - 2m)/k), what a neuron adds to h at a pattern m bits from its own, per unit of g; m = 0..k."""
    points = [Fraction(1 - 2 * m, k) for m in range(k + 1)]
    if sigma.exact:
        return np.array([int(k * value) for value in sigma.exact_values(points, 0)], dtype=np.int64)
    return np.asarray(k * sigma.value(np.array([float(point) for point in points])))


def _is_indicator(kernel: NDArray[Any]) -> bool:
    return bool(kernel[0] == 1 and not kernel[1:].any())


def _distances(k: int) -> Ints:
    """Hamming distances between the patterns."""
    index = np.arange(2**k)
    return np.asarray(np.bitwise_count(index[:, None] ^ index[None, :]), dtype=np.int64)


def _wrong(kernel: NDArray[Any], targets: Ints, sizes: Ints) -> int:
    """How many (g, z) have h(z) = sum_z' g(z') kernel[d(z, z')] (z' whose class is not empty) other than g(z)."""
    k = len(kernel) - 1
    filled = targets * (sizes > 0)
    found = filled * kernel[0] if not kernel[1:].any() else filled @ kernel[_distances(k)]
    return int(np.sum(np.abs(found - targets) > (0 if found.dtype.kind == "i" else LITERAL_TOLERANCE)))


def _as_printed(
    measured: dict[str, Any],
    kernel: NDArray[Any],
    targets: Ints,
    sizes: Ints,
    limit: Fraction,
    without: list[int],
    notes: list[str],
) -> list[Check]:
    """Whether any u within the norm bound gives h = f: the least-norm least-squares readout, for each g."""
    k = len(kernel) - 1
    if k > MOST_SOLVED:
        raise InputError(f"k must be at most {MOST_SOLVED} for version printed, got {k}")
    features = kernel[_distances(k)] / k * np.sqrt(sizes)
    readouts, *_ = np.linalg.lstsq(features, targets.T.astype(np.float64), rcond=1e-10)
    residuals = np.abs(features @ readouts - targets.T).max(axis=0)
    norms = np.sum(readouts**2, axis=0)
    unreached = np.flatnonzero((residuals > LITERAL_TOLERANCE) | (norms > float(limit) * (1 + LITERAL_TOLERANCE)))
    measured["windows_without_readout"] = len(without)
    measured["unreached_g"] = len(unreached)
    measured["tried_g"] = len(targets)
    if without:
        notes.append(f"j* = {without[0]}: the sum over j = 1..n-k reads no window with the last bit, so h = 0 under u*")
    if len(unreached):
        first = int(unreached[np.argmax(residuals[unreached])])
        measured["example_g"] = "".join("+" if label > 0 else "-" for label in targets[first])
        measured["example_residual"] = float(residuals[first])
        measured["example_norm_sq"] = float(norms[first])
        notes.append(
            f"g = {measured['example_g']} (patterns from + + ... + on): the best readout is off by "
            f"{residuals[first]:.3g} somewhere, or has squared norm {norms[first]:.4g} against {float(limit):.4g}"
        )
    return [
        equal("windows j* without a readout", len(without), 0),
        equal("g that no readout within the norm bound gives", len(unreached), 0),
    ]


def _literal_error(n: int, k: int, sigma: Activation, signs: Ints, g: Ints, places: list[int]) -> float:
    """max |h_{u*, W, b}(x) - f(x)| over all x and j*, every window and neuron of Definition 1 summed in float64."""
    sizes = np.bincount(signs, minlength=2**k)
    W = hypercube(k)[signs] / k
    x = hypercube(n)
    seen = np.lib.stride_tricks.sliding_window_view(x, k, axis=1)
    hidden = sigma.value(np.einsum("pjk,ik->pji", seen, W) + (1 / k - 1))
    place = 2 ** np.arange(k - 1, -1, -1)
    largest = 0.0
    for j in places:
        u = np.zeros((n - k + 1, len(signs)))
        u[j - 1] = k * g[signs] / sizes[signs]
        f = g[(x[:, j - 1 : j - 1 + k] < 0) @ place]
        largest = max(largest, float(np.abs(np.einsum("pji,ji->p", hidden, u) - f).max()))
    return largest
