"""Learners: networks with their algorithms, direct solvers, and anyone's own."""

from separatrix.learners.algorithms import AdaDelta, Adam, Algorithm, GradientDescent, Layerwise, RMSProp
from separatrix.learners.base import Architecture, Fitted, Learner, Network, Solver, Trained
from separatrix.learners.custom import Estimator, FixedStart, Module, as_learner
from separatrix.learners.depth_two import CNN, FCN, LCN
from separatrix.learners.fixed_readout import FixedReadout
from separatrix.learners.images import ImageCNN
from separatrix.learners.kernels import KernelRidge, KernelSVM, LinearPart
from separatrix.learners.leaky import LeakyFC
from separatrix.learners.networks import MLP, ConvPool
from separatrix.learners.pairs import PairedFCN, TwoPhase
from separatrix.learners.residual import ReLUNet
from separatrix.learners.sgd import SGD, Algorithm1
from separatrix.learners.strips import StripCNN, StripLCN
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
    "FixedReadout",
    "FixedStart",
    "GradientDescent",
    "ImageCNN",
    "KernelRidge",
    "KernelSVM",
    "Layerwise",
    "LeakyFC",
    "Learner",
    "LinearPart",
    "LinearSVM",
    "Module",
    "Network",
    "PairedFCN",
    "RMSProp",
    "ReLUNet",
    "Solver",
    "StripCNN",
    "StripLCN",
    "Trained",
    "TwoPhase",
    "as_learner",
]
