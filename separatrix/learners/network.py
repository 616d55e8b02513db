"""What a network is: a function with parameters, some of which training moves."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float


class Network(eqx.Module):
    """A function with parameters, on a batch: ``(points, *input) -> (points, *outputs)``."""

    @abstractmethod
    def __call__(self, x: Float[Array, points * input]) -> Float[Array, points * outputs]: ...

    @property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The names of the parameters of each layer, from the input on; for training layer by layer, or a part.

        A name is a path such as ``W``, ``weights.0`` or ``network.W`` (see :func:`at_path`).
        """
        return ()

    def untied(self) -> Network:
        """The same function with the last layer's parameters nowhere else: linear in these, so a kernel method."""
        return self

    @property
    def frozen(self) -> tuple[str, ...]:
        """The names of the arrays (or of whole parts) that training leaves alone."""
        return ()


def at_path(tree: Any, path: str) -> Any:
    """What lies at a path of attributes and places in lists.

    >>> import types
    >>> at_path(types.SimpleNamespace(weights=[10, 20]), "weights.1")
    20
    """
    for name in path.split("."):
        tree = tree[int(name)] if name.isdigit() else getattr(tree, name)
    return tree


def trained_part(network: Network) -> Network:
    """The network with None in the place of everything that training leaves alone."""
    kept = eqx.filter(network, lambda leaf: eqx.is_inexact_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct))
    names = [name for name in network.frozen if jax.tree.leaves(at_path(kept, name))]
    if names:
        kept = eqx.tree_at(
            lambda tree: [at_path(tree, name) for name in names],
            kept,
            replace_fn=lambda part: jax.tree.map(lambda _: None, part),
        )
    return kept
