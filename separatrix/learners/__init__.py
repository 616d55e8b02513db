"""Learners: networks with their algorithms, direct solvers, and anyone's own."""

from separatrix.learners.algorithms import AdaDelta, Adam, Algorithm, GradientDescent, Layerwise, RMSProp
from separatrix.learners.base import Architecture, Fitted, Learner, Network, Solver, Trained
from separatrix.learners.custom import Estimator, FixedStart, Module, as_learner
from separatrix.learners.kernels import KernelRidge, KernelSVM
from separatrix.learners.networks import CNN, FCN, LCN, MLP, ConvPool
from separatrix.learners.residual import ReLUNet
from separatrix.learners.sgd import SGD, Algorithm1
from separatrix.learners.svm import LinearSVM

__all__ = [
    "CNN",
    "FCN",
    "LCN",
    "MLP",
    "SGD",
    "AdaDelta",
    "Adam",
    "Algorithm",
    "Algorithm1",
    "Architecture",
    "ConvPool",
    "Estimator",
    "Fitted",
    "FixedStart",
    "GradientDescent",
    "KernelRidge",
    "KernelSVM",
    "Layerwise",
    "Learner",
    "LinearSVM",
    "Module",
    "Network",
    "RMSProp",
    "ReLUNet",
    "Solver",
    "Trained",
    "as_learner",
]
