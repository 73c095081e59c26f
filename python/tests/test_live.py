"""Logs that grow, and scripts that only print."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import osler


def _line(step: int) -> str:
    loss = 2 / (1 + step) if step < 150 else float("nan")
    return f"step {step} loss {loss:.5f} lr 0.1"


def test_a_log_is_followed_until_it_falls_ill(tmp_path: Path) -> None:
    log = tmp_path / "run.csv"

    def write() -> None:
        with log.open("w") as file:
            file.write("step,loss\n")
            for step in range(300):
                file.write(f"{step},{2 / (1 + step) if step < 150 else 'nan'}\n")
                if step % 50 == 49:
                    file.flush()
                    time.sleep(0.05)

    writer = threading.Thread(target=write)
    writer.start()
    statuses = [report.status for report in osler.watch(log, every=0.01, idle=1.0)]
    writer.join()
    assert statuses[-1] == "critical", statuses


def test_following_ends_with_the_run(tmp_path: Path) -> None:
    with osler.Recorder(tmp_path / "run.osler") as run:
        for step in range(50):
            run.log({"loss": 1 / (1 + step)}, step=step)
    reports = list(osler.watch(tmp_path / "run.osler", every=0.01))
    assert len(reports) == 1 and not reports[0].sick


def test_nothing_to_follow_ends_too(tmp_path: Path) -> None:
    assert list(osler.watch(tmp_path / "never.csv", every=0.01, idle=0.05)) == []


def test_a_script_is_watched_by_what_it_prints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines: list[str] = []
    with osler.watch_this(tmp_path / "kept.log", every=0.02, on_line=lines.append) as watching:
        for step in range(200):
            print(_line(step))
        report = watching.report()
        assert report.sick and report.has("loss-nonfinite-later"), report.text()
    assert any("critical" in line for line in lines)
    printed = capsys.readouterr().out.splitlines()
    assert printed == [_line(step) for step in range(200)]
    assert (tmp_path / "kept.log").read_text().splitlines() == printed


def test_a_script_is_watched_by_what_it_logs() -> None:
    logger = logging.getLogger("trainer")
    logger.setLevel(logging.INFO)
    with osler.watch_this(every=10, on_line=None) as watching:
        for step in range(200):
            logger.info(_line(step))
        assert watching.report().has("loss-nonfinite-later")


def test_streams_are_as_before_afterwards() -> None:
    before = (sys.stdout, sys.stderr, list(logging.getLogger().handlers))
    watching = osler.watch_this(every=10, on_line=None)
    assert sys.stdout is not before[0]
    watching.stop()
    watching.stop()
    assert (sys.stdout, sys.stderr, list(logging.getLogger().handlers)) == before


SCRIPT = """
import sys, time
import osler
osler.watch_this(every=0.05, stop_on_critical={stop})
for step in range({steps}):
    print(f"step {{step}} loss {{2 / (1 + step) if step < 100 else float('nan')}}", flush=True)
    if step > 100:
        time.sleep(0.01)
print("done")
"""


def _script(tmp_path: Path, stop: bool, steps: int) -> subprocess.CompletedProcess[str]:
    (tmp_path / "train.py").write_text(SCRIPT.format(stop=stop, steps=steps))
    return subprocess.run([sys.executable, tmp_path / "train.py"], capture_output=True, text=True, check=False, timeout=120)


def test_a_whole_script_tells_what_is_wrong_with_it(tmp_path: Path) -> None:
    done = _script(tmp_path, stop=False, steps=150)
    assert done.returncode == 0 and done.stdout.endswith("done\n")
    assert "osler: critical" in done.stderr and "loss-nonfinite-later" in done.stderr


def test_a_lost_script_is_stopped_on_request(tmp_path: Path) -> None:
    done = _script(tmp_path, stop=True, steps=100_000)
    assert done.returncode != 0 and "KeyboardInterrupt" in done.stderr and "done" not in done.stdout
    assert "ends the training: loss-nonfinite-later (critical, 99 % sure)" in done.stderr, "on what evidence"


LATE = """
import math, time
import osler
osler.watch_this(every=0.05, stop_on_critical=True)
for step in range(260):  # far beyond the points that a stop needs; it is about to learn
    print(f"step {step} loss {2.3 + 0.002 * math.sin(37.0 * step):.5f}", flush=True)
    time.sleep(0.004)
time.sleep(0.3)
print("done")
"""


def test_a_script_that_has_not_begun_to_learn_is_told_of_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    done = subprocess.run([sys.executable, tmp_path / "late.py"], capture_output=True, text=True, check=False, timeout=120)
    assert "osler: critical" in done.stderr, done.stderr
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr
