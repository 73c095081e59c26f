"""Recording a run while it happens."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import osler


def _log_until_nan(run: osler.Recorder) -> None:
    for step in range(200):
        run.log({"loss": 2 / (1 + step) if step < 150 else math.nan, "lr": 0.1}, step=step)


def test_reports_at_any_time() -> None:
    run = osler.Recorder()
    for step in range(100):
        run.log({"loss": 2 / (1 + step)}, step=step)
    assert not run.report().sick
    for step in range(100, 120):
        run.log({"loss": math.nan}, step=step)
    report = run.report()
    assert report.sick and report.has("loss-nonfinite-later")


def test_keeps_the_run_in_a_file_that_every_tool_reads(tmp_path: Path) -> None:
    path = tmp_path / "run.osler"
    with osler.Recorder(path, config={"batch_size": 32}, csv=tmp_path / "run.csv") as run:
        _log_until_nan(run)
    kept = osler.read(path)
    assert kept.configuration["batch_size"] == "32"
    assert len(kept["loss"].values) == 200 and math.isnan(kept["loss"].values[-1])
    assert osler.diagnose(path).has("loss-nonfinite-later")
    assert osler.read(tmp_path / "run.csv").steps.last == 199


def test_goes_on_with_a_file_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "run.osler"
    for start in (0, 100):
        with osler.Recorder(path) as run:
            for step in range(start, start + 100):
                run.log({"loss": 1 / (1 + step)}, step=step)
    assert osler.read(path).steps == (0, 199, 200)


def test_counts_steps_by_itself() -> None:
    run = osler.Recorder()
    for _ in range(3):
        run.log({"loss": 1})
    assert run.report().to_dict()["run"]["steps"]["last"] == 2


def test_refuses_what_is_no_number() -> None:
    run = osler.Recorder()
    with pytest.raises(osler.InvalidError, match="'loss' is a str, not a number"):
        run.log({"loss": "much"})
    run.close()
    with pytest.raises(osler.InvalidError, match="after close"):
        run.log({"loss": 1})


def test_one_run_for_a_whole_script(tmp_path: Path) -> None:
    osler.start(tmp_path / "script.osler")
    osler.config({"lr": 0.1})
    for step in range(50):
        osler.log({"loss": 1 / (1 + step)}, step=step)
    report = osler.finish()
    assert report is not None and report.roles["train-loss"] == ["loss"]
    assert osler.finish() is None
    assert osler.read(tmp_path / "script.osler").steps.last == 49


def test_is_written_when_the_script_just_ends(tmp_path: Path) -> None:
    path = tmp_path / "ended.osler"
    words = f"import osler; r = osler.Recorder({str(path)!r})\nfor s in range(30): r.log({{'loss': s}}, step=s)"
    subprocess.run([sys.executable, "-c", words], check=True)
    assert osler.read(path).steps.last == 29


def test_tells_of_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "crash.osler"
    with pytest.raises(RuntimeError), osler.Recorder(path) as run:
        run.log({"loss": 1}, step=0)
        raise RuntimeError("out of luck")
    marks = osler.diagnose(path).to_dict()["marks"]
    assert [each["kind"] for each in marks] == ["crashed"] and "out of luck" in marks[0]["text"]


def test_a_fork_leaves_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "fork.osler"
    run = osler.Recorder(path)
    run.log({"loss": 1}, step=0)
    child = os.fork()
    if child == 0:
        run.log({"loss": 2}, step=1)
        run.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    run.log({"loss": 3}, step=2)
    run.close()
    assert osler.read(path)["loss"].values == [1, 3]
