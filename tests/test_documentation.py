"""The docs are what the code says: every public name has a docstring, and the reference page is the code's own."""

import doctest
import importlib
import sys

import pytest

from separatrix import papers
from tests.reference import PAGE, PUBLIC, first_paragraph, page, public_names


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_documented(module):
    found = importlib.import_module(module)
    assert first_paragraph(found)
    assert [name for name, thing in public_names(found) if not first_paragraph(thing)] == []


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_a_papers_map_names_each_of_its_results(paper):
    package = importlib.import_module(f"separatrix.papers.{paper}")
    assert [id for id in papers.theorems(paper) if f"``{id}``" not in package.__doc__] == []


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_a_results_example_is_found_and_run_with_the_others(paper):
    for result in papers.theorems(paper).values():
        found = doctest.DocTestFinder().find(sys.modules[result.__module__])
        assert f"{result.__module__}.{result.__name__}" in [test.name for test in found if test.examples], result.id


def test_the_reference_page_is_up_to_date():
    assert PAGE.read_text() == page(), "run make reference"
