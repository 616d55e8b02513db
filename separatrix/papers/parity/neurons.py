r"""One neuron's first gradient step on D_A in closed form, exactly and at any n.

A neuron has w in {-1, 0, 1}^n, bias b, readout u, and sigma = ReLU6. With x = z / sqrt n, all that the first step needs
of w is how many entries on A are +1 and -1 (``plus``, ``minus``), and |J|, how many off A are not zero: the
pre-activation is (S + r) / sqrt n + b for the sum S of A's part and r of |J| signs. As sigma' is the indicator of an
interval of integers ``lo`` <= S + r <= ``hi``, every expectation is a Krawtchouk sum over a window
(:func:`separatrix.theory.krawtchouk.krawtchouk_sum`), an integer over a power of two:

    E_{D^(1)}[chi_S(z) sigma'] = 2^-m (sum over the window of K_i(|S|; m)) prod_{S} w_i,   m = |supp w|, S in supp w

and 0 where w is zero somewhere in S. On D^(2) the bits of A are all c = +-1, f_A = c (k is odd), and S + r is
c (plus - minus) + r.

With eta_1 = 1 and lambda_1 = 1/2 the regulariser removes the old weights, and as y g^(0) = 0 < 1 everywhere,

    w_j^(1) = u E[f x_j sigma'],   b^(1) = b + u E[f sigma'],   u^(1) = E[f sigma]     (the paper prints a minus)
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

from separatrix.theory.krawtchouk import comb, krawtchouk_sum

HALF = Fraction(1, 2)
TOP = 6
_ROOT_BITS = 256


def floor_root(factor: Fraction, n: int) -> int:
    """The floor of factor * sqrt n, exactly.

    >>> floor_root(Fraction(3, 2), 4), floor_root(Fraction(-1, 8), 3), floor_root(Fraction(6), 7)
    (3, -1, 15)
    """
    square = factor * factor * n
    below = math.isqrt(square.numerator // square.denominator)
    if factor >= 0:
        return below
    return -below if below * below == square else -below - 1


def over_root(value: Fraction, n: int) -> Fraction:
    """value / sqrt n to 256 bits more than value has, as a fraction; exact where n is a square."""
    root = math.isqrt(n << 2 * _ROOT_BITS)
    return value * Fraction(1 << _ROOT_BITS, root)


@dataclass(frozen=True)
class Window:
    """The integers s with 0 < s / sqrt n + b < 6 (sigma' = 0 at a kink)."""

    lo: int
    hi: int

    @staticmethod
    def of(n: int, b: Fraction) -> Window:
        """
        >>> Window.of(4, Fraction(0)), Window.of(9, Fraction(1, 2))
        (Window(lo=1, hi=11), Window(lo=-1, hi=16))
        """
        return Window(floor_root(-b, n) + 1, -floor_root(b - TOP, n) - 1)

    def shifted(self, by: int) -> Window:
        """The r for which ``by`` + r lies in the window."""
        return Window(self.lo - by, self.hi - by)


@functools.lru_cache(maxsize=4096)
def mass(m: int, window: Window) -> Fraction:
    """P(lo <= r <= hi) for the sum r of m signs.

    >>> mass(2, Window(0, 5)), mass(3, Window(-1, 1)), mass(0, Window(1, 3))
    (Fraction(3, 4), Fraction(3, 4), Fraction(0, 1))
    """
    first, last = max(-((window.hi - m) // 2), 0), min((m - window.lo) // 2, m)
    if last < first:
        return Fraction(0)
    if last - first + 1 > (m + 1) // 2:  # the rest of the levels are fewer
        outside = _levels(m, 0, first - 1) + _levels(m, last + 1, m)
        return 1 - Fraction(outside, 1 << m)
    return Fraction(_levels(m, first, last), 1 << m)


def _levels(m: int, first: int, last: int) -> int:
    """C(m, first) + ... + C(m, last), each from the one before; the largest first."""
    if last < first:
        return 0
    centre = min(max(m // 2, first), last)
    top = comb(m, centre)
    total, term = top, top
    for i in range(centre, last):
        term = term * (m - i) // (i + 1)
        total += term
        if not term:
            break
    term = top
    for i in range(centre, first, -1):
        term = term * i // (m - i + 1)
        total += term
    return total


@functools.lru_cache(maxsize=4096)
def coefficient(s: int, m: int, window: Window) -> Fraction:
    """E[chi_S 1{lo <= sum <= hi}] over m signs, |S| = s; for s = 0 it is :func:`mass`, for s > m there is no S.

    >>> coefficient(1, 1, Window(1, 1)), coefficient(2, 3, Window(-1, 1)), coefficient(4, 3, Window(-1, 1))
    (Fraction(1, 2), Fraction(-1, 4), Fraction(0, 1))
    """
    if s == 0:
        return mass(m, window)
    if s > m:
        return Fraction(0)
    first, last = -((window.hi - m) // 2), (m - window.lo) // 2
    if last < first:
        return Fraction(0)
    return Fraction(krawtchouk_sum(last, s, m) - krawtchouk_sum(first - 1, s, m), 1 << m)


@functools.lru_cache(maxsize=1024)
def moment(s: int, m: int, window: Window) -> Fraction:
    """E[chi_S (sum) 1{lo <= sum <= hi}] over m signs, by Abel's summation over the levels.

    >>> moment(0, 2, Window(1, 9)), moment(1, 1, Window(1, 1)), moment(2, 2, Window(-2, 0))
    (Fraction(1, 2), Fraction(1, 2), Fraction(-1, 2))
    """
    if s > m:
        return Fraction(0)
    first, last = max(-((window.hi - m) // 2), 0), min((m - window.lo) // 2, m)
    if last < first:
        return Fraction(0)
    if s == 0:  # sum_{i <= t} (m - 2i) C(m, i) = (t + 1) C(m, t + 1)
        return Fraction((last + 1) * comb(m, last + 1) - first * comb(m, first), 1 << m)

    def weighted(t: int) -> int:
        """The sum over i <= t of i K_i(s; m) = t C_t - (C_0 + ... + C_{t-1}), C_i = K_i(s - 1; m - 1)."""
        return t * krawtchouk_sum(t, s, m) - (krawtchouk_sum(t - 1, s - 1, m - 1) if t > 0 else 0)

    levels = krawtchouk_sum(last, s, m) - krawtchouk_sum(first - 1, s, m)
    return Fraction(m * levels - 2 * (weighted(last) - weighted(first - 1)), 1 << m)


@dataclass(frozen=True)
class Neuron:
    """The class of the neurons with these counts; its first step is that of u = 1 (u^(1) does not depend on u)."""

    n: int
    k: int
    plus: int
    minus: int
    J: int
    b: Fraction

    @property
    def S(self) -> int:
        """The sum of w over A."""
        return self.plus - self.minus

    @property
    def window(self) -> Window:
        return Window.of(self.n, self.b)

    def _uniform(self, size: int, zero_in_A: bool = False) -> Fraction:
        """E over D^(1) of chi_T sigma' for |T| = size, T holding all of A but perhaps one place (where w may be 0)."""
        nonzero = self.plus + self.minus
        if nonzero != self.k - zero_in_A:
            return Fraction(0)
        sign = -1 if self.minus % 2 else 1
        return sign * coefficient(size, nonzero + self.J, self.window)

    def _aligned(self, s: int) -> tuple[Fraction, Fraction]:
        """E[chi_T sigma' | the bits of A are c] for c = 1, -1 and |T| = s places of J, all with w = 1."""
        return tuple(coefficient(s, self.J, self.window.shifted(c * self.S)) for c in (1, -1))  # type: ignore[return-value]

    @property
    def irrelevant(self) -> tuple[Fraction, Fraction]:
        """E[f z_j sigma'] / w_j on D^(1) and on D^(2), for j outside A with w_j != 0 (with w_j = 0 both are 0)."""
        if self.J == 0:
            return Fraction(0), Fraction(0)
        up, down = self._aligned(1)
        return self._uniform(self.k + 1), (up - down) / 2

    @property
    def bias(self) -> tuple[Fraction, Fraction]:
        """E[f sigma'] on D^(1) and on D^(2)."""
        up, down = self._aligned(0)
        return self._uniform(self.k), (up - down) / 2

    def relevant(self, w: int) -> tuple[Fraction, Fraction]:
        """E[f z_j sigma'] on D^(1) and on D^(2) for a j in A with w_j = ``w`` (one that the counts allow)."""
        up, down = self._aligned(0)
        return (w or 1) * self._uniform(self.k - 1, zero_in_A=w == 0), (up + down) / 2

    @property
    def entries(self) -> tuple[int, ...]:
        """The values that w takes on A."""
        zeros = self.k - self.plus - self.minus
        return tuple(w for w, count in ((1, self.plus), (-1, self.minus), (0, zeros)) if count)

    @property
    def readout(self) -> tuple[Fraction, Fraction]:
        """u^(1) = E[f sigma] on D^(1) and on D^(2), to 256 bits."""
        full = self.plus + self.minus == self.k
        sign = -1 if self.minus % 2 else 1
        uniform = sign * self._sigma(self.k, self.k + self.J, self.window) if full else Fraction(0)
        up, down = (self._sigma(0, self.J, self.window.shifted(c * self.S), c * self.S) for c in (1, -1))
        return uniform, (up - down) / 2

    def _sigma(self, s: int, m: int, window: Window, by: int = 0) -> Fraction:
        """E[chi_T sigma((by + sum) / sqrt n + b)] over m signs, |T| = s."""
        inside = coefficient(s, m, window)
        above = Window(window.hi + 1, m + abs(window.hi) + 1)
        linear = over_root(moment(s, m, window) + by * inside, self.n)
        return linear + self.b * inside + TOP * coefficient(s, m, above)


def mixed(parts: tuple[Fraction, Fraction]) -> Fraction:
    """The expectation over D_A: half of each component."""
    return (parts[0] + parts[1]) / 2


def starting_bias(k: int) -> Fraction:
    """b^(0) = 1 / (8k)."""
    return Fraction(1, 8 * k)
