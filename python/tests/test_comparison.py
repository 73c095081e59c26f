"""Runs beside others: compare, baseline, plot, convert."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import osler


def _run(seed: int, steps: int = 200, floor: float = 0.1) -> dict[str, list[float]]:
    """A training that goes well, with a little noise that a seed makes."""
    noise = [math.sin(seed * 7.3 + i * 12.9898) * 0.01 for i in range(steps)]
    loss = [floor + 2 * math.exp(-i / 40) + noise[i] for i in range(steps)]
    return {"train_loss": loss, "val_loss": [each + 0.05 for each in loss], "lr": [0.1] * steps}


def test_two_runs_are_compared_from_whatever_holds_them(sick_log: Path, healthy_log: Path) -> None:
    found = osler.compare(healthy_log, sick_log)
    assert found.standing == "worse" and "worse" in repr(found)
    assert found.headline and found.headline in " ".join(found.text(100).split())
    assert json.loads(found.json())["schema"] == "osler-comparison/1"
    assert any("train_loss" in (each["a"]["series"], each["b"]["series"]) for each in found.series)
    assert "<pre>" in found._repr_html_()
    same = osler.compare(_run(1), _run(1))
    assert same.standing == "same"
    with pytest.raises(osler.InvalidError, match="there is no axis 'steps'"):
        osler.compare(healthy_log, sick_log, axis="steps")


def test_a_baseline_is_learned_kept_and_used(tmp_path: Path, sick_log: Path) -> None:
    learned = osler.baseline([_run(seed) for seed in range(6)], name="mine", all=True)
    assert learned.runs == 6 and "mine" in repr(learned)
    learned.save(tmp_path / "mine.json")
    again = osler.baseline(tmp_path / "mine.json")
    assert again.runs == 6 and str(again) == str(learned)
    plain, beside = osler.diagnose(sick_log), osler.diagnose(sick_log, baseline=again)
    assert plain.to_dict() != beside.to_dict() and plain.status == beside.status
    assert osler.baseline().runs > 100
    with pytest.raises(osler.InvalidError, match="at least 5 are needed"):
        osler.baseline([_run(1)])


def test_what_was_there_stays_when_a_file_cannot_be_written(tmp_path: Path, sick_log: Path) -> None:
    place = tmp_path / "run.svg"
    place.write_text("old")
    place.chmod(0o640)
    link = tmp_path / "link.svg"
    link.symlink_to(place)
    figure = osler.plot(sick_log, kind="overview")
    code = (
        "import resource, signal, sys\n"
        "from osler.whole import write_whole\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"  # the disk is full after a page
        "write_whole(sys.argv[1], b'x' * 100_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, place], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "File too large" in done.stderr, done.stderr
    assert place.read_text() == "old" and sorted(each.name for each in tmp_path.iterdir()) == ["link.svg", "run.svg"]
    figure.save(link)
    assert "<svg" in place.read_text() and link.is_symlink() and place.stat().st_mode & 0o777 == 0o640


def test_sick_runs_are_left_out_of_a_baseline(sick_log: Path) -> None:
    with pytest.raises(osler.InvalidError, match="0 runs can be learned from"):
        osler.baseline([sick_log] * 6)


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_a_run_is_drawn_into_a_file(tmp_path: Path, sick_log: Path, ending: str, start: bytes) -> None:
    figure = osler.plot(sick_log, tmp_path / f"run.{ending}", kind="overview")
    assert (tmp_path / f"run.{ending}").read_bytes().startswith(start)
    assert "<svg" in figure._repr_svg_()


def test_findings_and_experiments_are_drawn(sick_log: Path) -> None:
    assert "<svg" in osler.plot(sick_log, finding="loss-diverging").svg
    assert "<svg" in osler.plot(sick_log, series=["train_loss"], first=10, last=100, dark=True).svg
    with pytest.raises(osler.InvalidError, match="the run has no experiment 'lr-range-test'"):
        osler.plot(sick_log, experiment="lr-range-test")
    with pytest.raises(osler.InvalidError, match="there is no kind 'lines'"):
        osler.plot(sick_log, kind="lines")


def _has_program() -> bool:
    try:
        from osler.program import program_path

        return bool(program_path())
    except osler.NotFoundError:
        return False


needs_program = pytest.mark.skipif(not _has_program(), reason="the program osler is not beside this Python")


@needs_program
def test_a_log_is_converted_exactly(tmp_path: Path, sick_log: Path) -> None:
    osler.convert(sick_log, tmp_path / "run.jsonl")
    osler.convert(sick_log, tmp_path / "run.osler")
    osler.convert(sick_log, tmp_path / "board", to="tensorboard")
    points: dict[str, Any] = {name: osler.read(tmp_path / name)["train_loss"].values for name in ("run.jsonl", "run.osler")}
    points["board"] = osler.read(tmp_path / "board")["train_loss"].values
    true = osler.read(sick_log)["train_loss"].values
    assert all(values == true for values in points.values())


@needs_program
def test_a_conversion_that_cannot_be_says_why(tmp_path: Path, sick_log: Path) -> None:
    (tmp_path / "there.csv").write_text("step,loss\n")
    with pytest.raises(osler.OslerError, match="exists already"):
        osler.convert(sick_log, tmp_path / "there.csv")
    osler.convert(sick_log, tmp_path / "there.csv", force=True)
    with pytest.raises(FileNotFoundError, match="nothing.csv"):
        osler.convert(tmp_path / "nothing.csv", tmp_path / "out.csv")
    with pytest.raises(osler.OslerError, match="excel"):
        osler.convert(sick_log, tmp_path / "out.csv", to="excel")
