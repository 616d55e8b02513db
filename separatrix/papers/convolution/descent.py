"""Population gradient descent on a k-pattern from Theorem 4's initialisation, as its lemmas look at it.

The run is the engine's, in float64, on the enumerated population and followed step by step; what the lemmas say of it
is evaluated here in NumPy. As a window shows one of 2^k patterns z, the network is a table for each window,

    h(x) = sum_j A_j(x_{j..j+k-1}),        A_j(z) = sum_i u_i^(j) sigma(<w_i, z> + b)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.papers.convolution.setting import Setting
from separatrix.tasks.bits import hypercube
from separatrix.theory.activations import ACTIVATIONS
from separatrix.theory.parameters import Floats, Ints

_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Run:
    """What a run left, for t = 0..T: ``W`` (t, layers, neurons, k), ``u`` (t, windows, neurons).

    ``layers`` is 1 where the windows share their weights. ``counts`` says how many neurons each one stands for,
    ``table`` is g, ``place`` (windows, points) says which pattern each point shows in each window.
    """

    setting: Setting
    W: Floats
    u: Floats
    counts: Floats
    table: Floats
    place: Ints
    y: Floats
    p: Floats

    @property
    def start(self) -> int:
        """The window of the pattern, from 0."""
        s = self.setting
        return (s.n - s.k) // 2 if s.j is None else s.j - 1

    def features(self, t: int | slice) -> Floats:
        """sigma(<w_i, z> + b) at every pattern z: (layers, 2^k, neurons), or the same for some steps."""
        k = self.setting.k
        z = np.einsum("...lik,zk->...lzi", self.W[t], hypercube(k)) + (1 / k - 1)
        return ACTIVATIONS[self.setting.activation].value(z)

    def outputs(self, t: int | slice, u: Floats) -> Floats:
        """h at every point, with the first layer of step t (of some steps) and the readout ``u``."""
        H = self.features(t) * self.counts[:, None, :]
        H = np.broadcast_to(H, (*H.shape[:-3], self.setting.windows, *H.shape[-2:]))
        tables = np.einsum("...jzi,...ji->...jz", H, u)
        return np.asarray(sum(tables[..., j, row] for j, row in enumerate(self.place)))

    def loss(self, t: int | slice, u: Floats) -> Floats:
        """L(h_{u, W^(t), b}), the population's hinge loss."""
        return np.asarray(np.maximum(1 - self.y * self.outputs(t, u), 0) @ self.p)

    def losses_of(self, u: Floats) -> Floats:
        """The same for t = 0..T with one readout, or with the readout of each step."""
        own = u.ndim == 3
        return np.concatenate([self.loss(some, u[some] if own else u) for some in self._pieces])

    @property
    def _pieces(self) -> list[slice]:
        """The steps in pieces that leave the arrays small."""
        s = self.setting
        each = max(1, _ENTRIES // max(len(self.y), s.windows * s.neurons * 2**s.k))
        return [slice(start, start + each) for start in range(0, s.T + 1, each)]

    def gradient_u(self, t: int, u: Floats) -> Floats:
        """dL/du of a single neuron of each kind: E[-f 1{f h < 1} sigma(...)], (windows, neurons)."""
        pull = np.where(self.y * self.outputs(t, u) < 1, -self.p * self.y, 0)
        size = 2**self.setting.k
        seen = np.array([np.bincount(row, weights=pull, minlength=size) for row in self.place])
        H = self.features(t)
        return np.asarray(np.einsum("jz,jzi->ji", seen, np.broadcast_to(H, (len(u), *H.shape[1:]))))

    def norm_sq(self, u: Floats) -> Floats:
        """The squared norm of each window's readout, all q neurons counted."""
        return np.asarray(np.einsum("...ji,ji->...j", u**2, np.broadcast_to(self.counts, u.shape[-2:])))

    @functools.cached_property
    def losses(self) -> Floats:
        """L(h^(t)) for t = 0..T."""
        return self.losses_of(self.u)

    @functools.cached_property
    def errors(self) -> Floats:
        """P(sign h^(t) != f), sign(0) = -1, for t = 0..T."""
        wrong = [((self.outputs(some, self.u[some]) > 0) != (self.y > 0)) @ self.p for some in self._pieces]
        return np.concatenate(wrong)

    @property
    def readout_norms(self) -> Floats:
        """||u^(t,j)||: (t, windows)."""
        return np.sqrt(self.norm_sq(self.u))

    @property
    def drifts(self) -> Floats:
        """||W^(t) - W^(0)||, Frobenius: (t, layers)."""
        return np.sqrt(np.einsum("tlik,li->tl", (self.W - self.W[0]) ** 2, self.counts))

    @functools.cached_property
    def class_sizes(self) -> Ints:
        """|J_z|, the number of neurons whose signs are z, in the layer that the pattern's window uses."""
        layer = min(self.start, len(self.counts) - 1)
        numbers = (self.W[0, layer] < 0) @ (2 ** np.arange(self.setting.k - 1, -1, -1))
        found = np.bincount(numbers, weights=self.counts[layer], minlength=2**self.setting.k)
        return np.asarray(np.rint(found), dtype=np.int64)

    def u_star(self) -> Floats:
        """Lemma 6's readout: k g(z) / |J_z| on the neurons of J_z at the window j*, 0 elsewhere."""
        s = self.setting
        layer = min(self.start, len(self.counts) - 1)
        numbers = (self.W[0, layer] < 0) @ (2 ** np.arange(s.k - 1, -1, -1))
        u = np.zeros(self.u.shape[1:])
        u[self.start] = s.k * self.table[numbers] / np.maximum(self.class_sizes[numbers], 1)
        return u


@functools.lru_cache(maxsize=8)
def descend(setting: Setting) -> Run:
    """T steps of population gradient descent by the engine, followed; kept for what looks at the same run."""
    from separatrix.training.trajectory import follow

    s = setting
    path = follow(s.cell(), s.T)
    params: Any = path.params
    fixed: Any = path.fixed
    if s.classes:
        counts = np.asarray(fixed.counts)
        root = np.maximum(np.sqrt(counts), 1)
        W = np.asarray(fixed.signs) / s.k + np.asarray(params.D) / root[..., None]
        u = np.asarray(params.v) / np.broadcast_to(root, params.v.shape[1:])
    else:
        W = np.asarray(params.W)[:, None] if s.shared else np.asarray(params.W)
        u, counts = np.asarray(params.u), np.ones(W.shape[1:3])
    x = np.asarray(path.sample.x)
    ones = (np.lib.stride_tricks.sliding_window_view(x, s.k, axis=1) < 0).astype(np.int64)
    place = (ones @ (2 ** np.arange(s.k - 1, -1, -1))).T
    table = np.asarray(path.instance.table)
    y, p = np.asarray(path.sample.y), np.asarray(path.sample.w)
    return Run(s, W, u, counts, table, np.ascontiguousarray(place), y, p)
