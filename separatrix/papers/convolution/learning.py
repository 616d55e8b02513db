"""Theorem 4: gradient descent on both layers of a CNN learns k-patterns; and the same for locally connected nets."""

from __future__ import annotations

from typing import Annotated

from separatrix.papers.convolution.guarantee import Asked, guarantee
from separatrix.papers.convolution.setting import Law, MaybeExact, MaybePattern, MaybeSigma, Probability
from separatrix.rules import Maybe, Whole
from separatrix.theory.certificate import Finding
from separatrix.theory.parameters import How, MaybeCount, MaybeEpsilon, Seed, Share, Version
from separatrix.theory.results import result

MaybeBits = Annotated[int | None, Maybe(Whole(1, 10**18))]
MaybeWindow = Annotated[int | None, Maybe(Whole(1, 400))]


@result(
    "convolution/theorem-4",
    "Gradient descent on both layers of a CNN with q > 2^(k+3) log(2^k/delta) filters and eta = sqrt(n)/(sqrt(q) T) "
    "has, with probability 1 - delta, an average loss of at most 2 c n^2 k^2 2^k/q + 2 (2^k k)^2/sqrt(qn) + c^2 n^1.5 "
    "sqrt(q)/T on any k-pattern and distribution (printed: eta = sqrt(n)/sqrt(qT), any bounded 1-Lipschitz sigma).",
)
def theorem_4(
    n: MaybeBits = None,
    k: MaybeWindow = None,
    q: MaybeCount = None,
    T: MaybeCount = None,
    c: MaybeExact = None,
    delta: Share = 0.05,
    epsilon: MaybeEpsilon = None,
    g: MaybePattern = None,
    j: MaybeCount = None,
    activation: MaybeSigma = None,
    distribution: Law = "uniform",
    p: Probability = 0.5,
    method: How = "auto",
    version: Version = "corrected",
    seed: Seed = 0,
) -> Finding:
    r"""Theorem 4 of Malach & Shalev-Shwartz, and the chain of inequalities that leads to it, on a real run.

        1/T sum_t L(h^(t)) <= term_1 + term_2 + term_3
        term_1 = 2 c n^2 k^2 2^k / q    term_2 = 2 (2^k k)^2 / sqrt(qn)    term_3 = c^2 n^1.5 sqrt(q) / T

    ======================  =========================================================================
    n, k, q, T, c, delta    the paper's; n = 3, k = 2 by default, c the largest |sigma|, q and T such
                            that ``total`` is at most ``epsilon`` (1/2 if not given)
    ``epsilon``             asks for ``smallest_q``, the least q for which some T has total <= epsilon,
                            and ``smallest_T``, the least such T, by exact search; without it they are
                            those at which the bound says anything at all (total <= 1)
    ``g``, ``j``            the k-pattern (parity in the middle by default)
    ``distribution``        ``uniform``, ``biased`` (P(x_i = 1) = ``p``) or ``markov`` (flips with ``p``)
    ``method``              ``auto`` runs where that is affordable; ``closed-form`` never does
    ======================  =========================================================================

    The run is population gradient descent on both layers by the engine. Neurons of equal initial signs stay equal, so
    that 2^k classes are the whole network, whatever q (:mod:`.classes`). Measured against the proof, step by step:

        average loss <= average L(h_{u*, W^(t)}) + ||u*||^2 / (2 eta T) + eta average ||dL/du||^2     (Theorem 10)
        L(h_{u*, W^(t)}) <= term_1 (Lemmas 6, 9)    ||u*||^2 / (2 eta T) <= term_2    eta ||dL/du||^2 <= term_3

    Theorem 10 is about t = 0..T-1 (``average_loss_from_0``), the theorem about t = 1..T (``average_loss``): with one
    more step of it, eta/2 in the place of eta, and L(h^(0)) = 1, the same bound follows.

    **As printed** (``version=printed``) the step is sqrt(n)/sqrt(qT), with which the proof's last line is not the
    stated bound (though runs are no worse for it), and sigma need only be bounded and 1-Lipschitz: by default the
    counterexample n = k = 1, sigma = hard_tanh and g = 1, where dL/du = -E sigma(w x) = 0 at u = 0, so that nothing
    ever moves and the loss is 1.

    >>> found = theorem_4(method="closed-form", n=16, k=4, epsilon="1/10")
    >>> found.bound["smallest_q"], found.bound["smallest_T"] > 0
    (422047770, True)
    """
    if version == "printed" and (n, k, g, activation) == (None, None, None, None):
        n, k, g, activation = 1, 1, "++", "hard_tanh"
    asked = Asked.of(n, k, q, T, c, delta, epsilon, g, j, activation, distribution, p, version, seed, shared=True)
    return guarantee(asked, method)


@result(
    "convolution/theorem-4-lcn",
    "Theorem 4 for locally connected nets: without weight sharing the same holds, and the first term is n times "
    "smaller, 2 c n k^2 2^k/q.",
)
def theorem_4_lcn(
    n: MaybeBits = None,
    k: MaybeWindow = None,
    q: MaybeCount = None,
    T: MaybeCount = None,
    c: MaybeExact = None,
    delta: Share = 0.05,
    epsilon: MaybeEpsilon = None,
    g: MaybePattern = None,
    j: MaybeCount = None,
    activation: MaybeSigma = None,
    distribution: Law = "uniform",
    p: Probability = 0.5,
    method: How = "auto",
    seed: Seed = 0,
) -> Finding:
    r"""Section 3.1 of Malach & Shalev-Shwartz ("it is easy to verify"), worked out in ``docs/convolution-lcn.md``.

    Each window has weights W^(j) of its own, q filters each, and is moved by its own readout alone:

        ||W^(j,T) - W^(j,0)|| <= c eta^2 T^2 sqrt(qk)
        |L(h_{u*, W^(T)}) - L(h_{u*, W^(0)})| <= c eta^2 T^2 k sqrt(q) sum_j ||u*^(j)||

    each without Lemma 8's and 9's factor n. With the same step size the average loss is at most

        2 c n k^2 2^k / q + 2 (2^k k)^2 / sqrt(qn) + c^2 n^1.5 sqrt(q) / T

    and Lemma 6 is needed for the window of the pattern only, with the same q. ``average_loss_cnn`` and ``total_cnn``
    are the CNN's at the same q and T. Arguments as in :func:`theorem_4`.

    >>> theorem_4_lcn(method="closed-form", n=16, k=4, epsilon="1/10").bound["smallest_q"]
    419594225
    """
    asked = Asked.of(n, k, q, T, c, delta, epsilon, g, j, activation, distribution, p, "corrected", seed, shared=False)
    return guarantee(asked, method)
