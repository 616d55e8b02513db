"""Every task, learner and executor passes its conformance suite, and what breaks a rule does not."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import separatrix as sx
from separatrix import learners as L
from separatrix import tasks as T
from separatrix.learners import Trained
from separatrix.learners import kernels as K
from separatrix.learners.parts import PARTS
from separatrix.studies.executors import InProcess, Workers
from separatrix.testing import check_executor, check_learner, check_task

BITS = T.KPattern(n=6, k=2)
PATCHES = T.PatternDetection(d=5, n=3)
PARITIES = T.HierarchicalParity(k=4)


def skewed(key, n):
    return 1.0 - 2.0 * jax.random.bernoulli(key, 0.2, (n,))


def labelled_gaussian(key):
    x = jax.random.normal(key, (4,))
    return x, jnp.where(x[0] > 0.3, 1.0, -1.0)


def two_outputs(key):
    x = jax.random.normal(key, (4,))
    return x, x[:2] * x[2:]


TASKS = [
    PATCHES,
    T.PatternDetection(d=7, n=4, l=5, patterns="standard"),
    T.PatternDetection(d=3, n=1),
    *(T.PatternDetection(d=6, n=3, noise=noise, r=0.7) for noise in ("ball", "sphere", "radius", "gaussian")),
    BITS,
    *(T.KPattern(n=7, k=3, g=g, j=2) for g in ("parity", "majority", "and", "random", (1, -1, -1, 1, 1, 1, -1, 1))),
    T.KPattern(n=6, k=3, g="random", shuffled=True),
    T.KPattern(n=5, k=2, distribution=T.BiasedBits(0.8)),
    T.KPattern(n=5, k=2, distribution=T.MarkovBits(0.1)),
    T.KPattern(n=3, k=2, distribution=T.WeightedBits((1, 0, 2, 3, 0.5, 1, 1, 4))),
    T.KPattern(n=40, k=5, distribution=T.SampledBits(skewed)),
    T.HardInstance(d=6, k=2),
    T.HardInstance(d=7, k=3, d1=4, background=T.BiasedBits(0.8)),
    T.HardInstance(d=30, k=5, d1=9, background=T.SampledBits(skewed)),
    T.Monomial(d=7, degree=3),
    T.SparseParity(n=7, k=3),
    T.SparseParity(n=6, k=5, mixture=0.2, A=(1, 2, 4, 5, 6), scale="bits"),
    T.SparseParity(n=50, k=5),
    T.Sampled(labelled_gaussian, (4,)),
    T.Sampled(two_outputs, (4,), (2,), "regression"),
    T.HierarchicalParity(),
    T.HierarchicalParity(k=3, p=2, q=3, alpha=0.7),
    T.Concept(d=4),
    T.Concept(d=4, general=True, phi_F="tanh"),
    T.Composed(lambda x: x[:2] * x[2:4], lambda y: y[::-1], d=5, x="gaussian"),
    T.Arrays(np.random.default_rng(1).normal(size=(300, 2, 3)), np.arange(300) % 2),
]

LEARNERS = [
    (L.ConvPool(7), PATCHES),
    (Trained(L.ConvPool(6, initialisation="sphere"), L.Layerwise(T1=2)), PATCHES),
    (L.MLP((5, 4), "tanh"), PATCHES),
    (L.MLP.matching(L.ConvPool(30)), PATCHES),
    (Trained(L.LeakyFC(4), train="hidden"), PATCHES),
    (L.LinearSVM(), PATCHES),
    *((make(5, 2, initialisation=start), BITS) for make in (L.CNN, L.LCN) for start in L.depth_two.INITIALISATIONS),
    (L.FCN(5, "clipped_relu", "paper"), BITS),
    *(
        (Trained(L.FCN(4), algorithm(batch=b)), BITS)
        for algorithm in (L.AdaDelta, L.RMSProp, L.Adam)
        for b in (None, 3)
    ),
    (Trained(L.FCN(4), L.GradientDescent(momentum=0.9), loss="hinge"), BITS),
    (Trained(L.MLP((6,)), loss="squared"), T.Sampled(two_outputs, (4,), (2,), "regression")),
    (Trained(L.PairedFCN(3, 3), L.TwoPhase.paper(6, 3, 3, 50), "hinge"), T.SparseParity(n=6, k=3)),
    (Trained(L.PairedFCN(3, 3, "printed"), L.TwoPhase(batch=4), "hinge"), T.SparseParity(n=6, k=3)),
    *((Trained(L.ReLUNet("3resnet", 6), L.SGD(batch=5, epochs=2), "squared", part), PARITIES) for part in PARTS),
    (Trained(L.ReLUNet("3layer", 6, bottleneck=True), L.Algorithm1(), loss="squared"), PARITIES),
    (eqx.nn.MLP(6, "scalar", 4, 1, key=jax.random.key(3)), BITS),
    (Trained(L.FixedReadout(6), L.GradientDescent(batch=3), loss="squared"), T.Monomial(d=6, degree=2)),
    *((L.KernelRidge(kernel), BITS) for kernel in (K.WideReLU(2), K.RandomReLU(30), K.EmpiricalNTK(L.FCN(4)))),
    (L.KernelRidge(K.Polynomial(2)), T.Sampled(two_outputs, (4,), (2,), "regression")),
    *((L.LinearPart(L.ReLUNet("3layer", 5), part), PARITIES) for part in ("last", "ntk")),
    (L.KernelRidge(K.WideReLUNet()), PARITIES),
    (L.KernelSVM(), BITS),
    (DecisionTreeClassifier(max_depth=2), BITS),
    (KNeighborsClassifier(3), PATCHES),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_tasks(task):
    check_task(task)


@pytest.mark.parametrize(("learner", "task"), LEARNERS, ids=lambda value: type(value).__name__)
def test_learners(learner, task):
    check_learner(learner, task)


@pytest.mark.parametrize("executor", [InProcess(), Workers(1), Workers(2)], ids=["here", "one", "two"])
def test_executors(executor):
    check_executor(executor)


@dataclass(frozen=True)
class Broken(T.Task):
    """A two-bit task with one flaw at a time."""

    flaw: str

    @property
    def input_shape(self):
        return (2,)

    @property
    def population_size(self):
        return 4

    def instance(self, key, data):
        return ()

    def example(self, instance, split, index, key):
        x = jax.random.rademacher(key, (2,), dtype=float)
        if self.flaw == "shape":
            x = x[:1]
        if self.flaw == "bias":
            x = jnp.where(jax.random.uniform(jax.random.fold_in(key, 1)) < 0.3, 1.0, x)
        if self.flaw == "splits":
            x = jnp.where(index % 2 == 0, jnp.ones(2), -jnp.ones(2))
        return x, (2.0 if self.flaw == "label" else 1.0) * x[0]

    def population(self, instance):
        x = jnp.asarray(T.hypercube(2))
        return T.Population(x, x[:, 0], jnp.full(4, 0.3 if self.flaw == "sum" else 0.25))


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("shape", "input_shape"),
        ("label", "labels must be -1 and 1"),
        ("sum", "sum to one"),
        ("bias", "sampler and the population"),
        ("splits", "independent"),
    ],
)
def test_a_broken_task_is_found_out(flaw, message):
    with pytest.raises(AssertionError, match=message):
        check_task(Broken(flaw))


def test_a_sound_version_of_the_broken_task_passes():
    check_task(Broken("none"))


def test_a_learner_that_looks_at_its_neighbours_is_found_out():
    class Peeking(L.Network):
        w: jax.Array

        def __call__(self, x):
            return (x - x.mean(axis=0)) @ self.w

    @dataclass(frozen=True)
    class Peeker(L.Architecture):
        def build(self, key, input_shape, output_shape):
            return Peeking(jax.random.normal(key, input_shape))

    with pytest.raises(AssertionError, match="other points"):
        check_learner(Peeker(), BITS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.PatternDetection(d=2), "d must be an integer of at least 3, got 2"),
        (lambda: T.PatternDetection(d=4, l=5), "l must be at most d = 4"),
        (lambda: T.PatternDetection(n=0), "n must be an integer of at least 1, got 0"),
        (lambda: T.PatternDetection(noise="bell"), "did you mean 'ball'"),
        (lambda: T.PatternDetection(noise="ball", r=-1), "r must be a finite number of at least 0, got -1"),
        (lambda: T.PatternDetection(noise="ball", r=float("nan")), "r must be a finite number"),
        (lambda: T.KPattern(n=3, k=4), "k must be at most n = 3, got 4"),
        (lambda: T.KPattern(n=5, k=2, j=5), "j must be at most n - k \\+ 1 = 4, got 5"),
        (lambda: T.KPattern(g="partity"), "did you mean 'parity'"),
        (lambda: T.KPattern(n=3, k=2, g=(1, 1, 0, 1)), "2\\^k = 4 labels"),
        (lambda: T.KPattern(n=3, k=2, distribution=T.WeightedBits((1, 2))), "2\\^n = 8 numbers, got 2"),
        (lambda: T.SparseParity(n=5, k=4), "k must be odd and at most n = 5, got 4"),
        (lambda: T.SparseParity(n=5, k=3, A=(1, 2, 6)), "A must be an integer of at least 1 and of at most 5, got 6"),
        (lambda: T.SparseParity(n=5, k=3, A=(1, 2, 2)), "3 different places of 1..5"),
        (lambda: T.SparseParity(scale="bit"), "did you mean 'bits'"),
        (lambda: T.BiasedBits(1.5), "p must be a finite number"),
        (lambda: T.Arrays([1, 2, 3], [0, 1, 2]), "two labels"),
        (lambda: T.Arrays([1, 2], [0, 1, 1]), "same length"),
        (lambda: T.Sampled(labelled_gaussian, (5,)), "sampler must give shapes"),
        (lambda: L.ConvPool(0), "channels must be an integer of at least 1, got 0"),
        (lambda: L.Adam(-0.1), "learning_rate must be a finite number above 0, got -0.1"),
        (lambda: L.GradientDescent(float("inf")), "learning_rate must be a finite number"),
        (lambda: L.MLP((3, 0)), "hidden must be an integer of at least 1, got 0"),
        (lambda: Trained(L.MLP(), loss="hing"), "did you mean 'hinge'"),
        (lambda: sx.Procedure(max_steps=0), "max_steps must be an integer of at least 1 .*, got 0"),
        (lambda: sx.Cell(BITS, L.LinearSVM(), 5, -1), "seed must be"),
        (lambda: sx.Cell(T.KPattern(n=30), Trained(L.FCN()), None), "no population to train on"),
        (lambda: sx.Cell(BITS, Trained(L.FCN(), L.Adam(batch=3)), None), "trained on samples"),
        (lambda: sx.Cell(TASKS[-1], L.LinearSVM(), 500), "train size must be at most 180"),
    ],
)
def test_impossible_parameters_get_one_clear_line(make, message):
    with pytest.raises(sx.InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
