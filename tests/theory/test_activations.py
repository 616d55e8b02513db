"""Activations: exact against float64, derivatives against differences, suprema, kinks."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import InputError
from separatrix.theory.activations import ACTIVATIONS, activation

names = pytest.mark.parametrize("name", sorted(ACTIVATIONS))


@names
@given(z=st.fractions(-40, 40, max_denominator=16))
def test_exact_and_float_agree(name: str, z: Fraction) -> None:
    sigma = activation(name)
    at = np.array([float(z)])
    assert float(sigma.exact_values([z], 100)[0]) == pytest.approx(sigma.value(at)[0], rel=1e-12, abs=1e-15)
    assert float(sigma.exact_derivatives([z], 100)[0]) == pytest.approx(sigma.derivative(at)[0], rel=1e-9, abs=1e-14)


@names
def test_derivative_is_the_slope_away_from_kinks(name: str) -> None:
    sigma = activation(name)
    z = np.array([-7.3, -1.2, -0.4, 0.3, 0.9, 1.7, 5.5, 6.1])
    step = 1e-6
    slope = (sigma.value(z + step) - sigma.value(z - step)) / (2 * step)
    assert sigma.derivative(z) == pytest.approx(slope, abs=1e-8)


@names
def test_derivative_is_zero_at_every_kink(name: str) -> None:
    sigma = activation(name)
    kinks = [Fraction(kink) for kink in sigma.kinks]
    assert not np.any(sigma.derivative(np.array(sigma.kinks, dtype=float)))
    assert not any(sigma.exact_derivatives(kinks, 10))
    for kink in sigma.kinks:
        left, right = sigma.derivative(np.array([kink - 1e-3, kink + 1e-3]))
        assert left != right


@names
def test_suprema_are_reached_and_not_passed(name: str) -> None:
    sigma = activation(name)
    z = np.linspace(-50, 50, 20_001)
    assert np.abs(sigma.derivative(z)).max() == pytest.approx(sigma.derivative_sup)
    if np.isfinite(sigma.sup):
        assert np.abs(sigma.value(z)).max() == pytest.approx(sigma.sup)
    else:
        assert sigma.value(z).max() == 50


@pytest.mark.parametrize("name", ["tanh", "erf"])
@pytest.mark.parametrize("bits", [20, 150])
def test_rounded_values_are_within_half_a_unit(name: str, bits: int) -> None:
    z = [Fraction(m, 2) for m in range(-60, 61)]
    sigma = activation(name)
    for few, many in (
        (sigma.exact_values(z, bits), sigma.exact_values(z, bits + 200)),
        (sigma.exact_derivatives(z, bits), sigma.exact_derivatives(z, bits + 200)),
    ):
        assert max(abs(a - b) for a, b in zip(few, many, strict=True)) <= Fraction(1, 2 << bits) * Fraction(101, 100)


def test_a_misspelt_name_gets_the_closest_match() -> None:
    with pytest.raises(InputError, match="did you mean 'hard_tanh'"):
        activation("hardtanh")
