"""The records in the repository are still those of the cells that the figures plan: nothing changed its key."""

from pathlib import Path

import pytest

from separatrix import papers
from separatrix.schema import FINAL
from separatrix.studies.store import Store

RECORDS = Path(__file__).parent.parent.parent / "records"
COMPLETE = {
    "pooling/fig3a": "paper",
    "pooling/fig4": "paper",
    "residual/fig4a": "paper",
    "parity/study-features": "paper",
}


@pytest.fixture(scope="module")
def statuses():
    return Store(RECORDS).statuses()


@pytest.mark.parametrize(("figure", "scale"), COMPLETE.items())
def test_the_figures_cells_are_in_the_records(figure, scale, statuses):
    planned = {
        cell.key for condition in papers.figure(figure).study(scale).conditions() for cell in condition.all_cells()
    }
    assert {key for key in planned if statuses.get(key) not in FINAL} == set()
