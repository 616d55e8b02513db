"""The experiments that the paper lacks, each with its picture and its claims; what they train is in :mod:`.studies`."""

from __future__ import annotations

from fractions import Fraction

from separatrix.papers.parity import claims, pictures, studies
from separatrix.papers.parity.costs import REACHED, UNIFORM
from separatrix.papers.parity.linear import best_linear_error
from separatrix.papers.parity.studies import KS, K, N
from separatrix.studies.figures import Figure, JointFigure, Picture

FIGURES = (
    Figure(
        id="parity/study-samples",
        statement=f"Error on D_A and on its uniform component against samples, n = {N}, k = {K}: a network, and ridge "
        "regression on fixed embeddings",
        study=studies.samples,
        draw=lambda result: pictures.error_and_uniform(result, f"Learning a parity of {K} of {N} bits", K),
        claims=claims.SAMPLES,
        y=("test_error", UNIFORM),
        notes="Hyperparameters are chosen by the validation error on D_A; network-beats-linear lets the linear methods "
        "choose on the test sample of the uniform component itself.",
    ),
    Figure(
        id="parity/study-svm",
        statement="The same for support vector machines on three kernels",
        study=studies.svm,
        draw=lambda result: pictures.error_and_uniform(result, f"Support vector machines, n = {N}, k = {K}", K),
        claims=claims.SVM,
        y=("test_error", UNIFORM),
    ),
    Figure(
        id="parity/study-uniform",
        statement="Trained and tested on the uniform distribution alone: test error against samples, n = 20, k = 5",
        study=studies.uniform,
        draw=lambda result: result.curve().plot(
            title=f"The uniform distribution alone: a parity of {K} of {N} bits", x_title="training samples"
        ),
        claims=claims.UNIFORM_ALONE,
    ),
    JointFigure(
        id="parity/study-features",
        statement="Error on the uniform component against the number of neurons or of random ReLU features, n = 2k, "
        f"and what it takes to come down to {REACHED}",
        studies=studies.features,
        draw=lambda results: pictures.size_and_cost(
            results, ("N", "q"), "How many neurons, how many features? n = 2k", "features N, or neurons q"
        ),
        claims=claims.FEATURES,
        x=("N", "q"),
        y=UNIFORM,
        notes="Random features are fitted by ridge regression to the exact population, networks trained on a sample. "
        "With n = 2k the number of points grows as 4^k; the third curve has n = 12 (quick: 10) for every k.",
    ),
    Figure(
        id="parity/study-k",
        statement=f"Samples needed for an error of {REACHED} on the uniform component of D_A against k, n = 3k",
        study=studies.in_k,
        draw=lambda result: pictures.size_and_cost(
            result, "train_size", "How many samples? n = 3k", "training samples"
        ),
        claims=claims.IN_K,
        y=UNIFORM,
        panels={f"k = {k}": {"k": k} for k in KS},
    ),
    Figure(
        id="parity/study-mixture",
        statement="Error on the uniform component against the weight of the second component of D_A",
        study=studies.mixture,
        draw=lambda result: result.curve("mixture", UNIFORM).plot(
            title="Does the second component help?",
            x_title="weight of the component whose bits in A are equal",
            y_title="error on the uniform component",
            log_x=False,
            every_seed=True,
            reference=float(best_linear_error(K, Fraction(0))),
            reference_label="best linear classifier of the bits",
        ),
        claims=claims.MIXTURE,
        x="mixture",
        y=UNIFORM,
    ),
    Figure(
        id="parity/study-two-phase",
        statement="The algorithm of Theorem 2 far outside its regime: error on the uniform component against q",
        study=studies.two_phase,
        draw=lambda result: result.curve("q", UNIFORM).plot(
            title="Theorem 2's algorithm where its bound says nothing, k = 3",
            x_title="pairs of neurons q",
            y_title="error on the uniform component",
            every_seed=True,
            reference=0.5,
        ),
        claims=claims.TWO_PHASE,
        x="q",
        y=UNIFORM,
    ),
    Picture(
        id="parity/first-step",
        statement="The weights and biases of 40 neurons before and after the first gradient step on D_A, n = 301, "
        "k = 7, exactly",
        draw=lambda _: pictures.first_step_picture(n=301, k=7, q=40),
    ),
)
