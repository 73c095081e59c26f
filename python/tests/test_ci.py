"""The recipes for pipelines work as they are written: their shell steps are taken from the files and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from beside import ROOT, osler_program

GUIDE = ROOT / "docs" / "guides" / "ci.md"
ACTION = ROOT / ".github" / "actions" / "osler" / "action.yml"


@pytest.fixture
def workspace(tmp_path: Path, sick_log: Path, healthy_log: Path) -> Path:
    """A checkout with logs in it, and the program on the path."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "osler").symlink_to(osler_program())
    folder = tmp_path / "checkout"
    (folder / "runs").mkdir(parents=True)
    shutil.copy(sick_log, folder / "runs" / "metrics.csv")
    shutil.copy(healthy_log, folder / "good.csv")
    return folder


def _run(script: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a step as GitHub does."""
    path = f"{folder.parent / 'bin'}:{os.environ['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(
        words, cwd=folder, env={"PATH": path, "HOME": str(folder), **environment}, capture_output=True, text=True, timeout=120
    )


def _action() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install pyyaml")
    told: dict[str, Any] = yaml.safe_load(ACTION.read_text())
    return told


class _Job:
    """The action's steps one after the other, with what GitHub gives them."""

    def __init__(self, folder: Path, inputs: dict[str, str]) -> None:
        self.action = _action()
        self.folder = folder
        self.inputs = {name: each.get("default", "") for name, each in self.action["inputs"].items()} | inputs
        self.output = folder.parent / "output"
        self.summary = folder.parent / "summary"
        for file in (self.output, self.summary):
            file.write_text("")

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())

    def _value(self, text: str) -> str:
        def resolved(found: re.Match[str]) -> str:
            kind, _, name = found[1].strip().rpartition(".")
            known = {"inputs": self.inputs, "steps.diagnose.outputs": self.outputs(), "github": {"action_path": str(ACTION.parent)}}
            return known[kind][name]

        return re.sub(r"\$\{\{([^}]*)\}\}", resolved, text)

    def run(self) -> int:
        files = {"GITHUB_OUTPUT": str(self.output), "GITHUB_STEP_SUMMARY": str(self.summary)}
        for step in self.action["runs"]["steps"]:
            if "run" not in step:
                assert step["uses"].startswith("github/codeql-action/upload-sarif@"), "the only step that is not ours"
                continue
            environment = {name: self._value(value) for name, value in step.get("env", {}).items()}
            done = _run(step["run"], self.folder, {**files, **environment})
            if done.returncode:
                assert "::error" in done.stdout, (step["name"], done.stdout, done.stderr)
                return done.returncode
        return 0


def test_the_action_fails_on_a_sick_training(workspace: Path) -> None:
    job = _Job(workspace, {"path": "runs/metrics.csv"})
    assert job.run() == 1
    assert job.outputs() == {"exit-code": "1", "sarif": "osler.sarif"}
    assert "CRITICAL" in job.summary.read_text() and "lr 10 -> 1" in job.summary.read_text()
    sarif = json.loads((workspace / "osler.sarif").read_text())
    assert sarif["version"] == "2.1.0"
    assert "loss-diverging" in {each["ruleId"] for each in sarif["runs"][0]["results"]}


def test_the_action_lets_a_healthy_training_pass(workspace: Path) -> None:
    job = _Job(workspace, {"path": "good.csv", "sarif": "out.sarif"})
    assert job.run() == 0
    assert job.outputs() == {"exit-code": "0", "sarif": "out.sarif"}
    assert (workspace / "out.sarif").is_file()


def test_the_action_only_tells_where_it_shall_not_fail(workspace: Path) -> None:
    job = _Job(workspace, {"path": "runs/metrics.csv\ngood.csv\n", "fail-on": "never"})
    assert job.run() == 0
    assert job.outputs()["exit-code"] == "1"
    assert "1 of 2 runs sick" in job.summary.read_text()


def test_the_action_says_when_it_cannot_judge(workspace: Path) -> None:
    job = _Job(workspace, {"path": "nothing.csv"})
    assert job.run() == 2


def test_the_action_takes_words_as_words(workspace: Path) -> None:
    """What a workflow passes on is no shell."""
    job = _Job(workspace, {"path": "good.csv", "arguments": "--only=overfitting\n--role=train-loss=$(touch hacked)"})
    assert job.run() == 2, "there is no such series"
    assert not (workspace / "hacked").exists()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_guides_shell_recipes_work(workspace: Path) -> None:
    diagnose, compare = _blocks("sh")
    done = _run(diagnose, workspace, {})
    assert done.returncode == 0 and "a training is sick" in done.stdout, done.stderr
    assert "CRITICAL" in done.stdout and (workspace / "osler.sarif").is_file()
    done = _run(compare, workspace, {})
    assert done.returncode == 0 and "worse than the baseline" in done.stdout
    assert json.loads((workspace / "comparison.json").read_text())["schema"] == "osler-comparison/1"


def test_the_guides_gitlab_recipe_works(workspace: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install pyyaml")
    job = next(told["diagnose"] for told in map(yaml.safe_load, _blocks("yaml")) if "diagnose" in told)
    done = _run("\n".join(job["script"]), workspace, {})
    assert done.returncode == 1 and "CRITICAL" in done.stdout
    assert all((workspace / name).is_file() for name in job["artifacts"]["paths"])


def test_the_guides_workflow_uses_inputs_that_there_are() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install pyyaml")
    workflow = next(told for told in map(yaml.safe_load, _blocks("yaml")) if "jobs" in told)
    step = workflow["jobs"]["train"]["steps"][-1]
    assert set(step["with"]) <= set(_action()["inputs"])
    assert step["uses"].split("/", 2)[2].split("@")[0] == str(ACTION.parent.relative_to(ROOT))
