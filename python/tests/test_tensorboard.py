"""The tab in TensorBoard: the real TensorBoard, looked at with a real browser."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from beside import ROOT
from browser import Browser

import osler

pytest.importorskip("tensorboard", reason="TensorBoard is not installed: pip install tensorboard")


def _write_events(log: Path, folder: Path, steps: int = 10**9) -> None:
    """A log as TensorBoard's own writer would have written it."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    for name, points in osler.read(log).points().items():
        for step, value in zip(points.steps, points.values):
            if step <= steps:
                summary = Summary(value=[Summary.Value(tag=name, simple_value=value)])
                writer.add_event(Event(step=step, wall_time=1.7e9 + step, summary=summary))
    writer.close()


def _plugin_path(folder: Path) -> str:
    """Where TensorBoard finds the plugin even if the package is not installed: the entry of pyproject.toml, as pip writes it."""
    entry = re.search(r'\[project.entry-points.tensorboard_plugins\]\nosler = "([^"]+)"', (ROOT / "pyproject.toml").read_text())
    assert entry is not None
    made = folder / "osler_in_tree-0.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: osler-in-tree\nVersion: 0\n")
    (made / "entry_points.txt").write_text(f"[tensorboard_plugins]\nosler = {entry[1]}\n")
    return os.pathsep.join([str(folder), str(Path(osler.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])


@pytest.fixture
def runs(tmp_path: Path, sick_log: Path, healthy_log: Path) -> Path:
    folder = tmp_path / "logs"
    _write_events(sick_log, folder / "sick")
    _write_events(healthy_log, folder / "healthy")
    return folder


@pytest.fixture
def address(tmp_path: Path, runs: Path) -> Iterator[str]:
    """TensorBoard on these runs, on any port that is free."""
    words = ["--logdir", str(runs), "--port", "0", "--load_fast", "false", "--reload_interval", "1"]
    server = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": _plugin_path(tmp_path / "site"), "PYTHONUNBUFFERED": "1"},
    )
    said = ""
    try:
        assert server.stdout is not None
        for line in server.stdout:
            said += line
            if found := re.search(r"http://[^/\s]+:(\d+)/", line):
                yield f"http://localhost:{found[1]}"
                break
        else:
            pytest.fail(f"TensorBoard did not start: {said}")
    finally:
        server.terminate()
        server.wait(20)


def _get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def test_tensorboard_offers_the_tab(address: str) -> None:
    plugins = json.loads(_get(f"{address}/data/plugins_listing"))
    assert plugins["osler"]["tab_name"] == "Osler" and plugins["osler"]["enabled"]


# The plugin's page, which TensorBoard shows in a frame somewhere below shadow roots.
_FRAME = """(() => {
  const look = (root) => {
    for (const each of root.querySelectorAll('*')) {
      if (each.tagName === 'IFRAME' && each.contentDocument?.querySelector('#osler')) return each.contentDocument;
      const found = each.shadowRoot && look(each.shadowRoot);
      if (found) return found;
    }
    return null;
  };
  return look(document);
})()"""


def test_the_tab_shows_the_verdict_on_a_sick_run(address: str, runs: Path, sick_log: Path, tmp_path: Path) -> None:
    with Browser(1400, 1000) as browser:
        browser.open(f"{address}/#osler")
        text = f"{_FRAME}?.querySelector('#report')?.innerText ?? ''"
        browser.wait_for(f"({text}).includes('CRITICAL') && ({text}).includes('What to do')")
        report = browser.ask(text)
        assert "train_loss climbed" in report and "since step 95" in report, "verdict and evidence"
        assert "lr-too-high" in report and "Divide the learning rate by 10" in report, "cause and remedy"
        assert browser.ask(f"{_FRAME}.querySelectorAll('#report svg path').length") > 2, "a curve"
        names = f"[...{_FRAME}.querySelectorAll('#runs .name')].map((each) => each.textContent)"
        assert browser.ask(names) == ["sick", "healthy"], "the worst first"
        if folder := os.environ.get("OSLER_TEST_PICTURES"):
            browser.photograph(Path(folder) / "tensorboard.png")

        browser.ask(f"{_FRAME}.querySelectorAll('#runs button')[1].click()")
        browser.wait_for(f"({text}).includes('HEALTHY')")

        # A run that appears later is seen without a reload.
        _write_events(sick_log, runs / "later")
        browser.wait_for(f"({names}).includes('later')")
        assert browser.ask(f"{_FRAME}.querySelector('#report').innerText").startswith("HEALTHY"), "the choice stays"
        # TensorBoard's dark theme is followed.
        browser.ask("document.body.classList.add('dark-mode')")
        browser.wait_for(f"{_FRAME}.documentElement.classList.contains('dark')")
        if folder := os.environ.get("OSLER_TEST_PICTURES"):
            browser.photograph(Path(folder) / "tensorboard-dark.png")
        # Nothing is fetched from elsewhere.
        hosts = browser.ask(
            f"[...new Set({_FRAME}.defaultView.performance.getEntriesByType('resource').map((each) => new URL(each.name).host))]"
        )
        assert hosts == [urllib.parse.urlparse(address).netloc]
        assert not browser.errors, browser.errors


def test_answers_only_for_runs_it_knows(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        _get(f"{address}/data/plugin/osler/report?run=../../etc/passwd")
    assert refused.value.code == 404


def test_shows_names_as_text(tmp_path: Path, sick_log: Path) -> None:
    """What a log says is never markup."""
    from osler.tensorboard.library import Library

    evil = "<img src=x onerror=alert(1)>"
    folder = tmp_path / evil
    folder.mkdir()
    (folder / "metrics.csv").write_text(sick_log.read_text().replace("train_loss", f"loss{evil}"))
    library = Library([str(tmp_path)])
    library.refresh(wait=60)
    runs, trouble = library.runs()
    assert not trouble and len(runs) == 1
    report = library.report(str(runs[0]["name"]))
    assert report is not None
    page = report.html()
    assert "<img" not in page and "&lt;img" in page


def test_examines_again_only_what_changed(tmp_path: Path, sick_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from osler.tensorboard import library as module

    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LOOKS", -1.0)
    lines = sick_log.read_text().splitlines(keepends=True)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.csv").write_text("".join(lines[:60]))
    library = module.Library([str(tmp_path)])

    def versions() -> dict[str, object]:
        library.refresh(wait=60)
        return {str(each["name"]): each["version"] for each in library.runs()[0]}

    first = versions()
    assert set(first.values()) == {1} and versions() == first
    (tmp_path / "b" / "metrics.csv").write_text("".join(lines))
    again = versions()
    assert sorted(again.values()) == [1, 2]  # type: ignore[type-var]


def test_says_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    from osler.tensorboard.library import Library

    library = Library([str(tmp_path / "nothing")])
    library.refresh(wait=60)
    runs, trouble = library.runs()
    assert not runs and "nothing" in trouble
