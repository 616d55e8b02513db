"""Random members of Concepts 1 and 2 of Allen-Zhu & Li (section 5 and appendix A)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from separatrix.rules import Choice, Real, Whole, enforce, parameter
from separatrix.tasks.hierarchical import Hierarchical, Vector

SMOOTH: Mapping[str, Vector] = {
    "sin": jnp.sin,
    "cos": jnp.cos,
    "exp": jnp.expm1,
    "tanh": jnp.tanh,
    "cube": lambda z: z**3,
}
ODD = ("sin", "tanh", "cube")
"""Those with terms of odd order alone, as appendix A asks of the functions of a general concept."""


class Sum(NamedTuple):
    """The parameters of f_r(x) = sum_i a_ri phi(<w_ri, x>), or of its general form, r = 1..k, i = 1..p."""

    a: Float[Array, "k p"]
    w1: Float[Array, "k p n"]
    w2: Float[Array, "k p n"]


@dataclass(frozen=True)
class Concept(Hierarchical):
    """A random H = beta F + alpha G(F), F and G sums of ``p`` smooth functions an output, drawn with the instance.

    ``general=False``, Concept 1: f_r(x) = sum_i a_ri phi(<w_ri, x>), a_ri uniform in [-1, 1], ||w_ri|| = 1/sqrt 2, x on
    the unit sphere. (The text also assumes ||F(x)|| = 1, which no random F has; G is then smooth on what F attains.)
    ``general=True``, Concept 2: sum_i a_ri phi(<w1_ri, (x, 1)> / ||(x, 1)||) <w2_ri, (x, 1)>, ||w1|| = ||w2|| = 1.
    """

    d: int = parameter(10, Whole(1))
    k: int = parameter(3, Whole(1))
    p_F: int = parameter(2, Whole(1))
    p_G: int = parameter(2, Whole(1))
    phi_F: str = parameter("sin", Choice(*SMOOTH))
    phi_G: str = parameter("sin", Choice(*SMOOTH))
    general: bool = False
    alpha: float = parameter(0.3, Real(0), traced=True)
    beta: float = parameter(1.0, Real(0), traced=True)

    def __post_init__(self) -> None:
        enforce(self)
        if self.general:
            Choice(*ODD).accept("phi_F", self.phi_F)
            Choice(*ODD).accept("phi_G", self.phi_G)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.d,)

    @property
    def output_shape(self) -> tuple[int, ...]:
        return (self.k,)

    def instance(self, key: PRNGKeyArray, data: Any) -> tuple[Sum, Sum]:
        F_key, G_key = jax.random.split(key)
        return self._sum(F_key, self.d, self.p_F), self._sum(G_key, self.k, self.p_G)

    def inputs(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        x = jax.random.normal(key, (self.d,))
        return x / jnp.linalg.norm(x)

    def base(self, instance: tuple[Sum, Sum], x: Float[Array, " d"]) -> Float[Array, " k"]:
        return self._value(instance[0], self.phi_F, x)

    def composite(self, instance: tuple[Sum, Sum], y: Float[Array, " k"]) -> Float[Array, " k"]:
        return self._value(instance[1], self.phi_G, y)

    def _sum(self, key: PRNGKeyArray, inputs: int, p: int) -> Sum:
        a_key, w1_key, w2_key = jax.random.split(key, 3)
        n, norm = (inputs + 1, 1.0) if self.general else (inputs, 2**-0.5)

        def directions(key: PRNGKeyArray) -> Array:
            w = jax.random.normal(key, (self.k, p, n))
            return norm * w / jnp.linalg.norm(w, axis=-1, keepdims=True)

        a = jax.random.uniform(a_key, (self.k, p), minval=-1.0, maxval=1.0)
        return Sum(a, directions(w1_key), directions(w2_key))

    def _value(self, parts: Sum, phi: str, x: Float[Array, " n"]) -> Float[Array, " k"]:
        if not self.general:
            return (parts.a * SMOOTH[phi](parts.w1 @ x)).sum(axis=-1)
        x1 = jnp.append(x, 1.0)
        return (parts.a * SMOOTH[phi](parts.w1 @ x1 / jnp.linalg.norm(x1)) * (parts.w2 @ x1)).sum(axis=-1)
