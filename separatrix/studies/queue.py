"""What is to be run, and in which chunks: short enough to report often, long enough to cost nothing."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from separatrix.training import Cell

TARGET_SECONDS = 2.0
_LONGEST = 512


@dataclass(frozen=True)
class Chunk:
    """Cells of one fleet, run by one worker and stored as one part."""

    fleet: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Report:
    """What became of a chunk whose records are on disk."""

    chunk: Chunk
    statuses: Counter[str]
    seconds: float
    messages: tuple[str, ...] = ()


@dataclass
class _Fleet:
    cells: deque[Cell]
    lanes: int
    running: int = 0
    seconds_a_cell: float | None = None
    order: int = field(default=0)


class Queue:
    """The cells to run, by fleet. A worker stays with its fleet, so that each program is compiled once."""

    def __init__(self, cells: Sequence[Cell], lanes: Callable[[Cell], int]):
        self._fleets: dict[str, _Fleet] = {}
        self._alone: deque[Chunk] = deque()
        self._suspects: set[str] = set()
        for cell in sorted(cells, key=lambda cell: -cell.bucket):
            if cell.fleet not in self._fleets:
                self._fleets[cell.fleet] = _Fleet(deque(), lanes(cell), order=len(self._fleets))
            self._fleets[cell.fleet].cells.append(cell)

    def take(self, last_fleet: str | None) -> Chunk | None:
        """The next chunk for a worker that last ran ``last_fleet``; None where nothing is left."""
        if self._alone:
            alone = self._alone.popleft()
            self._fleets[alone.fleet].running += 1
            return alone
        name = self._choose(last_fleet)
        if name is None:
            return None
        fleet = self._fleets[name]
        count = fleet.lanes
        if fleet.seconds_a_cell is not None:
            fitting = TARGET_SECONDS / max(fleet.seconds_a_cell, 1e-9)
            count = fleet.lanes * max(1, min(int(fitting / fleet.lanes), _LONGEST))
        fleet.running += 1
        return Chunk(name, tuple(fleet.cells.popleft() for _ in range(min(count, len(fleet.cells)))))

    def done(self, chunk: Chunk, seconds: float) -> None:
        fleet = self._fleets[chunk.fleet]
        fleet.running -= 1
        fleet.seconds_a_cell = seconds / len(chunk.cells)

    def retry_alone(self, chunk: Chunk) -> bool:
        """Queue the cells of a lost chunk to be run one by one; False for a cell that was lost alone before."""
        self._fleets[chunk.fleet].running -= 1
        if len(chunk.cells) == 1 and chunk.cells[0].key in self._suspects:
            return False
        for cell in chunk.cells:
            self._suspects.add(cell.key)
            self._alone.append(Chunk(chunk.fleet, (cell,)))
        return True

    def _choose(self, last_fleet: str | None) -> str | None:
        waiting = {name: fleet for name, fleet in self._fleets.items() if fleet.cells}
        if last_fleet in waiting:
            return last_fleet
        if not waiting:
            return None
        return min(waiting, key=lambda name: (waiting[name].running, waiting[name].order))
