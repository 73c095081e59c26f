"""Dicts, rows and DataFrames as runs."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest

import osler


def _columns(log: Path) -> dict[str, list[Any]]:
    rows = list(csv.DictReader(log.open()))
    return {name: [float(row[name]) if row[name] else None for row in rows] for name in rows[0]}


def test_columns_say_what_their_file_says(sick_log: Path) -> None:
    by_file, by_dict = osler.diagnose(sick_log), osler.diagnose(_columns(sick_log))
    assert by_dict.status == by_file.status
    assert [each.id for each in by_dict.findings] == [each.id for each in by_file.findings]
    assert [each.first_step for each in by_dict.findings] == [each.first_step for each in by_file.findings]


def test_rows_say_what_their_file_says(sick_log: Path) -> None:
    columns = _columns(sick_log)
    rows = ({name: values[i] for name, values in columns.items()} for i in range(len(columns["step"])))
    assert osler.diagnose(rows).has("loss-diverging")


def test_the_step_is_a_column_or_the_row() -> None:
    assert osler.diagnose({"loss": [1.0, 0.9, 0.8]}).to_dict()["run"]["steps"]["last"] == 2
    assert osler.diagnose({"it": [0, 10, 20], "loss": [1.0, 0.9, 0.8]}, step="it").to_dict()["run"]["steps"]["last"] == 20
    with pytest.raises(osler.InvalidError, match="there is no column 'steps'"):
        osler.diagnose({"loss": [1.0]}, step="steps")


def test_none_is_a_gap_and_nan_is_not() -> None:
    losses = [1 / (1 + i) for i in range(100)]
    assert not osler.diagnose({"loss": [*losses, None]}).has("loss-nonfinite-later")
    assert osler.diagnose({"loss": [*losses, math.nan]}).has("loss-nonfinite-later")


def test_refuses_what_is_no_table() -> None:
    with pytest.raises(osler.InvalidError, match="cannot diagnose a int"):
        osler.diagnose(3)
    with pytest.raises(osler.InvalidError, match="different lengths"):
        osler.diagnose({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(osler.InvalidError, match="row 0 is a int"):
        osler.diagnose([1, 2])


def test_takes_arrays_without_a_copy() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    loss = 2 / (1 + numpy.arange(1000))
    for dtype in ("float64", "float32"):
        report = osler.diagnose({"loss": loss.astype(dtype)[::2]})
        assert report.to_dict()["run"]["steps"]["count"] == 500


def test_whole_numbers_count_and_steps_are_read_where_they_lie() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    steps = numpy.arange(0, 3000, 3)
    report = osler.diagnose({"step": steps, "loss": 2 / (1 + steps), "tokens": steps * 512}).to_dict()["run"]
    assert (report["steps"]["first"], report["steps"]["last"], report["steps"]["count"]) == (0, 2997, 1000)
    swapped = {"step": steps.astype(">i8"), "loss": (2 / (1 + steps)).astype(">f8")}
    assert osler.diagnose(swapped).to_dict()["run"]["steps"] == report["steps"]


def test_data_frames_go_both_ways(sick_log: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.read_csv(sick_log)
    assert osler.diagnose(frame).has("loss-diverging")
    back = osler.read(sick_log).to_pandas()
    assert back.index.name == "step" and back["train_loss"].notna().sum() == frame["train_loss"].notna().sum()
    numbers = frame.set_index("step")["train_loss"].dropna()
    assert (back["train_loss"].dropna() == numbers).all()


def test_gaps_of_a_data_frame_are_no_nan() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    rows = 200
    loss = [1 / (1 + i) for i in range(rows)]
    validation = [loss[i] if i % 20 == 19 else math.nan for i in range(rows)]
    healthy = osler.diagnose(pandas.DataFrame({"train_loss": loss, "val_loss": validation}))
    assert not healthy.has("loss-nonfinite-later")
    broken = pandas.DataFrame({"train_loss": [*loss[:150], *[math.nan] * 50], "val_loss": validation})
    assert osler.diagnose(broken).has("loss-nonfinite-later")


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_reads_parquet_and_feather(sick_log: Path, tmp_path: Path, ending: str) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = tmp_path / f"run.{ending}"
    getattr(pandas.read_csv(sick_log), f"to_{ending}")(path)
    assert osler.diagnose(path).has("loss-diverging")
