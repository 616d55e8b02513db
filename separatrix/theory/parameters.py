"""What the papers' results have in common: the rules of parameters that many of them take, and their arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from separatrix.rules import Choice, Maybe, Real, Whole

Count = Annotated[int, Whole(1)]
MaybeCount = Annotated[int | None, Maybe(Whole(1))]
Positive = Annotated[float, Real(above=0)]
MaybePositive = Annotated[float | None, Maybe(Real(above=0))]
Share = Annotated[float, Real(above=0, below=1)]
Seed = Annotated[int, Whole(0, 2**31 - 1)]
MaybeEpsilon = Annotated[Fraction | None, Maybe(Real(low=1e-100, high=1e9, exact=True))]
"""What a bound is to come down to, by exact search."""
Version = Annotated[str, Choice("corrected", "printed")]
"""Of a statement with a misprint: as it should be, or as it stands."""
How = Annotated[str, Choice("auto", "closed-form")]
"""Whether a theorem about training is also run where that is affordable."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
