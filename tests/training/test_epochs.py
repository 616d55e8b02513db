"""Training in passes over data that is drawn anew: what each step sees, and that it is a function of the cell alone."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import InputError
from separatrix.learners import MLP, Adam, Architecture, GradientDescent, Network, Trained
from separatrix.tasks import Task
from separatrix.training import Cell, Procedure, train
from separatrix.training.blocks import Layout
from separatrix.training.engine import _train_block, program_for
from separatrix.training.trajectory import follow

PROCEDURE = Procedure(epochs=3, test_size=20, validation_size=20)


@dataclasses.dataclass(frozen=True)
class Numbered(Task):
    """Ten examples, x one-hot at the example's number, in a new order each epoch; y = 1."""

    @property
    def input_shape(self):
        return (10,)

    @property
    def epoch_size(self):
        return 10

    def instance(self, key, data):
        return ()

    def epoch(self, key):
        return jax.random.permutation(key, 10)

    def epoch_example(self, instance, epoch, index, key):
        return jax.nn.one_hot(epoch[index], 10), jnp.ones(())

    def example(self, instance, split, index, key):
        return jax.nn.one_hot(index % 10, 10), jnp.ones(())


class TotalNet(Network):
    """A linear function, so that what plain descent on -y h adds up to says which examples were seen."""

    w: jax.Array

    def __call__(self, x):
        return x @ self.w


@dataclasses.dataclass(frozen=True)
class Total(Architecture):
    def build(self, key, input_shape, output_shape):
        return TotalNet(jnp.zeros(input_shape))


def counter(batch):
    """Hinge loss far from its kink: every example adds rate/batch to its coordinate."""
    return Trained(Total(), GradientDescent(1e-4, batch=batch), "hinge")


@pytest.fixture(scope="module")
def walk():
    return follow(Cell(Numbered(), counter(5), None, 3, PROCEDURE), 6)


def test_an_epoch_sees_every_example_once_in_an_order_of_its_own(walk):
    seen = np.diff(np.asarray(walk.params.w), axis=0) > 0
    assert (seen.sum(axis=1) == 5).all()
    epochs = seen.reshape(3, 2, 10)
    assert (epochs.sum(axis=1) == 1).all()
    assert len({tuple(first) for first in epochs[:, 0].tolist()}) > 1


def test_epochs_decide_the_steps_and_the_checkpoints():
    record = next(train([Cell(Numbered(), counter(3), None, 0, PROCEDURE)]))
    assert record["status"] == "ok"
    assert record["steps"] == 9  # three whole minibatches of 3 in an epoch of 10
    assert record["curve_step"] == [0, 3, 6]
    many = next(train([Cell(Numbered(), counter(5), None, 0, dataclasses.replace(PROCEDURE, epochs=70))]))
    assert many["curve_step"] == list(range(0, 140, 6))  # every third epoch, so that all fit


def test_endless_tasks_draw_new_examples_each_epoch():
    task = sx.tasks.KPattern(n=12, k=2)
    path = follow(Cell(task, counter(4), 8, 0, PROCEDURE), 6)
    moved = np.diff(np.asarray(path.params.w), axis=0)
    # w moves by the batch's mean of y x, which two batches of the cube hardly share
    assert len({tuple(row) for row in moved.round(8).tolist()}) == 6


def test_cells_in_epochs_do_not_depend_on_their_neighbours():
    wanted = [
        Cell(sx.tasks.KPattern(n=6, k=2), Trained(MLP((4,)), Adam(0.05, batch=8)), 32, s, PROCEDURE) for s in (0, 1, 2)
    ]

    def told(records):
        return [{k: v for k, v in record.items() if k != "seconds"} for record in records]

    together, alone = told(train(wanted)), told(next(train([cell])) for cell in reversed(wanted))
    assert together == alone[::-1]
    assert together[0]["test_error"] < 0.5 or together[0]["train_loss"] < 0.69


