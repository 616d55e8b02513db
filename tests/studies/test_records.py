"""The records in the repository are still those of the cells that the figures plan: nothing changed its key."""

from pathlib import Path

import pytest

from separatrix import papers
from separatrix.schema import FINAL
from separatrix.studies.figures import JointFigure
from separatrix.studies.store import Store

RECORDS = Path(__file__).parent.parent.parent / "records"
COMPLETE = (
    "convolution/fig3",
    "convolution/fig4-independent",
    "convolution/section-5-order",
    "parity/study-features",
    "parity/study-samples",
    "pooling/fig3a",
    "pooling/fig4",
    "residual/fig2b",
    "residual/fig4a",
    "residual/samples",
)


@pytest.fixture(scope="module")
def statuses():
    return Store(RECORDS).statuses()


@pytest.mark.parametrize("id", COMPLETE)
def test_the_figures_cells_are_in_the_records(id, statuses):
    figure = papers.figure(id)
    studies = figure.studies("paper").values() if isinstance(figure, JointFigure) else [figure.study("paper")]
    planned = {cell.key for study in studies for condition in study.conditions() for cell in condition.all_cells()}
    assert {key for key in planned if statuses.get(key) not in FINAL} == set()
