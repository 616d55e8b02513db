"""Taylor series: exact coefficients against automatic differentiation and mpmath, and what is refused."""

from fractions import Fraction

import mpmath
import pytest

from separatrix.errors import InputError
from separatrix.theory.series import NAMED, by_autodiff, series


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "expm1", "tanh", "sigmoid"])
def test_coefficients_are_those_of_mpmath(name):
    of = {"sigmoid": lambda z: 1 / (1 + mpmath.exp(-z))}.get(name, getattr(mpmath, name, None))
    with mpmath.workdps(40):
        expected = mpmath.taylor(of, 0, 9)
        for own, other in zip(series(name).coefficients(9), expected, strict=True):
            assert abs(mpmath.mpf(own.numerator) / own.denominator - other) < 1e-12
        t = mpmath.mpf("0.7")
        total = sum(
            abs(mpmath.mpf(c.numerator) / c.denominator) * t**i for i, c in enumerate(series(name).coefficients(90))
        )
        assert abs(NAMED[name].absolute(t) - total) < 1e-15


def test_taylor_mode_of_any_function():
    assert by_autodiff(lambda z: z * z * (3 - z), 4) == pytest.approx([0, 0, 3, -1, 0])
    assert by_autodiff("series:2,0,-1/4", 3) == pytest.approx([2, 0, -0.25, 0])


def test_parts_of_a_series():
    exp = series("exp")
    odd = exp.keeping("odd", lambda i: i % 2 == 1)
    even = exp.keeping("even", lambda i: i > 0 and i % 2 == 0, shift=1)
    assert odd.coefficients(3) == [0, 1, 0, Fraction(1, 6)]
    assert even.coefficients(3) == [0, Fraction(1, 2), 0, Fraction(1, 24)]
    assert series("tanh").keeping("none", lambda i: i > 0 and i % 2 == 0, shift=1).degree == 0
    assert exp.truncated(2).coefficients(4) == [1, 1, Fraction(1, 2), 0, 0]


@pytest.mark.parametrize("name", ["sine", "power:x", "power:-1", "series:", "series:1,1/0", "power:1000"])
def test_bad_names_are_refused(name):
    with pytest.raises(InputError, match="phi"):
        series(name)
