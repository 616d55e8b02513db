r"""How small the error of a linear classifier of the bits themselves can be on D_A, exactly.

For h(x) = sign(<w, x> + b) and f_A = chi_A, |A| = k odd: the other bits are independent of (x_A, y), so some value of
theirs is as good as w off A, and h is a threshold function of the k bits of A. On the uniform component

    P(h != f_A) = 1/2 - E[h chi_A] / 2,   |E h chi_A| <= min_i Inf_i(h) <= I(h) / k <= C(k-1, (k-1)/2) / 2^(k-1)

as the coefficient of chi_A is at most the influence of any of its bits, and of all unate functions majority has the
largest total influence I. Majority reaches it, with the sign (-1)^((k-1)/2). On the aligned component it errs nowhere.
Where its sign is the wrong one (k = 3 mod 4), majority with one bit negated has the right sign, the same size, and for
k >= 3 still errs nowhere where all bits are equal. So one h is the best on both components, and on every mixture.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from separatrix.theory.parameters import Floats


def best_linear_error(k: int, mixture: Fraction = Fraction(1, 2)) -> Fraction:
    """The least error of a linear classifier where the aligned component has the weight ``mixture``:
    (1 - mixture) (1/2 - C(k-1, (k-1)/2) / 2^k).

    >>> [str(best_linear_error(k)) for k in (1, 3, 5, 7)], str(best_linear_error(5, Fraction(0)))
    (['0', '1/8', '5/32', '11/64'], '5/16')
    """
    return (1 - mixture) * (Fraction(1, 2) - Fraction(math.comb(k - 1, (k - 1) // 2), 2**k))


def best_separator(k: int) -> Floats:
    """The weights on A of a linear classifier with that error: majority, for k = 3 mod 4 with one bit negated.

    >>> best_separator(3).tolist()
    [-1.0, 1.0, 1.0]
    """
    w = np.ones(k)
    w[0] = -1.0 if k % 4 == 3 else 1.0
    return w
