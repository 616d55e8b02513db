"""Krawtchouk values against their definition, their symmetries and the hypercube."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.theory.krawtchouk import krawtchouk, krawtchouk_values, symmetric_coefficient
from separatrix.theory.walsh import levels, walsh_hadamard

levels_of_cubes = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(levels_of_cubes)
def test_recurrence_is_the_definition(case: tuple[int, int]) -> None:
    s, n = case
    assert list(krawtchouk_values(s, n)) == [krawtchouk(m, s, n) for m in range(n + 1)]


@given(levels_of_cubes)
def test_symmetries(case: tuple[int, int]) -> None:
    s, n = case
    values = list(krawtchouk_values(s, n))
    for m in range(n + 1):
        assert values[n - m] == (-1) ** s * values[m]
        assert math.comb(n, s) * values[m] == math.comb(n, m) * krawtchouk(s, m, n)


@given(levels_of_cubes, st.data())
def test_orthogonality(case: tuple[int, int], data: st.DataObject) -> None:
    s, n = case
    other = data.draw(st.integers(0, n))
    product = sum(
        Fraction(a * b, math.comb(n, m))
        for m, (a, b) in enumerate(zip(krawtchouk_values(s, n), krawtchouk_values(other, n), strict=True))
    )
    assert product == (Fraction(2**n, math.comb(n, s)) if s == other else 0)


@given(st.integers(0, 7).flatmap(lambda n: st.lists(st.integers(-99, 99), min_size=n + 1, max_size=n + 1)))
def test_coefficients_of_a_symmetric_function(values: list[int]) -> None:
    n = len(values) - 1
    ones = levels(n)
    transform = walsh_hadamard(np.array(values)[ones])
    for subset, total in enumerate(transform):
        s = subset.bit_count()
        assert symmetric_coefficient(s, [Fraction(value, 3) for value in values]) == Fraction(int(total), 3 << n)


@pytest.mark.parametrize("s", [-1, 4])
def test_no_set_no_coefficient(s: int) -> None:
    assert symmetric_coefficient(s, [1, 2, 3, 4]) == 0


def test_thousands_of_bits_take_no_time() -> None:
    start = time.perf_counter()
    coefficient = symmetric_coefficient(5000, [m**2 for m in range(10_001)])
    assert coefficient == 0  # a quadratic has no coefficient above level 2
    assert time.perf_counter() - start < 2
