r"""The infinite-width kernels of the networks of Allen-Zhu & Li (:class:`separatrix.learners.ReLUNet`), in closed form.

The network of m units, with standard Gaussian W, b1, U, b2, A and the factors written out, is

    h = relu(u1),  u1 = sqrt(w) W x + sqrt(b) b1,    g = relu(u2),  u2 = sqrt(c/m) U h + sqrt(b) b2,
    out = A (h + g) / sqrt(m)

with w the ``input_variance``, c the ``weight_variance``, b the ``bias_variance``. As relu is homogeneous, ``ReLUNet``,
whose arrays are all N(0, 1/m), puts out 1/sqrt(m) times this network at w = c = b = 1, and its gradients are sqrt(m)
times as large as those with respect to the standard Gaussians: its tangent kernel is this network's. As m grows:

*Covariances.* The units of u1 are independent fields of covariance S1 = w <x, x'> + b; (1/m) <h, h'> tends to
K_h = E relu(u1) relu(u1') (arc-cosine of degree 1). Given h, those of u2 are independent fields of covariance S2 =
c K_h + b, and K_g = E relu(u2) relu(u2'). Unit i of g sees all of h, and h_i itself with a weight of size m^(-1/2)
only, so that h_i and g_i are independent in the limit, and with the means mu_h = E relu(u1) = sqrt(S1(x, x) / 2 pi),
mu_g alike,

    NNGP:  E[(h_i + g_i)(h'_i + g'_i)] = K_h + K_g + mu_h mu_g' + mu_g mu_h'

*Gradients.* With P1 = P(u1, u1' > 0), P2 alike (degree 0): those of A have the inner product of h + g, the NNGP. Unit i
of u2 has the gradient delta_i = A_i 1[u2_i > 0] / sqrt(m), and <delta, delta'> -> P2, so b2 gives b P2 and U gives
c K_h P2. Unit j of u1 has 1[u1_j > 0] (A_j / sqrt(m) + sqrt(c/m) (U^T delta)_j), where the skip's part and the branch's
are independent, because U^T delta is a sum over all units: the squares are 1/m and (c/m) P2. So

    NTK = NNGP + S2 P2 + S1 P1 (1 + c P2)       (products of entries)

Without the skip, NNGP is K_g and the 1 is missing. The two-layer network has K_h + S1 P1.

*The bottleneck U = V A.* In ``ReLUNet`` (and in section 6 of the paper, as sigma_w -> 0) V sees out1 = A h, which has
k numbers of size m^(-1/2), while b2 is as large as the entries of V: V out1 is smaller than b2 by m^(-1/2). So g tends
to relu(b2), the same at every x, and out1 moves no unit of g: the limit is the one above at c = 0, the two-layer
network's kernel with constants and mu_h. An infinitely wide ResNet with this bottleneck does not see its third layer.

With several outputs the kernel of the whole output is this one times the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.learners.kernels.arc_cosine import (
    Covariance,
    relu_covariance,
    relu_derivative_covariance,
    relu_mean,
    through_relu,
)
from separatrix.learners.kernels.arithmetic import Array, flat
from separatrix.learners.kernels.base import Kernel
from separatrix.learners.residual import NETS
from separatrix.rules import Choice, Real, enforce, parameter

TRAINED = ("all", "hidden", "last")


@dataclass(frozen=True)
class WideReLUNet(Kernel):
    """The limit, as the width grows, of ``ReLUNet(net, bottleneck=bottleneck)`` trained in the part ``train``.

    ``all``: the neural tangent kernel; ``hidden``: the same without the last layer's gradients; ``last``: the
    conjugate kernel, which is the output's covariance too (NNGP). The variances are those of the module's docstring.

    >>> import numpy as np
    >>> x = np.array([[1.0, 0.0]])
    >>> [float(WideReLUNet("2layer", train=part, bias_variance=0.0).gram(x, x)[0, 0]) for part in TRAINED]
    [1.0, 0.5, 0.5]
    >>> round(float(WideReLUNet(bias_variance=0.0, bottleneck=False).gram(x, x)[0, 0]), 6)  # 3/4 + 1/(pi sqrt 2) + 1
    1.975079
    """

    net: str = parameter("3resnet", Choice(*NETS))
    bottleneck: bool | None = None
    train: str = parameter("all", Choice(*TRAINED))
    input_variance: float = parameter(1.0, Real(above=0))
    weight_variance: float = parameter(1.0, Real(above=0))
    bias_variance: float = parameter(1.0, Real(0))

    def __post_init__(self) -> None:
        enforce(self)

    @property
    def label(self) -> str:
        kernel = {"all": "NTK", "hidden": "NTK, hidden layers", "last": "conjugate kernel"}[self.train]
        return f"{self.net} ({kernel}, infinite width)"

    @property
    def narrow(self) -> bool:
        """Whether U = V A."""
        return self.net == "3resnet" if self.bottleneck is None else self.bottleneck

    def gram(self, x: Array, z: Array, seed: int = 0) -> Array:
        S1 = self._inputs(x, z)
        P1 = relu_derivative_covariance(S1)
        skip = self.net != "3layer"
        last = relu_covariance(S1) if skip else 0.0
        hidden = S1.xz * P1 if skip else 0.0
        if self.net != "2layer":
            c = 0.0 if self.narrow else self.weight_variance
            S2 = through_relu(S1, c, self.bias_variance)
            P2 = relu_derivative_covariance(S2)
            last = last + relu_covariance(S2)
            hidden = hidden + S2.xz * P2 + c * S1.xz * P1 * P2
            if skip:
                last = last + _of_means(S1, S2) + _of_means(S2, S1)
        return {"all": last + hidden, "hidden": hidden, "last": last}[self.train]

    def _inputs(self, x: Array, z: Array) -> Covariance:
        """S1 = w <x, x'> + b."""
        a, b, w = flat(x), flat(z), self.input_variance
        products = Covariance(a @ b.T, (a * a).sum(axis=1), (b * b).sum(axis=1))
        return Covariance(*(w * product + self.bias_variance for product in products))


def _of_means(first: Covariance, second: Covariance) -> Array:
    """E relu(u) E relu(v') at every pair, u of the first and v of the second covariance."""
    return relu_mean(first.xx)[:, None] * relu_mean(second.zz)[None, :]
