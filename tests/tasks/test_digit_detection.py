"""The digit task: its label rule, its distribution and its splits, on synthetic images that say what they are."""

import jax.numpy as jnp
import numpy as np
import pytest

import separatrix as sx
from separatrix.papers.pooling.pictures import examples_of_digits, grid
from separatrix.specs import content_hash
from separatrix.studies.figures import Picture, reproduce
from separatrix.studies.pixels import data_address
from separatrix.studies.store import Store
from separatrix.tasks import DigitDetection, digits
from separatrix.tasks.datasets import MNIST, Mnist
from separatrix.testing import check_learner, check_task

TRAIN, VALIDATION, TEST = 300, 120, 150


def synthetic():
    """Image i has the pixels (digit, i // 200, i % 200, 0, 0, ...); the digits are of unequal frequencies."""
    frequencies = np.arange(1, 11) / 55
    labels = np.random.default_rng(3).choice(10, TRAIN + VALIDATION + TEST, p=frequencies)
    for start in (0, TRAIN, TRAIN + VALIDATION):
        labels[start : start + 10] = np.arange(10)
    images = np.zeros((len(labels), 28, 28), np.uint8)
    index = np.arange(len(labels))
    images[:, 0, 0], images[:, 0, 1], images[:, 0, 2] = labels, index // 200, index % 200
    count = TRAIN + VALIDATION
    labels = labels.astype(np.uint8)
    return Mnist(images[:count], labels[:count], images[count:], labels[count:])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(digits, "mnist", synthetic)
    monkeypatch.setattr(digits, "VALIDATION_IMAGES", VALIDATION)
    digits._digits.cache_clear()
    yield
    digits._digits.cache_clear()


def read(x):
    """The digits and the numbers of the images in x."""
    pixels = np.rint(x * 255).astype(int)
    return pixels[..., 0], pixels[..., 1] * 200 + pixels[..., 2]


@pytest.mark.usefixtures("small")
class TestOnSyntheticImages:
    @pytest.mark.parametrize("task", [DigitDetection(), DigitDetection(1), DigitDetection(7, 8, 0, "standardised")])
    def test_conforms(self, task):
        check_task(task)

    def test_learners_take_it(self):
        check_learner(sx.learners.ConvPool(5), DigitDetection(2))
        check_learner(sx.learners.LinearSVM(), DigitDetection(2))

    @pytest.mark.parametrize("task", [DigitDetection(), DigitDetection(5, positive=9, negative=0)])
    def test_label_rule(self, task):
        x, y = task.draw(4, 2000)
        found, _ = read(x)
        positive, negative = (found == task.positive).sum(axis=1), (found == task.negative).sum(axis=1)
        assert np.array_equal(positive + negative, np.ones(len(y)))
        assert np.array_equal(y, positive - negative)

    def test_distribution(self):
        """Labels and places are even, and so are the spurious digits, whatever their frequencies in the images."""
        task = DigitDetection(n=3)
        x, y = task.draw(0, 6000)
        found, images = read(x)
        assert abs(y.mean()) < 4 / np.sqrt(6000)
        places = ((found == 3) | (found == 5)).mean(axis=0)
        assert np.abs(places - 1 / 3).max() < 4 * np.sqrt(2 / 9 / 6000)
        spurious = found[(found != 3) & (found != 5)]
        shares = np.bincount(spurious, minlength=10) / len(spurious)
        assert shares[[3, 5]].tolist() == [0, 0]
        assert np.abs(np.delete(shares, [3, 5]) - 1 / 8).max() < 4 * np.sqrt(7 / 64 / len(spurious))
        # uniform over the images of a digit: every training nine is drawn about as often as any other
        nines = np.bincount(images[found == 9], minlength=TRAIN)
        expected = (found == 9).sum() / (synthetic().train_labels[:TRAIN] == 9).sum()
        drawn = nines[np.flatnonzero(synthetic().train_labels[:TRAIN] == 9)]
        assert np.abs(drawn - expected).max() < 5 * np.sqrt(expected)

    def test_splits_share_no_image_and_use_all(self):
        task = DigitDetection()
        used = {split: set(read(task.draw(1, 3000, split)[0])[1].ravel().tolist()) for split in digits.SPLITS}
        first = {"train": 0, "validation": TRAIN, "test": TRAIN + VALIDATION}
        size = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
        assert used == {split: set(range(first[split], first[split] + size[split])) for split in digits.SPLITS}

    def test_images_are_those_of_their_labels(self):
        data = DigitDetection().data()
        labels = np.concatenate([synthetic().train_labels, synthetic().test_labels])
        for split in range(3):
            for digit in range(10):
                start, count = int(data.starts[split, digit]), int(data.counts[split, digit])
                assert set(labels[np.asarray(data.order[start : start + count])].tolist()) == {digit}
        assert int(data.counts.sum()) == len(labels)
        assert data.images.dtype == jnp.uint8

    def test_scaling(self):
        unit, _ = DigitDetection().draw(2, 50)
        standard, _ = DigitDetection(scaling="standardised").draw(2, 50)
        assert unit.min() == 0
        assert unit.max() <= 1
        assert np.allclose(standard, (unit - 0.13066) / 0.30811, atol=1e-4)

    def test_a_picture_is_reproduced_without_a_study(self, tmp_path):
        figure = Picture("pooling/example", "Examples", lambda _: examples_of_digits(DigitDetection()))
        summary = reproduce(figure, "quick", Store(tmp_path / "store"))
        assert summary["cells"] == dict.fromkeys(("planned", "reused", "ran", "diverged", "failed"), 0)
        assert summary["series"] == summary["claims"] == []
        assert all((tmp_path / name).stat().st_size for name in summary["figure_files"])


