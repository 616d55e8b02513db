"""Section 6: FCN, CNN and LCN on sequences of digits whose label is the parity of three of them (figures 3 and 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from separatrix.learners import MLP, AdaDelta, StripCNN, StripLCN, Trained
from separatrix.studies.figures import Scale
from separatrix.studies.study import Study
from separatrix.tasks import DigitSequences
from separatrix.training import Procedure

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from separatrix.studies.result import Result

Places = Literal["middle", "far"]
BATCH = 128


def sequences(
    places: Places,
    scale: Scale,
    *,
    name: str,
    stride: int = 8,
    composition: str = "cut",
    loss: str = "logistic",
    train_size: int | None = None,
) -> Study:
    """One hidden layer of 1024 ReLU units (a kernel of 24 x 24 has 1024 filters), AdaDelta at rate 1, 30 epochs.

    The paper says that much. Ours: minibatches of 128, standardised pixels, the logistic loss (``loss``), and as many
    sequences an epoch as a new shuffle of the 60000 training digits is cut into (``composition``, ``train_size``).
    A stride of 8 columns aligns kernels with digits; a stride of 1 is the textbook's CNN, eight times the work (29
    TFLOP a training at n = 19). At n = 3 a kernel covers the whole strip: the three networks are then the same class of
    functions, and the two tasks the same. Five seeds in the paper's own reading, three in the others. The quick scale
    has fewer units, sequences and epochs.
    """
    paper = scale == "paper"
    units = 1024 if paper else 128
    counts = (3, 5, 7, 9, 11, 15, 19) if paper else (3, 7)
    as_printed = stride > 1 and composition == "cut"
    epoch = train_size if paper or train_size is not None else 5_000

    def trained(architecture: MLP | StripCNN | StripLCN) -> Trained:
        return Trained(architecture, AdaDelta(batch=BATCH), loss)

    learners = {"FCN": trained(MLP((units,)))}
    learners["CNN"] = trained(StripCNN(units, stride=stride))
    learners["LCN"] = trained(StripLCN(units, stride=stride))
    apart = {n: 1 if places == "middle" else (n - 1) // 2 for n in counts}
    return Study(
        task=[DigitSequences(n, apart[n], composition=composition) for n in counts],
        learners=learners,
        train_size=epoch,
        seeds=(5 if as_printed else 3) if paper else 2,
        procedure=Procedure(epochs=30 if paper else 12, test_size=2000 if paper else 1000, validation_size=100),
        name=f"{name} ({scale})",
    )


def draw(title: str) -> Callable[[Result], alt.TopLevelMixin]:
    """Test error against n after the last epoch, and against the epoch at the greatest n."""

    def chart(result: Result) -> alt.TopLevelMixin:
        import altair as alt

        from separatrix.studies.charts import curve_chart

        greatest = max(task.n for task in result.study.tasks if isinstance(task, DigitSequences))
        size: dict[str, Any] = {"width": 360, "height": 300, "reference": 0.5, "log_x": False}
        left = curve_chart(
            result.curve("n"), title="After the last epoch", x_title="digits n", y_title="test error", **size
        )
        right = curve_chart(
            result.history(where={"n": greatest}, epochs=True),
            title=f"Along the training, n = {greatest}",
            x_title="epoch",
            y_title="test error",
            interval="band",
            **size,
        )
        return alt.hconcat(left, right, title=alt.Title(title, fontSize=18, offset=12), spacing=30)

    return chart
