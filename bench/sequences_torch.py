"""The trainings of convolution/fig3 and fig4 in plain PyTorch: one model at a time, in a Python loop.

A reference for the errors and a yardstick for the time, so it depends on nothing but NumPy and PyTorch: layers of
``torch.nn`` with the starts that they come with, ``torch.optim.Adadelta`` at rate 1, binary cross-entropy on logits,
minibatches of 128. An epoch cuts one new shuffle of the training digits into sequences and leaves out what does not
fill a minibatch; after each the error is measured on the same test sequences, of test digits drawn uniformly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

HEIGHT, WIDTH, KERNEL, BATCH = 24, 8, 24, 128


class Digits(NamedTuple):
    """Standardised images (count, 24, 8), and 1 where the digit is odd."""

    images: Tensor
    odd: Tensor


def squeeze(images: np.ndarray) -> np.ndarray:
    """28 x 28 bytes as 24 x 8: two pixels less on every side, then the mean of every three columns."""
    centre = torch.tensor(images[:, None, 2:-2, 2:-2], dtype=torch.float32)
    return functional.avg_pool2d(centre, (1, 3)).squeeze(1).round().to(torch.uint8).numpy()


def standardised(
    images: np.ndarray, labels: np.ndarray, test_images: np.ndarray, test_labels: np.ndarray
) -> tuple[Digits, Digits]:
    """Training and test digits; both by the moments of the training pixels."""
    training, test = (torch.tensor(squeeze(array)) / 255 for array in (images, test_images))
    std, mean = torch.std_mean(training, correction=0)
    training_odd, test_odd = (torch.tensor(array % 2, dtype=torch.float32) for array in (labels, test_labels))
    return Digits((training - mean) / std, training_odd), Digits((test - mean) / std, test_odd)


class LocallyConnected(nn.Module):
    """A convolution without shared weights: filters of its own for each window, one window a digit."""

    def __init__(self, windows: int, filters: int) -> None:
        super().__init__()
        fan_in = HEIGHT * KERNEL
        bound = 1 / math.sqrt(fan_in)
        self.weight = nn.Parameter(torch.empty(windows, fan_in, filters).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(windows, 1, filters).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        windows = functional.unfold(x, (HEIGHT, KERNEL), stride=WIDTH).permute(2, 0, 1)
        return torch.baddbmm(self.bias, windows, self.weight).transpose(0, 1)


def network(kind: str, n: int, units: int) -> nn.Sequential:
    """FCN, CNN or LCN: one hidden layer of ReLU units, then one linear output."""
    windows = n - KERNEL // WIDTH + 1
    if kind == "FCN":
        hidden, width = [nn.Flatten(), nn.Linear(HEIGHT * WIDTH * n, units)], units
    elif kind == "CNN":
        hidden, width = [nn.Conv2d(1, units, (HEIGHT, KERNEL), stride=(1, WIDTH))], windows * units
    else:
        hidden, width = [LocallyConnected(windows, units)], windows * units
    return nn.Sequential(*hidden, nn.ReLU(), nn.Flatten(), nn.Linear(width, 1))


def sequences(digits: Digits, which: Tensor, apart: int) -> tuple[Tensor, Tensor]:
    """Images (count, 1, 24, 8 n) of these digits, and 1 where the deciding three have an even sum."""
    count, n = which.shape
    middle = (n - 1) // 2
    odd = digits.odd[which[:, [middle - apart, middle, middle + apart]]].sum(dim=1) % 2
    return digits.images[which].transpose(1, 2).reshape(count, 1, HEIGHT, WIDTH * n), 1 - odd


def train(
    kind: str,
    n: int,
    apart: int,
    training: Digits,
    test: Digits,
    test_size: int,
    units: int,
    epochs: int,
    seed: int,
) -> list[float]:
    """The test error after each epoch."""
    torch.manual_seed(seed)
    model = network(kind, n, units)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    loss_of = nn.BCEWithLogitsLoss()
    new, even = sequences(test, torch.randint(len(test.odd), (test_size, n)), apart)
    count = len(training.odd) // n
    errors = []
    for _ in range(epochs):
        order = torch.randperm(len(training.odd))[: count * n].reshape(count, n)
        for chosen in order[: count - count % BATCH].split(BATCH):
            x, y = sequences(training, chosen, apart)
            optimizer.zero_grad()
            loss = loss_of(model(x).squeeze(1), y)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.no_grad():
            outputs = torch.cat([model(piece).squeeze(1) for piece in new.split(BATCH)])
            errors.append(int(((outputs > 0) != (even > 0)).sum()) / test_size)
    return errors
