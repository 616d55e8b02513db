"""Convolutions as products of windows with a matrix against XLA's own, and what fraction of the peak trainings reach.

    python bench/convolutions.py [--trainings] [--out bench/results/convolutions.json]

One thread, processor time (so that neighbours on the machine count less). Each form computes a gradient in the weights,
and in the input but for first layers, by itself and as the step of a loop inside one compiled program, which is how
the engine trains. Rates are fractions of that of a plain product of two 2048 x 2048 matrices, measured in the same run.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import dataclasses
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from separatrix.learners import MLP, AdaDelta, StripCNN, StripLCN, Trained
from separatrix.learners.images import convolution
from separatrix.learners.strips import strip_windows
from separatrix.tasks import DigitSequences
from separatrix.training import Cell, Procedure, train

Form = Callable[[jax.Array, jax.Array], jax.Array]
Q, WIDTH, HEIGHT, STEPS = 1024, 24, 24, 2


def seconds(work: Callable[..., Any], *given: Any, repeats: int = 2) -> float:
    """The least processor time of a call, after one that compiles."""
    jax.block_until_ready(work(*given))
    found = []
    for _ in range(repeats):
        start = time.process_time()
        jax.block_until_ready(work(*given))
        found.append(time.process_time() - start)
    return min(found)


def peak() -> float:
    """Products and sums a second of a plain large matrix product."""
    a = jnp.ones((2048, 2048))
    return 2 * 2048**3 / seconds(jax.jit(lambda a: a @ a), a)


def strip_forms(stride: int) -> dict[str, Form]:
    def windows(x: jax.Array, W: jax.Array) -> jax.Array:
        return jnp.einsum("jpk,kq->jpq", strip_windows(x, WIDTH, stride), W)

    def xla(x: jax.Array, W: jax.Array) -> jax.Array:
        kernel = W.reshape(WIDTH, HEIGHT, Q)
        columns = jnp.moveaxis(x, 1, 2)
        return jax.lax.conv_general_dilated(
            columns, kernel, (stride,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")
        )

    return {"windows": windows, "xla": xla}


def image_forms() -> dict[str, Form]:
    def xla(x: jax.Array, W: jax.Array) -> jax.Array:
        kernel = W.reshape(3, 3, x.shape[3], -1)
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return {"windows": convolution, "xla": xla}


def local_forms() -> dict[str, Form]:
    """Without shared weights, at stride 8."""

    def batched(x: jax.Array, W: jax.Array) -> jax.Array:
        return jnp.einsum("jpk,jkq->jpq", strip_windows(x, WIDTH, 8), W)

    def one_by_one(x: jax.Array, W: jax.Array) -> jax.Array:
        pieces = strip_windows(x, WIDTH, 8)
        return jnp.stack([piece @ w for piece, w in zip(pieces, W, strict=True)])

    def xla(x: jax.Array, W: jax.Array) -> jax.Array:
        # its patches have the channels, here the rows, outermost
        kernel = W.reshape(len(W), WIDTH, HEIGHT, Q).swapaxes(1, 2).reshape(len(W), -1, Q)
        return jax.lax.conv_general_dilated_local(
            jnp.moveaxis(x, 1, 2), kernel, (8,), "VALID", (WIDTH,), dimension_numbers=("NWC", "WIO", "NWC")
        )

    return {"batched product": batched, "window by window": one_by_one, "xla": xla}


def compare(
    forms: dict[str, Form], x: jax.Array, W: jax.Array, products: int, first: bool, best: float
) -> dict[str, Any]:
    """Each form's fraction of the peak, by itself and in a loop."""
    found: dict[str, Any] = {}
    useful = 2 * products * (2 if first else 3)
    for name, form in forms.items():

        def loss(W: jax.Array, x: jax.Array, form: Form = form) -> jax.Array:
            return jnp.square(form(x, W)).sum()

        gradient = jax.grad(loss) if first else jax.grad(loss, argnums=(0, 1))

        def step(_: int, both: tuple[jax.Array, jax.Array], gradient: Any = gradient) -> tuple[jax.Array, jax.Array]:
            W, x = both
            change = gradient(W, x)
            return (W - 1e-9 * change, x) if first else (W - 1e-9 * change[0], x - 1e-9 * change[1])

        alone = seconds(jax.jit(gradient), W, x)
        looped = seconds(jax.jit(lambda W, x, step=step: jax.lax.fori_loop(0, STEPS, step, (W, x))), W, x) / STEPS
        found[name] = {"alone": useful / alone / best, "in a loop": useful / looped / best}
        print(f"    {name}: {found[name]['alone']:.2f} alone, {found[name]['in a loop']:.3f} in a loop", flush=True)
    return found


def training(architecture: Any, n: int, products: int, best: float) -> float:
    """The fraction of the peak that a training of figure 3 reaches, steps of AdaDelta and examples included."""
    sequences, learner = 60_000 // n, Trained(architecture, AdaDelta(batch=128))
    cell = Cell(DigitSequences(n), learner, None, 0, Procedure(epochs=1, test_size=128, validation_size=128))
    taken = {}
    for epochs in (1, 3, 1, 3):  # the first two compile
        start = time.process_time()
        list(train([dataclasses.replace(cell, procedure=dataclasses.replace(cell.procedure, epochs=epochs))]))
        taken[epochs] = time.process_time() - start
    steps = sequences // 128
    return 2 * 2 * products * 128 * steps / ((taken[3] - taken[1]) / 2) / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--trainings", action="store_true", help="the rates of whole trainings too (needs MNIST)")
    options = parser.parse_args()
    best = peak()
    print(f"peak: {best / 1e9:.0f} GFLOP/s")
    report: dict[str, Any] = {"peak_gflops": best / 1e9, "machine": platform.processor() or platform.machine()}
    key = jax.random.key(0)
    with jax.default_matmul_precision("highest"):
        for n, stride, points in ((19, 8, 16), (19, 1, 8)):
            x = jax.random.normal(key, (points, HEIGHT, 8 * n))
            W = jax.random.normal(key, (WIDTH * HEIGHT, Q))
            windows = (8 * n - WIDTH) // stride + 1
            name = f"strip of {n} digits, stride {stride}, {points} at a time"
            print(name)
            report[name] = compare(strip_forms(stride), x, W, points * windows * W.size, True, best)
        for side, channels, q in ((32, 3, 69), (16, 69, 69)):
            x, W = jax.random.normal(key, (16, side, side, channels)), jax.random.normal(key, (9 * channels, q))
            name = f"image of {side} x {side}, {channels} to {q} channels, 16 at a time"
            print(name)
            report[name] = compare(image_forms(), x, W, 16 * side**2 * W.size, channels == 3, best)
        x, W = jax.random.normal(key, (128, HEIGHT, 8 * 11)), jax.random.normal(key, (9, WIDTH * HEIGHT, Q))
        name = "locally connected, 11 digits, stride 8, 128 at a time"
        print(name)
        report[name] = compare(local_forms(), x, W, 128 * W.size, True, best)
    if options.trainings:
        n = 11
        sizes = {"FCN": 192 * n * Q, "CNN": (n - 2) * WIDTH * HEIGHT * Q}
        sizes["LCN"] = sizes["CNN"]
        networks = {"FCN": MLP((Q,)), "CNN": StripCNN(Q), "LCN": StripLCN(Q)}
        report[f"training of figure 3, n = {n}"] = {
            name: training(network, n, sizes[name], best) for name, network in networks.items()
        }
        print(report[f"training of figure 3, n = {n}"])
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
