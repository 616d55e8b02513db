"""Exact rationals of any length are printed in full."""

import math
import sys
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.theory.certificate import named_numbers


@given(st.integers(-(10**6), 10**6), st.integers(0, 60_000), st.integers(-5, 5))
def test_any_length(base: int, shift: int, offset: int) -> None:
    number = (base << shift) + offset
    text = named_numbers({"x": Fraction(number)})["x_exact"].removesuffix("/1")
    assert text == text.lstrip("0") or text == "0"
    digits = text.lstrip("-")
    value = 0
    for start in range(0, len(digits), 1000):
        piece = digits[start : start + 1000]
        value = value * 10 ** len(piece) + int(piece)
    assert (-value if text.startswith("-") else value) == number


@pytest.fixture
def digits_limited() -> Iterator[None]:
    """Python's default limit, which the command line lifts for its process."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(4300)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("digits_limited")
def test_longer_than_python_prints_by_itself() -> None:
    number = math.factorial(5000)
    with pytest.raises(ValueError, match="limit"):
        str(number)
    assert len(named_numbers({"x": Fraction(1, number)})["x_exact"]) > sys.get_int_max_str_digits()
