"""Kernels and the linear methods on top of them, in float64.

============================  ================================================================================
:mod:`.base`                  :class:`Linear`, :class:`Gaussian`, :class:`Polynomial`
:mod:`.arc_cosine`            moments of ReLU units; :class:`WideReLU`: NNGP, NTK and conjugate kernel of any depth
:mod:`.features`              :class:`RandomReLU`, N random features
:mod:`.residual`              :class:`WideReLUNet`: the same of the three-layer ResNet, with and without the bottleneck
:mod:`.tangent`               :class:`EmpiricalNTK`, of any network at its start, without its Jacobian
:mod:`.solvers`               :class:`KernelRidge` (one output or several), :class:`KernelSVM`
:mod:`.linear_part`           :class:`LinearPart`, what training the last layer or the linearisation tends to
============================  ================================================================================
"""

from separatrix.learners.kernels.arc_cosine import WideReLU
from separatrix.learners.kernels.base import Gaussian, Kernel, Linear, Polynomial
from separatrix.learners.kernels.features import RandomReLU
from separatrix.learners.kernels.linear_part import LinearPart
from separatrix.learners.kernels.residual import WideReLUNet
from separatrix.learners.kernels.solvers import KernelRidge, KernelSVM
from separatrix.learners.kernels.tangent import EmpiricalNTK, empirical_ntk

__all__ = [
    "EmpiricalNTK",
    "Gaussian",
    "Kernel",
    "KernelRidge",
    "KernelSVM",
    "Linear",
    "LinearPart",
    "Polynomial",
    "RandomReLU",
    "WideReLU",
    "WideReLUNet",
    "empirical_ntk",
]
