"""Osler and pandas: runs as DataFrames and back. `osler.diagnose` takes a DataFrame as it is."""

from __future__ import annotations

import os
from typing import Any, Optional, Union

import pandas

from osler import diagnosis, tables
from osler.report import Report
from osler.run import Run


def to_pandas(run: Run) -> pandas.DataFrame:
    """The points of a run: one row for each step, one column for each series, NaN where a series has no value."""
    columns = {}
    for name, points in run.points().items():
        series = pandas.Series(points.values, index=pandas.Index(points.steps, name="step"), dtype="float64")
        columns[name] = series[~series.index.duplicated(keep="last")]
    frame = pandas.DataFrame(columns)
    frame.index.name = "step"
    return frame.sort_index()


def read(path: Union[str, os.PathLike[str]], *, format: str = "", points: int = 1_000_000) -> pandas.DataFrame:
    """The run at a path as a DataFrame, with up to `points` points of each series."""
    return to_pandas(diagnosis.read(path, format=format, points=points))


def to_run(frame: pandas.DataFrame, *, step: Optional[str] = None, name: str = "run") -> Run:
    """A DataFrame as a run. `step` names the column that counts the steps; without it one is looked for."""
    return tables.run_of(frame, step=step, name=name)


def diagnose(frame: pandas.DataFrame, **options: Any) -> Report:
    """The same as `osler.diagnose(frame, ...)`."""
    return diagnosis.diagnose(frame, **options)
