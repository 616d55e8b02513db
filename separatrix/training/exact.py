"""Exact test errors of trained networks, where the network sees only which patterns are present.

The support of pattern detection has 2 n (l-2)^(n-1) points, but far fewer sets of patterns, and a max-pooling network
answers the same on all inputs with the same set: a sum over the sets is the error, without a test sample.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from separatrix.errors import InputError
from separatrix.learners import Network
from separatrix.tasks import PatternDetection
from separatrix.training.engine import numerics

_CHUNK = 2**12
_TRIED = 64


def exact_error(task: PatternDetection, instance: np.ndarray, network: Network) -> float:
    """P(sign N(x) != y) of a set-invariant network on pattern detection without noise; sign(0) = -1.

    ``instance`` holds the patterns (``Trajectory.instance``). A network that is seen to distinguish two inputs with
    the same patterns is refused; one that does so only rarely is not seen, so give it networks that pool.
    """
    with numerics(str(instance.dtype)):
        network = jax.tree.map(lambda leaf: jnp.asarray(leaf) if eqx.is_array_like(leaf) else leaf, network)
        points = task.pattern_sets(jnp.asarray(instance))
        x, y, p = (np.asarray(part) for part in points)
        outputs = np.concatenate(
            [np.asarray(network(jnp.asarray(x[first : first + _CHUNK]))) for first in range(0, len(x), _CHUNK)]
        )
        some = slice(None, None, -(-len(x) // _TRIED))
        elsewhere = np.asarray(network(jnp.asarray(_same_sets(x[some], instance))))
    scale = float(np.abs(outputs).max()) or 1.0
    if np.abs(elsewhere - outputs[some]).max() > 1e-4 * scale:
        raise InputError("network must depend on the set of patterns alone, got one that sees places or repetitions")
    # the probabilities as the task gives them, summed in float64 and normalised against their rounding
    weights = p.astype(np.float64)
    return float(np.sum(weights * ((outputs > 0) != (y > 0))) / weights.sum())


def _same_sets(x: np.ndarray, instance: np.ndarray) -> np.ndarray:
    """Other inputs with the same patterns: places rolled, and each repeated place given another of the set."""
    which = np.einsum("pnd,ld->pnl", x, instance).argmax(axis=2)
    for row in which:
        spurious = np.flatnonzero(row > 1)
        _, kept = np.unique(row[spurious], return_index=True)
        repeated = np.setdiff1d(np.arange(len(spurious)), kept)
        row[spurious[repeated]] = row[spurious[0]] if len(spurious) else 0
    return np.roll(instance[which], 1, axis=1)
