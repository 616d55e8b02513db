"""Sequences of digits: what an epoch is made of, the label, the pixels, on synthetic images that say what they are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from separatrix.errors import InputError
from separatrix.learners import MLP, AdaDelta, StripCNN, StripLCN, Trained
from separatrix.learners.strips import strip_windows
from separatrix.papers import figure
from separatrix.studies.figures import reproduce
from separatrix.studies.store import Store
from separatrix.tasks import DigitSequences, digit_sequences, stream
from separatrix.tasks.datasets import Mnist
from separatrix.tasks.digit_sequences import narrow
from separatrix.testing import check_learner, check_task
from separatrix.training import Cell, Procedure, train

TRAIN, TEST = 203, 50


def synthetic():
    """Image i has the grey level i in all of its pixels; labels are skewed."""
    labels = np.random.default_rng(5).choice(10, TRAIN + TEST, p=np.arange(1, 11) / 55).astype(np.uint8)
    images = np.zeros((TRAIN + TEST, 28, 28), np.uint8) + np.arange(TRAIN + TEST, dtype=np.uint8)[:, None, None]
    return Mnist(images[:TRAIN], labels[:TRAIN], images[TRAIN:], labels[TRAIN:])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(digit_sequences, "mnist", synthetic)
    monkeypatch.setattr(digit_sequences, "TRAINING", TRAIN)
    monkeypatch.setattr(digit_sequences, "TEST", TEST)
    digit_sequences._strips.cache_clear()
    yield
    digit_sequences._strips.cache_clear()


def which(x):
    """The images that sequences are made of."""
    digits = np.rint(np.asarray(x) * 255).astype(int).reshape(len(x), 24, -1, 8)
    assert (digits == digits[:, :1, :, :1]).all(), "a digit's pixels must stay together"
    return digits[:, 0, :, 0]


def labels_of(images):
    found = synthetic()
    return np.concatenate([found.train_labels, found.test_labels])[images].astype(int)


@pytest.mark.usefixtures("small")
class TestOnSyntheticImages:
    def test_conforms(self):
        check_task(DigitSequences(4, composition="independent"))
        check_learner(Trained(StripLCN(3, stride=1), AdaDelta(batch=4)), DigitSequences(4))

    @pytest.mark.parametrize(("n", "apart"), [(5, 1), (5, 2), (7, 3), (6, 2)])
    def test_label_and_splits(self, n, apart):
        task = DigitSequences(n, apart, scaling="unit", held_out=30)
        for split, first, end in (("train", 0, TRAIN - 30), ("validation", TRAIN - 30, TRAIN), ("test", TRAIN, 253)):
            x, y = task.draw(2, 200, split)
            images = which(x)
            assert first <= images.min() < images.max() < end
            middle = (n - 1) // 2
            total = labels_of(images)[:, [middle - apart, middle, middle + apart]].sum(axis=1)
            assert np.array_equal(y, np.where(total % 2 == 0, 1, -1))

    def epoch(self, task, seed):
        """All sequences of one epoch, by the functions that the engine calls."""
        strips = task.data()
        drawn = task.epoch(jax.random.key(seed))
        make = jax.vmap(lambda i: task.epoch_example(strips, drawn, i, jax.random.key(0)))
        x, y = make(jnp.arange(task.epoch_size))
        return which(x), np.asarray(y)

    def test_an_epoch_is_one_shuffle_cut_into_sequences(self):
        task = DigitSequences(7, scaling="unit", held_out=3)
        images, y = self.epoch(task, 0)
        assert images.shape == (200 // 7, 7)
        assert len(set(images.ravel().tolist())) == images.size  # each digit once
        assert images.max() < 200
        again, _ = self.epoch(task, 1)
        assert not np.array_equal(images, again)
        assert np.array_equal(y, np.where(labels_of(images)[:, 2:5].sum(axis=1) % 2 == 0, 1, -1))

    def test_or_a_shuffle_for_each_place(self):
        images, _ = self.epoch(DigitSequences(3, scaling="unit", composition="independent"), 0)
        assert images.shape == (TRAIN, 3)
        for place in range(3):
            assert sorted(images[:, place].tolist()) == list(range(TRAIN))
        assert not np.array_equal(images[:, 0], images[:, 1])

    def test_the_engine_trains_on_them(self):
        cell = Cell(
            DigitSequences(3),
            Trained(MLP((4,)), AdaDelta(batch=20)),
            None,
            0,
            Procedure(epochs=2, test_size=30, validation_size=10),
        )
        record = next(train([cell]))
        assert record["status"] == "ok"
        assert record["train_size"] == TRAIN // 3
        assert record["steps"] == 2 * (TRAIN // 3 // 20)

    def test_one_program_serves_both_tasks(self):
        learner, procedure = Trained(MLP((4,)), AdaDelta(batch=20)), Procedure(epochs=2)
        near, far = (Cell(task, learner, None, 0, procedure) for task in (DigitSequences(7), DigitSequences.far(7)))
        assert near.fleet == far.fleet
        assert near.key != far.key
        assert DigitSequences.far(7).apart == 3

    def test_standardised_pixels(self):
        plain, scaled = (DigitSequences(3, scaling=scaling).draw(0, 100)[0] for scaling in ("unit", "standardised"))
        levels = np.arange(TRAIN) / 255
        assert np.allclose(scaled, (plain - levels.mean()) / levels.std(), atol=1e-5)

    @pytest.mark.parametrize("name", ["fig3-examples", "fig4-examples"])
    def test_examples_are_drawn(self, name, tmp_path):
        summary = reproduce(figure(f"convolution/{name}"), "quick", Store(tmp_path))
        assert all(size > 1000 for size in map(_size, summary["figure_files"]))


def _size(path):
    from pathlib import Path

    return Path(path).stat().st_size


def test_what_does_not_fit_is_said():
    with pytest.raises(InputError, match=r"apart must be at most \(n - 1\) / 2 = 3, got 4"):
        DigitSequences(7, 4)
    with pytest.raises(InputError, match="width must be at most the strip's 16 columns, got 24"):
        StripCNN().build(jax.random.key(0), (24, 16), ())
    with pytest.raises(InputError, match="StripLCN takes strips"):
        StripLCN().build(jax.random.key(0), (24,), ())


def test_narrow_digits_average_columns():
    image = np.arange(28 * 28, dtype=np.float64).reshape(1, 28, 28) % 251
    squeezed, cropped = narrow(image, "squeeze")[0], narrow(image, "crop")[0]
    assert squeezed[4, 5] == round(image[0, 6, 17:20].mean())
    assert cropped[23, 0] == round(image[0, 25, 6:8].mean())
    assert squeezed.shape == cropped.shape == (24, 8)


@pytest.mark.parametrize(("width", "stride"), [(24, 8), (24, 1), (5, 3)])
def test_windows_and_networks_against_a_convolution(width, stride):
    x = jax.random.normal(stream(0, "train"), (3, 4, 40))
    pieces = strip_windows(x, width, stride)
    count = (40 - width) // stride + 1
    assert pieces.shape == (count, 3, 4 * width)
    for j in (0, count - 1):
        expected = np.asarray(x)[:, :, j * stride : j * stride + width].transpose(0, 2, 1).reshape(3, -1)
        assert np.array_equal(pieces[j], expected)

    cnn = StripCNN(6, width, stride).build(jax.random.key(1), (4, 40), ())
    kernel = cnn.W.reshape(width, 4, 6).transpose(2, 1, 0)[:, None]
    z = jax.lax.conv_general_dilated(x[:, None], kernel, (1, stride), "VALID", precision="highest")[:, :, 0]
    z = np.maximum(np.asarray(z) + np.asarray(cnn.b)[:, None], 0)
    assert np.allclose(cnn(x), np.einsum("pqj,jq->p", z, cnn.u) + cnn.c, atol=1e-4)

    lcn = StripLCN(6, width, stride).build(jax.random.key(2), (4, 40), ())
    z = np.maximum(np.einsum("jpk,jkq->jpq", pieces, lcn.W) + np.asarray(lcn.b)[:, None], 0)
    assert np.allclose(lcn(x), np.einsum("jpq,jq->p", z, lcn.u) + lcn.c, atol=1e-4)


def test_lcn_with_shared_weights_is_the_cnn():
    """Definition 11 holds Definition 1: equal matrices at every window."""
    cnn = StripCNN(5, 8, 4).build(jax.random.key(1), (3, 20), ())
    lcn = StripLCN(5, 8, 4).build(jax.random.key(2), (3, 20), ())
    shared = type(lcn)(jnp.stack([cnn.W] * 4), jnp.stack([cnn.b] * 4), cnn.u, cnn.c, "relu", 4)
    x = jax.random.normal(jax.random.key(3), (2, 3, 20))
    assert jax.tree.map(jnp.shape, shared) == jax.tree.map(jnp.shape, lcn)
    assert np.allclose(shared(x), cnn(x), atol=1e-5)
