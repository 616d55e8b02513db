"""The atlas: it says every verdict, loads nothing, and is well-formed and labelled."""

import re
from html.parser import HTMLParser

import pytest

from separatrix import papers
from separatrix.cli.entry import run
from separatrix.report.atlas import gather, render
from separatrix.report.certificates import kept
from tests.tiny import ID, TINY, tiny_papers

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Checks that elements are closed in order, and collects what the page would load, its ids and its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.loads, self.ids, self.words, self.tables, self.headings = [], [], [], [], 0, []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        self.loads += [given[name] for name in ("src", "srcset", "data") if given.get(name)]
        self.loads += [given["href"]] if tag == "link" else []
        self.ids += [given["id"]] if "id" in given else []
        self.tables += tag == "table"
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []

    def handle_startendtag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    store = tmp_path_factory.mktemp("report") / "store"
    lemma = ["certify", "pooling/lemma-5.2", "--store", str(store)]
    with tiny_papers():
        assert run(["reproduce", ID, "--store", str(store), "--workers", "0"]) == 0
        assert run(lemma) == run([*lemma, "--set", "version=printed"]) == 0
        assert run(["certify", "convolution/theorem-12", "--set", "n=4", "--set", "k=2", "--store", str(store)]) == 0
    return store


@pytest.fixture(scope="module")
def text(folder):
    with tiny_papers():
        return render(gather(folder))


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_it_is_one_file_that_loads_nothing(page, text):
    assert page.loads == []
    assert not re.search(r"@import|url\((?!#)", text.split("</style>")[0])
    assert "default-src 'none'" in text
    assert len(text) < 5e6
    assert str(TINY.study("quick").name) in text


def test_it_is_well_formed_and_labelled(page, text):
    assert len(page.ids) == len(set(page.ids))
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert text.count("<caption>") == page.tables
    assert 'role="img"' in text
    assert 'aria-label="A net &amp; an &lt;svm&gt;. net goes from' in text
    assert '<html lang="en">' in text


def test_every_claim_has_its_verdict(folder):
    with tiny_papers():
        atlas = gather(folder)
        known = papers.claims()
    verdicts = {view.claim.id: view.verdict for views in atlas.claims.values() for view in views}
    assert verdicts.keys() == known.keys()
    assert verdicts["parity/tiny-refuted"] == "refuted"
    assert verdicts["pooling/lemma-5.2"] == "supported"
    assert verdicts["convolution/theorem-12"] == "vacuous"
    assert verdicts["pooling/theorem-4.2"] == "not run"
    assert sum(atlas.verdict_counts().values()) == len(known)


def test_the_page_says_so(page):
    words = " ".join(" ".join(page.words).split())
    for expected in (
        "cats are <dogs>",
        "the net errs less",
        "18 cells planned, 0 diverged, 0 failed",
        "Points are means of test error over 2 seeds",
        "Hyperparameters were chosen on a validation sample",
        "Parseval alone bounds",
        "to run it: separatrix certify pooling/theorem-4.2",
    ):
        assert expected in words


def test_printed_statements_stand_beside_the_corrected(folder):
    with tiny_papers():
        (erratum,) = gather(folder).errata
    assert (erratum.id, erratum.printed["status"], erratum.corrected["status"]) == (
        "pooling/lemma-5.2",
        "violated",
        "holds",
    )


def test_the_same_certificate_replaces_itself(folder):
    before = len(kept(folder))
    assert run(["certify", "pooling/lemma-5.2", "--store", str(folder)]) == 0
    assert len(kept(folder)) == before == 3


def test_drawings_that_are_gone_are_said_to_be(folder, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for path in (copy / "figures").glob("*.svg"):
        path.unlink()
    with tiny_papers():
        assert "The drawing is not in the store any more" in render(gather(copy))


def test_the_command_writes_it(folder, capsys):
    with tiny_papers():
        assert run(["report", "--store", str(folder)]) == 0
    assert "1 refuted" in capsys.readouterr().out
    assert (folder / "report.html").stat().st_size > 10_000


def test_an_empty_store_has_a_page_too(tmp_path):
    (tmp_path / "parts").mkdir()
    assert "This store has no figure yet" in render(gather(tmp_path))


def test_a_summary_of_another_shape_is_left_out_and_told(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "pooling-fig3a-quick.json").write_text('{"figure": "pooling/fig3a", "chosen": []}')
    with pytest.warns(UserWarning, match="pooling-fig3a-quick.json is of another version"):
        assert "This store has no figure yet" in render(gather(tmp_path))
