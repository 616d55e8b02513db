"""Lemma 12: after the first step the readout is small."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import InputError
from separatrix.papers.parity.descent import MaybePlaces, Setting, descend, drawn_weights
from separatrix.papers.parity.laws import point_masses
from separatrix.papers.parity.neurons import TOP, Neuron, mixed, starting_bias
from separatrix.rules import Maybe, Whole
from separatrix.theory.certificate import Finding, at_most
from separatrix.theory.parameters import Floats, Seed, Version
from separatrix.theory.results import result

LARGEST_FOR_ALL = 2_000
"""The n up to which the largest |u^(1)| over all w is searched."""
NEURONS, LEAST_NEURONS, WORK = 100, 8, 200_000
"""How many are drawn above that: q n of at most the last, which takes seconds."""


@result(
    "parity/lemma-12",
    "After the first step every readout is small, |u_i^(1)| <= k/sqrt n (with g^(0) = 0, which the printed "
    "initialisation does not have).",
)
def lemma_12(
    n: Annotated[int | None, Maybe(Whole(1, 100_000))] = None,
    k: Annotated[int | None, Maybe(Whole(1, 99))] = None,
    q: Annotated[int | None, Maybe(Whole(1, 100_000))] = None,
    A: MaybePlaces = None,
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Lemma 12 of Daniely & Malach, exactly: u_i^(1) = E[f_A sigma(<w_i, x> + b)], for eta_1 = 1, lambda_1 = 1/2.

    ``max_u1`` is the largest |u_i^(1)| of *any* neuron, over all w in {-1, 0, 1}^n, or of the 2q neurons of a network
    where ``q`` is given, drawn as the runs of the other lemmas are; from n = 2001 on ``q`` is at most 100 by default,
    and at least 8, so that this takes seconds. As sigma is 1-Lipschitz and f_A odd in the bits z
    of A,

        |u^(1)| <= E |sum_{j in A} w_j z_j| / sqrt n <= (k + sqrt k) / (2 sqrt n)      (``tight``)

    half from each component of D_A: the uniform one has sqrt k, where the paper has k for both. The largest is taken
    where the |J| nonzero weights off A vary and w has no zero on A and none or one of the other sign: only there do
    both components count in full. The paper's update prints a minus; the sign is a plus.

    ``printed``: with the printed pairs (-w, -b, -u) g^(0) is not 0. For one pair (q = 1) with w zero on A, u = n/k and
    b = 1/(8k) the points with sigma > 0 have u z >= 1, so those with f = 1 start without a gradient and u^(1) = -E
    sigma / 2, of the order of 1 at every n. With ``q``: the real first step of such a network (n up to 16).
    By default n = 301, k = 7, and n = 403, k = 3 for ``printed``.

    >>> found = lemma_12(n=51, k=3)
    >>> found.status, round(found.measured["max_u1"], 4), round(found.bound["max_u1"], 4)
    ('holds', 0.1141, 0.4201)
    >>> lemma_12(version="printed").status
    'violated'
    """
    printed = version == "printed"
    n = (403 if printed else 301) if n is None else n
    k = (3 if printed else 7) if k is None else k
    if k % 2 == 0 or k > n:
        raise InputError(f"k must be odd and at most n = {n}, got {k}")
    if A is not None and q is None:
        raise InputError("q must be given with A: over all w the places do not matter")
    notes: list[str] = []
    if q is None and not printed and n > LARGEST_FOR_ALL:
        q = max(LEAST_NEURONS, min(NEURONS, WORK // n))
        notes.append(f"over all w up to n = {LARGEST_FOR_ALL}; here over the 2q neurons of a drawn network, q = {q}")
    limit, tight = k / math.sqrt(n), (k + math.sqrt(k)) / (2 * math.sqrt(n))
    measured: dict[str, Any] = {}
    if printed and q is None:
        measured |= {"max_u1": _lone_pair(n, k), "u0": n / k, "J": n - k - (n - k) % 2}
        if 8 * k * k <= n < 256 * k * k:  # the least positive z is b, and u b >= 1
            notes.append(
                f"check by hand: w = 0 on A and {measured['J']} ones off A, u = n/k; z = <w, x> + b > 0 is at least "
                f"b = 1/{8 * k}, so u z >= 1 and every point with f = 1 has no gradient; those with f = -1 give u^(1) "
                f"= -E sigma(z) / 2, about -1 / (2 sqrt(2 pi)), against k/sqrt n = {limit:.4f}"
            )
        method = "exact"
    elif printed:
        run = descend(Setting(n, k, q or 1, 2, 0.5, 0.0, A, version, seed))
        idle = run.y * run.outputs(0, run.u[0]) >= 1
        measured |= {"max_u1": float(np.abs(run.u[1]).max()), "without_gradient": float(run.p @ idle)}
        method = "run"
    elif q is None:
        measured |= _largest(n, k)
        method = "exact"
    else:
        u1 = _first_readouts(n, k, drawn_weights(n, k, q, A, seed))
        measured |= {"max_u1": float(np.abs(u1).max()), "rms_u1": float(np.sqrt((u1**2).mean())), "q": q}
        method = "exact"
    checks = [at_most("max_u1", measured["max_u1"], limit)]
    if not printed:
        checks.append(at_most("max_u1 (tight)", measured["max_u1"], tight))
    return Finding(measured, {"max_u1": limit, "max_u1_tight": tight}, checks, method, notes=notes)


def _largest(n: int, k: int) -> dict[str, Any]:
    """The largest |u^(1)| over all w, and where it is."""
    found = ((abs(_readout(n, k, k - minus, minus, J)), J, minus) for J in range(n - k + 1) for minus in (0, 1))
    value, J, minus = max(found)
    return {"max_u1": value, "plus": k - minus, "minus": minus, "J": J}


def _readout(n: int, k: int, plus: int, minus: int, J: int) -> float:
    return float(mixed(Neuron(n, k, plus, minus, J, starting_bias(k)).readout))


def _first_readouts(n: int, k: int, w: NDArray[np.int64]) -> Floats:
    """u^(1) of neurons with these w (rows; A the first k places): it depends on three counts."""
    on, off = w[:, :k], w[:, k:]
    rows = np.stack([(on == 1).sum(axis=1), (on == -1).sum(axis=1), (off != 0).sum(axis=1)], axis=1)
    kinds, place = np.unique(rows, axis=0, return_inverse=True)
    return np.array([_readout(n, k, *map(int, kind)) for kind in kinds])[place.reshape(-1)]


def _lone_pair(n: int, k: int) -> float:
    """|u^(1)| of a printed pair alone in its network, w zero on A and with an even number of ones off A, u = n/k."""
    J = n - k - (n - k) % 2
    r = np.arange(-J, J + 1, 2)
    mass = np.array([point_masses(np.array([J]), int(s))[0] for s in r])
    z = r / math.sqrt(n) + float(starting_bias(k))
    g = n / k * np.clip(z, -TOP, TOP)
    sigma = np.clip(z, 0, TOP)
    return abs(float(sum(f * (mass * sigma) @ (f * g < 1) for f in (1.0, -1.0)))) / 2
