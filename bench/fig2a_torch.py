"""The trainings of residual/fig2a and its controls in plain PyTorch: one model at a time, in a Python loop.

The yardstick for the compiled fleets and the second leg of the verdicts, so it depends on nothing but NumPy and
PyTorch: ``nn.Module``, ``torch.optim.SGD`` with momentum 0.9 and weight decay, minibatches of 50 in a new random order
each epoch, the rate divided by 10 at half. The loss of an example is its squared error summed over the outputs; every
entry of every weight and bias starts as N(0, 1/m), drawn by PyTorch from the seed.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

BATCH = 50


class Net(nn.Module):
    """A (h + g) with the skip, A g without, h = relu(W x + b1), g = relu(U h + b2), U = V A or free; or A h alone."""

    def __init__(self, layers: int, skip: bool, bottleneck: bool, d: int, m: int, k: int) -> None:
        super().__init__()
        self.layers, self.skip, self.bottleneck = layers, skip, bottleneck
        self.W, self.b1, self.A = _drawn(m, m, d), _drawn(m, m), _drawn(m, k, m)
        if layers == 3:
            self.V, self.b2 = _drawn(m, m, k if bottleneck else m), _drawn(m, m)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(x @ self.W.T + self.b1)
        if self.layers == 2:
            return h @ self.A.T
        below = h @ self.A.T if self.bottleneck else h
        g = torch.relu(below @ self.V.T + self.b2)
        return (h + g if self.skip else g) @ self.A.T


def _drawn(m: int, *shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) / m**0.5)


def train(
    x: np.ndarray,
    y: np.ndarray,
    x_test: np.ndarray,
    y_test: np.ndarray,
    net: tuple[int, bool, bool],
    m: int,
    learning_rate: float,
    weight_decay: float,
    epochs: int,
    seed: int,
) -> float:
    """The error on the test sample after training all layers."""
    torch.manual_seed(seed)
    data, labels, new, wanted = (torch.tensor(array, dtype=torch.float32) for array in (x, y, x_test, y_test))
    model = Net(*net, d=x.shape[1], m=m, k=y.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9, weight_decay=weight_decay)
    for epoch in range(epochs):
        if epoch == epochs // 2:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate / 10
        order = torch.randperm(len(data))
        for first in range(0, len(data), BATCH):
            chosen = order[first : first + BATCH]
            optimizer.zero_grad()
            loss = (model(data[chosen]) - labels[chosen]).square().sum(dim=1).mean()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    with torch.no_grad():
        return float((model(new) - wanted).square().sum(dim=1).mean())
