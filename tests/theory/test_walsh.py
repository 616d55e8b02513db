"""The Walsh-Hadamard transform against its definition."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import InputError
from separatrix.theory.walsh import (
    character,
    fourier_coefficients,
    hypercube,
    inner_products,
    level_weights,
    points,
    walsh_hadamard,
)


def integer_functions(largest: int) -> st.SearchStrategy[list[int]]:
    return st.integers(0, 6).flatmap(
        lambda n: st.lists(st.integers(-largest, largest), min_size=1 << n, max_size=1 << n)
    )


@given(integer_functions(10**6))
def test_is_the_sum_against_every_character(values: list[int]) -> None:
    n = len(values).bit_length() - 1
    cube = points(0, 1 << n, n)
    direct = [int(np.dot(values, character(subset, cube).astype(np.int64))) for subset in range(1 << n)]
    assert walsh_hadamard(np.array(values)).tolist() == direct


@given(integer_functions(2**62))
def test_integers_stay_exact_beyond_int64(values: list[int]) -> None:
    twice = walsh_hadamard(walsh_hadamard(np.array(values)))
    assert [int(value) for value in twice] == [len(values) * value for value in values]


@given(st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_parseval(n: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=1 << n)
    coefficients = fourier_coefficients(values)
    assert np.sum(coefficients**2) == pytest.approx(np.mean(values**2), rel=1e-12)
    assert level_weights(coefficients).sum() == pytest.approx(np.mean(values**2), rel=1e-12)


def test_fractions_are_transformed_exactly() -> None:
    values = np.array([Fraction(1, 3), Fraction(1, 7), 0, 0], dtype=object)
    assert walsh_hadamard(values).tolist() == [Fraction(10, 21), Fraction(4, 21)] * 2


def test_the_least_significant_bit_is_the_first_coordinate_and_one_means_minus() -> None:
    assert points(0b001, 0b010, 3).tolist() == [[-1, 1, 1]]
    first = points(0, 8, 3)[:, 0]
    assert np.flatnonzero(walsh_hadamard(first)).tolist() == [0b001]


def test_the_input_is_left_alone() -> None:
    values = np.array([1.0, 2.0])
    walsh_hadamard(values)
    assert values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("chunk", [1, 3, 8, 100])
def test_chunks_cover_the_cube_in_order(chunk: int) -> None:
    blocks = list(hypercube(3, chunk))
    assert [start for start, _ in blocks] == list(range(0, 8, chunk))
    assert np.array_equal(np.concatenate([block for _, block in blocks]), points(0, 8, 3))


def test_inner_products_are_in_index_order() -> None:
    weights = np.array([0.5, -2.0, 7.0, 1.25])
    assert np.array_equal(inner_products(weights), points(0, 16, 4) @ weights)


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros(0), np.zeros((2, 2))])
def test_a_length_that_is_no_power_of_two_is_refused(values: np.ndarray) -> None:
    with pytest.raises(InputError, match="power of two"):
        walsh_hadamard(values)


def test_too_many_coordinates_are_refused_before_any_memory_is_taken() -> None:
    with pytest.raises(InputError, match="between 0 and 24"):
        next(hypercube(25))
