"""Learners: networks with their algorithms, direct solvers, and anyone's own."""

from separatrix.learners.algorithms import AdaDelta, Adam, Algorithm, GradientDescent, Layerwise, RMSProp
from separatrix.learners.base import Architecture, Fitted, Learner, Network, Solver, Trained
from separatrix.learners.custom import Estimator, FixedStart, Module, as_learner
from separatrix.learners.fixed_readout import FixedReadout
from separatrix.learners.networks import CNN, FCN, LCN, MLP, ConvPool
from separatrix.learners.svm import LinearSVM

__all__ = [
    "CNN",
    "FCN",
    "LCN",
    "MLP",
    "AdaDelta",
    "Adam",
    "Algorithm",
    "Architecture",
    "ConvPool",
    "Estimator",
    "Fitted",
    "FixedReadout",
    "FixedStart",
    "GradientDescent",
    "Layerwise",
    "Learner",
    "LinearSVM",
    "Module",
    "Network",
    "RMSProp",
    "Solver",
    "Trained",
    "as_learner",
]
