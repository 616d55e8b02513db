"""The sweep of figure 3a in plain PyTorch: one model at a time, in a Python loop.

This is the yardstick for the compiled fleets, so it depends on nothing but NumPy and PyTorch and does what
a careful author would do by hand: ``nn.Module``, full-batch Adam with its default moments,
``loss.backward()``, ``optimizer.step()``. Labels are -1 or +1 and the loss is the logistic one.
A training stops at the first check at which the mean loss of that step, taken before the step's update,
is at most ``target_loss``; otherwise it runs ``max_steps`` steps. Every ``check_every``-th step is checked.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

Initial = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Outcome:
    """One finished training; ``seconds`` covers the steps and the checks, not the final evaluation."""

    steps: int
    train_loss: float
    train_error: float
    test_error: float
    seconds: float


class ConvPool(nn.Module):
    """``N(x) = sum_i a_i max_j relu(w_i . x[j])``.

    Without ``initial`` both weights are drawn as ``nn.Linear`` draws them: uniform between
    ``-1/sqrt(fan_in)`` and ``1/sqrt(fan_in)``, where the fan-in is the patch size for ``W`` and the number
    of channels for ``a``.
    """

    def __init__(self, patch_size: int, channels: int, initial: Initial | None = None) -> None:
        super().__init__()
        self.filters = nn.Linear(patch_size, channels, bias=False)
        self.head = nn.Linear(channels, 1, bias=False)
        if initial is not None:
            with torch.no_grad():
                self.filters.weight.copy_(torch.tensor(initial[0], dtype=torch.float32))
                self.head.weight.copy_(torch.tensor(initial[1], dtype=torch.float32).reshape(1, -1))

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.head(F.relu(self.filters(x).max(dim=1).values)).squeeze(-1)
        return output


class MLP(nn.Module):
    """One hidden ReLU layer on the flattened patches, with biases, as ``nn.Linear`` initialises it."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.layers(x).squeeze(-1)
        return output


def logistic_loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return F.softplus(-y * model(x)).mean()


def error_rate(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Fraction of examples with ``y N(x) <= 0``: an output of exactly zero counts as an error."""
    with torch.no_grad():
        return float((y * model(x) <= 0).float().mean())


def fit(
    model: nn.Module,
    data: Sequence[np.ndarray],
    learning_rate: float,
    target_loss: float,
    max_steps: int,
    check_every: int,
) -> Outcome:
    x, y, x_test, y_test = (torch.tensor(array, dtype=torch.float32) for array in data)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    steps, started = 0, time.perf_counter()
    for steps in range(1, max_steps + 1):
        optimizer.zero_grad()
        loss = logistic_loss(model, x, y)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if steps % check_every == 0 and loss.item() <= target_loss:
            break
    seconds = time.perf_counter() - started
    with torch.no_grad():
        train_loss = float(logistic_loss(model, x, y))
    return Outcome(steps, train_loss, error_rate(model, x, y), error_rate(model, x_test, y_test), seconds)


def train_convpool(
    x: np.ndarray,
    y: np.ndarray,
    x_test: np.ndarray,
    y_test: np.ndarray,
    channels: int,
    learning_rate: float,
    target_loss: float = 1e-3,
    max_steps: int = 10_000,
    check_every: int = 10,
    seed: int = 0,
    initial: Initial | None = None,
) -> Outcome:
    """Train :class:`ConvPool` on ``x`` of shape (examples, patches, patch size)."""
    torch.manual_seed(seed)
    model = ConvPool(x.shape[-1], channels, initial)
    return fit(model, (x, y, x_test, y_test), learning_rate, target_loss, max_steps, check_every)


def train_mlp(
    x: np.ndarray,
    y: np.ndarray,
    x_test: np.ndarray,
    y_test: np.ndarray,
    hidden: int,
    learning_rate: float,
    target_loss: float = 1e-3,
    max_steps: int = 10_000,
    check_every: int = 10,
    seed: int = 0,
) -> Outcome:
    """Train :class:`MLP` on the same data, each example flattened."""
    torch.manual_seed(seed)
    model = MLP(int(np.prod(x.shape[1:])), hidden)
    return fit(model, (x, y, x_test, y_test), learning_rate, target_loss, max_steps, check_every)


Cell = tuple[Callable[..., Outcome], dict[str, Any]]


def run_cell(cell: Cell) -> dict[str, Any]:
    train, arguments = cell
    return asdict(train(**arguments))


def run_cells(cells: Sequence[Cell], mode: Literal["threads", "processes"], workers: int = 2) -> list[dict[str, Any]]:
    """Run ``(train function, keyword arguments)`` cells and return their outcomes in order.

    ``"threads"`` runs them one after the other with ``workers`` threads inside each operation;
    ``"processes"`` spawns ``workers`` processes of one thread each, which draw cells in turn.
    In ``"processes"`` mode the cells' functions must be importable and the caller guarded by ``__main__``.
    """
    if mode == "threads":
        before = torch.get_num_threads()
        torch.set_num_threads(workers)
        try:
            return [run_cell(cell) for cell in cells]
        finally:
            torch.set_num_threads(before)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        return list(pool.map(run_cell, cells))
