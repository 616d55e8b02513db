"""What the papers have: theorems, figures and the claims that these decide."""

import pytest

from separatrix import papers
from separatrix.errors import InputError


def test_every_claim_names_what_tests_it():
    figures, theorems = papers.figures(), papers.theorems()
    for id, claim in papers.claims().items():
        assert claim.id == id
        assert claim.paper in papers.PAPERS
        assert claim.test in (figures if claim.kind == "figure" else theorems)
    assert theorems.keys() <= papers.claims().keys()


def test_a_paper_without_a_module_adds_nothing(monkeypatch):
    monkeypatch.setitem(papers.PAPERS, "ghost", "Nobody, Nothing")
    assert papers.theorems("ghost") == {}
    assert papers.figures("ghost") == {}
    assert papers.claims("ghost") == {}


def test_an_import_that_fails_inside_a_module_is_not_hidden(monkeypatch):
    def broken(name):
        raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")

    monkeypatch.setattr(papers.importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        papers.theorems("pooling")


@pytest.mark.parametrize("find", [papers.theorem, papers.figure])
def test_unknown_ids_get_the_closest(find):
    with pytest.raises(InputError, match="did you mean 'pooling/"):
        find("poling/fig3a" if find is papers.figure else "poling/lemma-5.2")
    with pytest.raises(InputError, match="unknown paper"):
        papers.theorems("poling")
