"""Reading logs, diagnosing them, and what a report holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import osler


def test_reads_a_log(sick_log: Path) -> None:
    run = osler.read(sick_log)
    assert run.format == "csv"
    assert "train_loss" in run.series
    assert run.steps.last == 1495
    points = run["train_loss"]
    assert points.steps[0] == 0 and len(points.steps) == len(points.values)
    with pytest.raises(KeyError, match="there is no series 'nothing'"):
        run["nothing"]


def test_says_what_is_wrong(sick_log: Path) -> None:
    report = osler.diagnose(sick_log)
    assert report.status == "critical" and report.sick
    assert report.has("loss-diverging")
    finding = report.findings[0]
    assert (finding.id, finding.severity) == ("loss-diverging", "critical")
    assert finding.first_step == 95 and finding.evidence
    assert report.causes[0].id == "lr-too-high"
    assert report.causes[0].probability > 0.5 and report.causes[0].speaks_for
    change = next(each for each in report.remedies if each.name == "lr")
    assert (change.before, change.after) == ("10", "1")
    assert report.roles["train-loss"] == ["train_loss"]


def test_finds_a_healthy_training_healthy(healthy_log: Path) -> None:
    report = osler.diagnose(osler.read(healthy_log))
    assert report.status == "healthy", report.text()


def test_gives_the_report_in_every_form(sick_log: Path) -> None:
    report = osler.diagnose(sick_log)
    assert json.loads(report.json())["schema"] == "osler-report/1"
    assert json.loads(report.sarif())["version"] == "2.1.0"
    assert "CRITICAL" in report.text(80) and "lr 10 -> 1" in str(report)
    assert max(len(line) for line in report.text(60, ascii=True).splitlines()) <= 60
    page = report._repr_html_()
    assert "<svg" in page and "loss-diverging" in page
    assert "critical" in repr(report)


def test_obeys_roles_settings_and_a_choice_of_findings(sick_log: Path) -> None:
    assert osler.diagnose(sick_log, roles={"train-loss": "val_loss"}).roles["train-loss"][0] == "val_loss"
    only = osler.diagnose(sick_log, only=["overfitting"])
    assert not only.has("loss-diverging")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"roles": {"train-los": "train_loss"}}, "there is no role 'train-los'; did you mean train-loss"),
        ({"roles": {"train-loss": "train_los"}}, "there is no series 'train_los'; did you mean train_loss"),
        ({"settings": {"loss-diverging.nois": 1.0}}, "there is no setting 'loss-diverging.nois'"),
        ({"only": ["overfit"]}, "there is no finding 'overfit'; did you mean overfitting"),
    ],
)
def test_says_what_may_have_been_meant(sick_log: Path, options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        osler.diagnose(sick_log, **options)  # type: ignore[arg-type]


def test_fails_with_the_words_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        osler.read(tmp_path / "nothing.csv")
    assert isinstance(missing.value, osler.OslerError) and "nothing.csv" in str(missing.value)
    with pytest.raises(osler.InvalidError, match="there is no format 'cvs'"):
        osler.read(tmp_path, format="cvs")


def test_asks_which_of_several_runs_is_meant(tmp_path: Path, sick_log: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.csv").write_bytes(sick_log.read_bytes())
    with pytest.raises(osler.InvalidError, match="2 runs there"):
        osler.read(tmp_path)
    assert len(osler.read_all(tmp_path)) == 2


def test_explains_findings_causes_formats_and_settings() -> None:
    assert "overfitting" in osler.explain("overfitting")
    assert osler.explain("lr-too-high") and osler.explain("csv") and osler.explain("tree")
    setting = next(each for each in osler._core.settings() if each.startswith("loss-diverging."))
    assert osler.explain(setting)
    with pytest.raises(osler.InvalidError, match="did you mean overfitting"):
        osler.explain("overfiting")
    assert "loss-diverging" in osler.findings() and "lr-too-high" in osler.causes() and "csv" in osler.formats()


def test_imports_no_framework() -> None:
    words = "import sys, osler; print([m for m in ('torch', 'pandas', 'numpy', 'keras') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ctrl_c_ends_reading(tmp_path: Path) -> None:
    log = tmp_path / "long.csv"
    with log.open("w") as file:
        file.write("step,loss\n")
        file.writelines(f"{step},{1 / (step + 1)}\n" for step in range(3_000_000))
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(200):  # quick machines read it more than once before the signal comes
            osler.read(log)


def test_lets_other_threads_work_meanwhile(sick_log: Path) -> None:
    reports: list[osler.Report] = []
    threads = [threading.Thread(target=lambda: reports.append(osler.diagnose(sick_log))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.status for each in reports] == ["critical"] * 4
