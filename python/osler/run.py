"""Run: everything known of one training, read from a log or made of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from osler import _core

if TYPE_CHECKING:
    import pandas


class Steps(NamedTuple):
    """First step, last step and number of points of a run's longest series."""

    first: int
    last: int
    points: int


class Points(NamedTuple):
    """The points of one series: exact for short ones, otherwise the extremes of each stretch and the newest points."""

    steps: list[int]
    values: list[float]
    times: list[float]


class Run:
    """One training run in bounded memory. `osler.read` makes it of a log, `osler.diagnose` says what is wrong with it."""

    def __init__(self, core: _core.Run) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """How a person calls the run: its folder or file."""
        return self._core.name

    @property
    def sources(self) -> list[str]:
        """The files it was read from."""
        return self._core.sources

    @property
    def format(self) -> str:
        """The id of the format they are in."""
        return self._core.format

    @property
    def steps(self) -> Steps:
        """The steps of the longest series."""
        return Steps(*self._core.steps())

    @property
    def configuration(self) -> dict[str, str]:
        """What the log says of the training's settings."""
        return self._core.configuration()

    @property
    def series(self) -> list[str]:
        """The names of the series."""
        return self._core.series_names()

    def points(self) -> dict[str, Points]:
        """The points of every series."""
        return {name: Points(*columns) for name, columns in self._core.points().items()}

    def __getitem__(self, name: str) -> Points:
        found = self._core.points().get(name)
        if found is None:
            raise KeyError(f"there is no series '{name}'; the run has: {', '.join(self.series[:8])}")
        return Points(*found)

    def to_pandas(self) -> pandas.DataFrame:
        """The points as a DataFrame: one row for each step, one column for each series."""
        import osler.pandas

        return osler.pandas.to_pandas(self)

    def diagnose(self, **options: Any) -> Any:
        """The same as `osler.diagnose(run, ...)`."""
        from osler.diagnosis import diagnose

        return diagnose(self, **options)

    def __repr__(self) -> str:
        steps = self.steps
        return f"<osler.Run {self.name!r}: {len(self.series)} series, steps {steps.first} to {steps.last}>"
