"""Charts: axes that end where the data does, learners in the study's order, and four files from one specification."""

import itertools
import math

import pytest

from separatrix.errors import InputError
from separatrix.studies.charts import curve_chart, panels
from separatrix.studies.curve import Curve, Point
from separatrix.studies.intervals import Summary, error_interval
from separatrix.studies.pages import save_chart, specification_of
from separatrix.studies.rulers import Ruler, spread
from separatrix.studies.theme import PALETTE

SIZES = (10.0, 25.0, 160.0)


def curve(names, sizes=SIZES, seeds=3):
    """Errors that fall to exactly 0, faster for the first learner."""
    points = {}
    for rank, name in enumerate(names):
        values = [[max(0.0, 0.4 - 0.003 * x / (rank + 1) + 0.01 * seed) for seed in range(seeds)] for x in sizes]
        points[name] = tuple(
            Point(x, error_interval(those, 100), tuple(those), tuple(range(seeds)))
            for x, those in zip(sizes, values, strict=True)
        )
    return Curve("train_size", "test_error", points)


def layers(chart):
    return chart.to_dict()["layer"]


def marks(chart):
    return [layer["mark"]["type"] for layer in layers(chart)]


def encoding(chart, mark, channel):
    """The channel in the first layer of the mark that has it."""
    return next(
        layer["encoding"][channel]
        for layer in layers(chart)
        if layer["mark"]["type"] == mark and channel in layer["encoding"]
    )


def test_learners_keep_the_order_of_the_study():
    names = ["zeta", "alpha", "mu"]
    scale = encoding(curve_chart(curve(names)), "line", "color")["scale"]
    assert scale["domain"] == names
    assert scale["range"] == list(PALETTE[:3])


def test_the_axis_ends_where_the_data_does():
    x = encoding(curve_chart(curve(["a", "b"])), "line", "x")
    low, high = x["scale"]["domain"]
    assert x["scale"]["type"] == "log"
    assert 10 / 1.2 < low < 10
    assert 160 < high < 160 * 1.2
    assert x["axis"]["values"] == list(SIZES)


@pytest.mark.parametrize(("count", "mark"), [(3, "area"), (4, "rule"), (9, "rule")])
def test_intervals_are_bands_for_few_and_bars_for_many(count, mark):
    chart = curve_chart(curve([f"learner {i}" for i in range(count)]))
    assert ("area" in marks(chart)) == (mark == "area")
    assert encoding(chart, mark, "y")["field"] == "low_drawn"
    assert len({encoding(chart, "line", "color")["scale"]["range"][i] for i in range(count)}) == count


def test_bars_at_one_place_stand_apart_and_tooltips_have_the_true_place():
    chart = curve_chart(curve([f"learner {i}" for i in range(5)]))
    rows = chart.layer[0].data.values
    drawn = sorted(row["x_drawn"] for row in rows if row["x"] == 25.0)
    assert all(one < other for one, other in itertools.pairwise(drawn))
    assert {item["field"] for item in encoding(chart, "point", "tooltip")} >= {"x", "mean", "low", "high", "std", "n"}


def test_the_subtitle_says_what_the_interval_is():
    title = curve_chart(curve(["a"])).to_dict()["title"]
    assert title["subtitle"] == "mean over 3 seeds, 95% interval"
    logarithmic = curve_chart(curve(["a"]), log_y=True)
    assert "a mean of 0 stands on the lower edge" in logarithmic.to_dict()["title"]["subtitle"]
    assert all(row["y_drawn"] > 0 for row in logarithmic.layer[0].data.values)


def test_what_is_not_finite_is_not_drawn():
    points = (Point(5.0, Summary(0.2, math.nan, 1, -math.inf, math.inf), (0.2,), (0,)),)
    chart = curve_chart(Curve("train_size", "train_loss", {"a": points}), reference=0.5)
    (row,) = chart.layer[-4].data.values
    assert (row["low"], row["high"], row["std"]) == (None, None, None)
    nothing = Curve("train_size", "train_loss", {"a": (Point(math.inf, points[0].summary, (0.2,), (0,)),)})
    with pytest.raises(InputError, match="at least one finite point"):
        curve_chart(nothing)


def test_saved_in_four_formats_that_load_nothing(tmp_path):
    files = save_chart(curve_chart(curve(["a", "b</script>"])), tmp_path / "figure-4.2")
    assert [path.name for path in files] == [f"figure-4.2.{suffix}" for suffix in ("svg", "png", "pdf", "html")]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    starts = {path.suffix: path.read_bytes()[:5] for path in files}
    assert starts[".svg"] == b"<svg "
    assert starts[".png"][1:4] == b"PNG"
    assert starts[".pdf"] == b"%PDF-"
    page = files[3].read_text()
    assert "src=" not in page.split("<script>")[0]
    assert specification_of(page)["title"]["text"] == "test error against training examples"


def test_ticks_between_whole_numbers_are_printed_in_full(tmp_path):
    chart = curve_chart(curve(["a"], sizes=(0.0, 0.0625, 0.25, 0.875)), log_x=False)
    text = save_chart(chart, tmp_path / "figure")[0].read_text()
    assert all(f">{tick}<" in text for tick in ("0.0625", "0.25", "0.875"))


def test_spread_keeps_labels_apart_in_order_and_inside():
    places = [5.0, 5.0, 5.0, 7.0, 90.0, 99.0, 100.0]
    found = spread(places, 10.0, 100.0)
    assert all(b - a >= 10 - 1e-9 for a, b in itertools.pairwise(found))
    assert found[0] >= 0
    assert found[-1] <= 100
    assert spread([10.0, 60.0], 10.0, 100.0) == [10.0, 60.0]


@pytest.mark.parametrize("log", [False, True])
def test_a_ruler_finds_values_again(log):
    ruler = Ruler.around([1.0, 7.0, 300.0], 500.0, log)
    for value in (1.0, 2.5, 300.0):
        assert ruler.value(ruler.pixel(value)) == pytest.approx(value)
    assert 0 < ruler.pixel(1.0) < ruler.pixel(300.0) < 500


def test_panels_share_their_vertical_axis_and_each_has_its_own_selection():
    """Selections of one name would be a warning, which is an error here."""
    wide = curve(["a", "b"])
    low = Curve("train_size", "test_error", {"a": wide.points["a"][2:], "b": wide.points["b"][2:]})
    made = panels({"wide": wide, "low": low, "again": low, "once more": wide}, title="four").to_dict()
    charts = made["concat"]
    assert [chart["title"]["text"] for chart in charts] == ["wide", "low", "again", "once more"]
    domains = {
        tuple(layer["encoding"]["y"]["scale"]["domain"])
        for chart in charts
        for layer in chart["layer"]
        if "scale" in layer["encoding"].get("y", {})
    }
    assert len(domains) == 1
    assert domains.pop()[1] >= max(point.summary.high for point in wide.points["b"])
    hovers = made["params"]
    assert len({hover["name"] for hover in hovers}) == len(charts)
    # a view's name in two panels would draw the one's points in the other
    views = [view for hover in hovers for view in hover["views"]]
    assert len(set(views)) == len(views) == len(charts)
