"""The experiments that the paper lacks: networks and linear methods on D_A, with what each needs to find the parity.

Bits are of size 1 here (``scale="bits"``): with 1/sqrt n and the usual initialisation plain SGD hardly moves. All
hyperparameters are chosen on validation samples of the task itself. Networks: two layers, minibatches of 64, a fixed
number of steps. Linear methods: ridge regression and SVMs on kernels and random features, in float64.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from separatrix.learners import FCN, Adam, GradientDescent, PairedFCN, Trained, TwoPhase, kernels
from separatrix.papers.parity import claims
from separatrix.papers.parity.costs import FIXED_N, NETWORK, RANDOM_FEATURES
from separatrix.studies.figures import Scale
from separatrix.studies.grid import Grid
from separatrix.studies.study import Study
from separatrix.tasks import SparseParity
from separatrix.training import Procedure

if TYPE_CHECKING:
    from separatrix.learners import Learner

N, K = 20, 5
KS = (1, 3, 5, 7)
WIDTH = 64
STEPS = 16_000
PROCEDURE = Procedure(max_steps=STEPS, check_every=STEPS)
"""No stopping rule: a small training loss comes long before the parity does."""

INFINITE = ("NTK", "Gaussian kernel", "polynomial kernel")


def d_a(n: int, k: int, mixture: float = 0.5) -> SparseParity:
    return SparseParity(n=n, k=k, mixture=mixture, scale="bits")


def network(width: int = WIDTH) -> Trained:
    return Trained(FCN(width), Adam(batch=64))


def ridge_methods(features: int) -> dict[str, Learner]:
    """The offset of the polynomial kernel is 0: it then has the odd monomials alone, as f_A does."""
    return {
        "NTK": kernels.KernelRidge(kernels.WideReLU(1, "ntk", bias_variance=1.0)),
        "NTK of the network": kernels.KernelRidge(kernels.EmpiricalNTK(FCN(WIDTH))),
        "Gaussian kernel": kernels.KernelRidge(kernels.Gaussian()),
        "polynomial kernel": kernels.KernelRidge(kernels.Polynomial(offset=0.0)),
        f"{features} random ReLUs": kernels.KernelRidge(kernels.RandomReLU(features)),
        "the bits themselves": kernels.KernelRidge(kernels.Linear(1.0)),
    }


def _network_grids(scale: Scale) -> dict[str, Grid]:
    decays = Grid((0.03, 0.1, 0.3), extensions=1) if scale == "paper" else Grid((0.1,))
    return {"learning_rate": Grid((3e-3, 1e-2), extensions=1 if scale == "paper" else 0), "weight_decay": decays}


def _kernel_grids(scale: Scale) -> dict[str, Grid]:
    """Bandwidths and biases are to be seen beside sqrt n, the size of an input; the grids grow where it helps. A large
    ridge makes of every kernel the majority of the bits that correlate with the label, which few samples can bear (if
    the labels are not centred: then their mean is all that is left).
    """
    if scale == "quick":
        few = {
            "ridge": (1e-6, 1.0, 1e3),
            "bandwidth": (8.0,),
            "bias_variance": (1.0,),
            "bias": (8.0,),
            "degree": (1, 5),
        }
        return {name: Grid(values) for name, values in few.items()}
    return {
        "ridge": Grid((1e-4, 1.0, 1e2, 1e4), extensions=1),
        "bandwidth": Grid((8.0, 16.0), extensions=1),
        "bias_variance": Grid((1.0, 4.0), extensions=1),
        "bias": Grid((4.0, 12.0), extensions=1),
        "degree": Grid((1, 3, 5, 7)),
        "center": Grid((False, True)),
    }


def samples(scale: Scale) -> Study:
    paper = scale == "paper"
    return Study(
        task=d_a(N, K),
        learners={NETWORK: network(), **ridge_methods(16_384 if paper else 1024)},
        train_size=(256, 512, 1024, 2048, 4096) if paper else (256, 1024, 2048),
        seeds=5 if paper else 3,
        tune=_network_grids(scale) | _kernel_grids(scale),
        procedure=PROCEDURE,
        name=f"parity/study-samples ({scale})",
    )


def svm(scale: Scale) -> Study:
    paper = scale == "paper"
    grids = {name: values for name, values in _kernel_grids(scale).items() if name not in ("ridge", "bias", "center")}
    return Study(
        task=d_a(N, K),
        learners={
            "NTK, SVM": kernels.KernelSVM(kernels.WideReLU(1, "ntk", bias_variance=1.0)),
            "Gaussian kernel, SVM": kernels.KernelSVM(kernels.Gaussian()),
            "polynomial kernel, SVM": kernels.KernelSVM(kernels.Polynomial(offset=0.0)),
        },
        train_size=(256, 512, 1024, 2048) if paper else (256, 1024),
        seeds=5 if paper else 3,
        tune={"penalty": Grid((1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0) if paper else (1e-2, 1e-1, 1.0, 100.0))} | grids,
        procedure=PROCEDURE,
        name=f"parity/study-svm ({scale})",
    )


def uniform(scale: Scale) -> Study:
    paper = scale == "paper"
    return Study(
        task=d_a(N, K, 0.0),
        learners={NETWORK: network(), **{label: ridge_methods(1)[label] for label in INFINITE}},
        train_size=(128, 256, 512, 1024, 2048) if paper else (256, 1024, 2048),
        seeds=5 if paper else 3,
        tune=_network_grids(scale) | {name: values for name, values in _kernel_grids(scale).items() if name != "bias"},
        procedure=PROCEDURE,
        name=f"parity/study-uniform ({scale})",
    )


def features(scale: Scale) -> dict[str, Study]:
    """n = 2k, the least at which Theorem 1's bound is 2^(k/3). Random features are fitted to the population itself, so
    that nothing but their number stands in the way (2^n of them fit any labels), with a ridge that steadies the
    arithmetic and no more; networks are trained on a sample. With n = 2k the number of points grows with k as well, so
    random features are also tried at one n for every k.
    """
    paper = scale == "paper"
    widths = [2**i for i in range(1, 7)] if paper else (2, 8, 32)
    shared: dict[str, Any] = {"seeds": 5 if paper else 3, "name": f"parity/study-features ({scale})"}
    grid = {"bias": Grid((2.0, 6.0) if paper else (3.0,))}

    def fitted(label: str, n: int, k: int) -> Study:
        points = 2**n
        counts = [2**i for i in range(1, 14 if paper else 12) if 2**i < points]
        if counts[-1] == points // 2:
            counts += [3 * points // 4, *([points] if points <= 2**10 else [])]
        learners = {label: [kernels.KernelRidge(kernels.RandomReLU(N), 1e-8) for N in counts]}
        exact = Procedure(evaluation="population")
        return Study(d_a(n, k), learners, None, tune=grid, tune_seeds=2 if paper else None, procedure=exact, **shared)

    studies: dict[str, Study] = {}
    for k in KS:
        studies[f"k = {k}, {RANDOM_FEATURES}"] = fitted(RANDOM_FEATURES, 2 * k, k)
        studies[f"k = {k}, {FIXED_N}"] = fitted(FIXED_N, 12 if paper else 10, k)
        studies[f"k = {k}, {NETWORK}"] = Study(
            task=d_a(2 * k, k),
            learners={NETWORK: [network(width) for width in widths]},
            train_size=16_384 if paper else 4096,
            tune=_network_grids(scale) | {"weight_decay": Grid((1e-2, 1e-1), extensions=1) if paper else Grid((1e-2,))},
            procedure=PROCEDURE,
            **shared,
        )
    return studies


def in_k(scale: Scale) -> Study:
    """n = 3k, so that the cube stays far larger than a sample in which linear methods find the parity."""
    paper = scale == "paper"
    return Study(
        task=[d_a(3 * k, k) for k in KS],
        learners={NETWORK: network(), **{label: ridge_methods(1)[label] for label in INFINITE}},
        train_size=(4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192) if paper else (8, 32, 128, 512, 2048),
        seeds=5 if paper else 3,
        tune=_network_grids(scale)
        | {
            "ridge": Grid((1e-6, 1e-3)) if paper else Grid((1e-5,)),
            "bandwidth": Grid((4.0, 8.0, 16.0)) if paper else Grid((8.0,)),
            "bias_variance": Grid((1.0, 4.0)) if paper else Grid((1.0,)),
            "degree": Grid((1, 3, 5, 7)) if paper else Grid((3, 5, 7)),
        },
        tune_seeds=2 if paper else None,
        procedure=PROCEDURE,
        name=f"parity/study-k ({scale})",
    )


def mixture(scale: Scale) -> Study:
    paper = scale == "paper"
    weights = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 7 / 8, 15 / 16) if paper else (0.0, 1 / 4, 1 / 2, 7 / 8)
    n, size = (40, 4096) if paper else (20, 2048)
    return Study(
        task=[d_a(n, K, weight) for weight in weights],
        learners={
            f"{NETWORK}, Adam": network(),
            f"{NETWORK}, SGD": Trained(FCN(WIDTH), GradientDescent(batch=64)),
        },
        train_size=size,
        seeds=5 if paper else 3,
        tune={
            "learning_rate": Grid((3e-3, 1e-2, 1e-1, 3e-1, 0.9), 3) if paper else Grid((1e-2, 2e-1)),
            "weight_decay": Grid((1e-3, 1e-2, 1e-1), 3) if paper else Grid((1e-3, 1e-1)),
        },
        procedure=PROCEDURE,
        name=f"parity/study-mixture ({scale})",
    )


def two_phase(scale: Scale) -> Study:
    """The algorithm of Theorem 2 on the exact population: its steps eta = k^2 / (T sqrt q) and larger ones, with the
    largest and the smallest lambda that it allows."""
    paper = scale == "paper"
    n, k = (11, 3) if paper else (9, 3)
    T = 4000 if paper else 1000

    def descents(factor: float, decays: bool = False, start: str = "corrected") -> list[Trained]:
        found = []
        for q in (4, 16, 64, 256) if paper else (4, 16, 64):
            rule = TwoPhase.paper(n, k, q, T)
            rule = replace(rule, eta=factor * rule.eta, lambda_=rule.lambda_ if decays else 0.0)
            found.append(Trained(PairedFCN(q, k, start), rule, "hinge"))
        return found

    return Study(
        task=SparseParity(n=n, k=k),
        learners={
            claims.THEOREM: descents(1.0),
            f"{NETWORK}, λ = k/n": descents(1.0, decays=True),
            f"{NETWORK}, steps times 10": descents(10.0),
            claims.LARGER: descents(100.0),
            f"{NETWORK}, printed start": descents(1.0, start="printed"),
        },
        train_size=None,
        seeds=5 if paper else 3,
        procedure=Procedure(max_steps=T, check_every=T),
        name=f"parity/study-two-phase ({scale})",
    )