def test_the_key_is_made_of_the_parameters_alone(monkeypatch):
    def absent():
        raise AssertionError("the data must not be touched")

    monkeypatch.setattr(digits, "mnist", absent)
    keys = [
        content_hash(task) for task in (DigitDetection(), DigitDetection(5), DigitDetection(scaling="standardised"))
    ]
    assert len(set(keys)) == 3


def test_a_study_asks_for_the_data_before_it_runs(monkeypatch, tmp_path):
    def absent():
        raise sx.InputError("run: separatrix data get mnist")

    monkeypatch.setattr(digits, "mnist", absent)
    study = sx.Study(DigitDetection(), [sx.learners.LinearSVM()], 10, seeds=1)
    with pytest.raises(sx.InputError, match="data get mnist"):
        study.run(tmp_path / "store", workers=0)
    assert Store(tmp_path / "store").frame().height == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DigitDetection(n=0), "n must be an integer of at least 1, got 0"),
        (lambda: DigitDetection(positive=10), "positive must be an integer of at least 0 and of at most 9, got 10"),
        (lambda: DigitDetection(negative=3), "negative must be another digit than positive, got 3 for both"),
        (lambda: DigitDetection(scaling="unt"), "did you mean 'unit'"),
    ],
)
def test_impossible_parameters(make, message):
    with pytest.raises(sx.InputError, match=message):
        make()


def test_patterns_are_laid_out_in_reading_order():
    patterns = np.zeros((3, 784))
    patterns[:, 0] = [0.25, 0.5, 1.0]
    picture = grid(patterns)
    pitch = 28 * 4 + 2
    assert picture.shape == (2 * pitch - 2, 2 * pitch - 2)
    assert [int(picture[top, left]) for top, left in ((0, 0), (0, pitch), (pitch, 0))] == [64, 128, 255]
    assert (picture[pitch:, pitch:] == 255).all()
    assert data_address(picture).startswith("data:image/png;base64,iVBORw0KGgo")


@pytest.fixture
def real_mnist(monkeypatch):
    """The tests' own cache folder is looked in first, then the user's."""
    for forget in (False, True):
        if forget:
            monkeypatch.delenv("SEPARATRIX_CACHE")
        if all(MNIST.path(file).is_file() for file in MNIST.files):
            digits._digits.cache_clear()
            yield
            digits._digits.cache_clear()
            return
    pytest.skip("MNIST is not on this machine; run: separatrix data get mnist")


@pytest.mark.usefixtures("real_mnist")
def test_real_digits():
    MNIST.require()
    task = DigitDetection()
    check_task(task)
    counts = np.asarray(task.data().counts)
    assert counts.sum(axis=1).tolist() == [50000, 10000, 10000]
    assert counts[2].tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    x, _ = task.draw(0, 2000)
    assert abs(x.mean() - 0.1307) < 0.01