def test_nothing_is_drawn_but_at_the_beginning_of_an_epoch():
    """Side by side too, the draw is under a condition and not computed at every step."""
    cell = Cell(Numbered(), counter(5), None, 0, PROCEDURE)
    layout = Layout(2, 100)
    program = program_for(cell, layout)
    _train_block([cell, dataclasses.replace(cell, seed=1)], layout, lambda: None)
    text = program.advance.lower(*_arguments(cell, program)).as_text()
    body = text[text.index("stablehlo.while") :]
    assert "stablehlo.case" in body


def _arguments(cell, program):
    from separatrix.training.engine import samples, shared_data, stacked
    from separatrix.training.program import Block, Given

    values = stacked([cell], program.lanes, "float32")
    train_sample, _, test = samples([cell], values)
    fixed, state = program.start(values)
    given = Given(values, fixed, train_sample, test, shared_data(cell))
    return given, Block(jnp.zeros((), jnp.int32), state), np.int32(1)


def test_what_does_not_fit_is_said():
    task = sx.tasks.KPattern(n=6, k=2)
    with pytest.raises(InputError, match="draws without end"):
        Cell(task, counter(4), None, 0, PROCEDURE)
    with pytest.raises(InputError, match="an algorithm with a batch"):
        Cell(task, Trained(MLP((4,))), 32, 0, PROCEDURE)
    with pytest.raises(InputError, match="batch must be at most the 8 examples"):
        Cell(task, counter(9), 8, 0, PROCEDURE)
    with pytest.raises(InputError, match="train size must be at most 10"):
        Cell(Numbered(), counter(2), 11, 0, PROCEDURE)


def test_older_cells_keep_their_keys():
    """A procedure without epochs is described as before there were any."""
    from separatrix.specs import describe

    assert "epochs" not in describe(Procedure())
    assert describe(PROCEDURE)["epochs"] == 3


@dataclasses.dataclass(frozen=True)
class Thirds(Task):
    """Three classes: which third of the circle x points to."""

    @property
    def input_shape(self):
        return (2,)

    @property
    def output_shape(self):
        return (3,)

    def instance(self, key, data):
        return ()

    def example(self, instance, split, index, key):
        angle = jax.random.uniform(key, maxval=2 * jnp.pi)
        y = 2 * jax.nn.one_hot((angle * 3 / (2 * jnp.pi)).astype(int), 3) - 1
        return jnp.stack([jnp.cos(angle), jnp.sin(angle)]), y


def test_several_classes_are_learnt_and_counted():
    learner = Trained(MLP((16,)), Adam(0.05, batch=16), "cross_entropy")
    record = next(train([Cell(Thirds(), learner, 256, 0, dataclasses.replace(PROCEDURE, epochs=20, test_size=400))]))
    assert record["test_error"] < 0.1
    with pytest.raises(InputError, match="loss must be one of squared, cross_entropy"):
        Trained(MLP((16,))).check((2,), (3,))
    with pytest.raises(InputError, match="loss must be one of hinge, logistic, squared"):
        learner.check((2,), ())


def test_cross_entropy_is_the_softmax_of_scipy():
    from scipy.special import log_softmax

    from separatrix.learners.losses import cross_entropy, mistakes

    outputs = np.array([[2.0, -1.0, 0.5], [0.0, 0.0, -3.0], [1.0, 4.0, 4.0]], np.float32)
    classes = np.array([2, 1, 1])
    y = np.where(np.arange(3) == classes[:, None], 1, -1).astype(np.float32)
    expected = -log_softmax(outputs, axis=1)[np.arange(3), classes]
    assert np.allclose(cross_entropy(jnp.asarray(outputs), jnp.asarray(y)), expected, atol=1e-6)
    assert mistakes(jnp.asarray(outputs), jnp.asarray(y)).tolist() == [1.0, 1.0, 0.0]
