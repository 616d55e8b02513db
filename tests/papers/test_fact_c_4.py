"""Fact C.4: the formula against autodiff, and that a wrong one is caught."""

import numpy as np
import pytest

from separatrix.papers.residual import network
from separatrix.papers.residual.theorems import fact_c_4


@pytest.mark.parametrize("setting", [{}, {"d": 1, "k": 1, "m": 1}, {"d": 12, "k": 5, "m": 40, "sigma_v": 7, "seed": 3}])
def test_formula_is_the_gradient(setting):
    found = fact_c_4(inputs=3, **setting)
    assert found.status == "holds"
    assert found.measured["product_gap"] < 1e-9


def test_without_the_skip_it_is_not(monkeypatch):
    def without(self, W, x):
        inner = self.A @ (self.on_W(x) * (W @ network.with_bias(x)))
        return np.asarray(self.A @ (self.on_V(x) * ((self.V0 + self.V) @ np.append(inner, 0.0))))

    monkeypatch.setattr(network.ResNet, "f", without)
    assert fact_c_4(inputs=2).status == "violated"
