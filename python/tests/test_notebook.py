"""The report in a notebook: what it says, how it looks on light and dark ground, and the example notebook as a whole."""

from __future__ import annotations

import html.parser
import json
import os
import re
from pathlib import Path

import pytest
from beside import ROOT
from browser import Browser

import osler
from osler.chart import Mark, Sketch, chart

NOTEBOOK = ROOT / "examples" / "python" / "diagnose.ipynb"


def test_shows_verdict_curve_causes_and_remedies(sick_log: Path) -> None:
    report = osler.diagnose(sick_log)
    page = report._repr_html_()
    assert "critical" in page and "train_loss climbed from about 0.1577" in page
    assert "<svg" in page and "loss-diverging since step 95" in page, "the finding is marked in the curve"
    assert "The learning rate is too high" in page and f"{100 * report.causes[0].probability:.0f} %" in page
    assert "Divide the learning rate by 10" in page
    assert len(page) < 60_000, "a notebook keeps every output"


def test_needs_nothing_from_elsewhere(sick_log: Path) -> None:
    page = osler.diagnose(sick_log)._repr_html_()
    assert "<script" not in page and "<link" not in page and "url(" not in page
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r'\sid="', page), "two reports on one page must not share names"


class _Balance(html.parser.HTMLParser):
    """Counts what is opened and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag


def test_is_whole_for_every_case_of_the_tree() -> None:
    cases = os.environ.get("OSLER_CASES")
    if cases is None:
        pytest.skip("OSLER_CASES does not name the folder of cases, which a build makes")
    logs = sorted(Path(cases).glob("*/sick-*.csv"))[::12]
    assert len(logs) > 10
    for log in logs:
        balance = _Balance()
        balance.feed(osler.diagnose(log).html())
        assert not balance.open, log


def test_draws_gaps_flat_lines_and_nothing() -> None:
    nan = float("nan")
    assert chart([], []) == ""
    assert chart([Sketch("loss", "train-loss", [0, 1], [nan, nan], [nan, nan], [nan, nan], [1, 1])], []) == ""
    flat = chart([Sketch("loss", "train-loss", [0], [0.5], [0.5], [0.5], [0])], [Mark(0, "1", "note", "at the start")])
    assert "nan" not in flat and "at the start" in flat
    gap = chart([Sketch("a<b", "train-loss", [0, 1, 2], [1, nan, 2], [1, nan, 2], [1, nan, 2], [0, 3, 0])], [])
    assert "a&lt;b is not finite" in gap and "nan" not in gap


_GROUNDS = {"light": ("#ffffff", "#1f2328"), "dark": ("#111111", "#e8e8e8")}

# The contrast of every piece of text against the ground, by the rule of WCAG 2; opacity counts.
_CONTRASTS = """(() => {
  const light = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const colour = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = colour(getComputedStyle(document.body).backgroundColor);
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const box = node.parentElement;
    if (!node.data.trim() || ['STYLE', 'title'].includes(box.tagName)) continue;
    const style = getComputedStyle(box);
    let own = colour(box instanceof SVGElement ? style.fill : style.color), behind = ground, opacity = 1;
    for (let each = box; each && each !== document.body; each = each.parentElement) {
      opacity *= Number(getComputedStyle(each).opacity);
      const fill = colour(getComputedStyle(each).backgroundColor);
      if (behind === ground && fill.length === 3) behind = fill;
    }
    const badge = box.previousElementSibling;
    if (badge?.tagName === 'rect') behind = colour(getComputedStyle(badge).fill);
    own = own.slice(0, 3).map((c, i) => opacity * c + (1 - opacity) * behind[i]);
    const [a, b] = [luminance(own), luminance(behind)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), node.data.trim().slice(0, 40)]);
  }
  return found.sort((x, y) => x[0] - y[0]);
})()"""


_OVERLAPS = """(() => {
  const found = [];
  for (const chart of document.querySelectorAll('svg')) {
    const boxes = [...chart.querySelectorAll('text')].map((each) => [each.textContent, each.getBoundingClientRect()]);
    for (const [i, [name, a]] of boxes.entries()) for (const [other, b] of boxes.slice(i + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 4) found.push([name, other]);  // lines of one label may touch
    }
  }
  return found;
})()"""


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_can_be_read_on_any_ground(ground: str, sick_log: Path, healthy_log: Path, tmp_path: Path) -> None:
    back, ink = _GROUNDS[ground]
    reports = "".join(osler.diagnose(log).html() for log in (sick_log, healthy_log))
    page = tmp_path / "page.html"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body style="background:{back};color:{ink}">{reports}', "utf-8")
    with Browser(860, 1500) as browser:
        browser.open(page.as_uri())
        browser.wait_for("document.querySelectorAll('.osler-report').length === 2")
        if folder := os.environ.get("OSLER_TEST_PICTURES"):
            browser.photograph(Path(folder) / f"notebook-{ground}.png")
        contrasts = browser.ask(_CONTRASTS)
        assert len(contrasts) > 50
        assert contrasts[0][0] >= 3, contrasts[:5]
        assert browser.ask("document.documentElement.scrollWidth") <= 860, "nothing sticks out"
        assert browser.ask(_OVERLAPS) == [], "no label lies over another"
        assert not browser.errors, browser.errors


def test_the_example_notebook_holds_no_output() -> None:
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None


def test_the_example_notebook_runs(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install nbformat")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    paths = os.pathsep.join([str(Path(osler.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "IPYTHONDIR": str(tmp_path)}
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(NOTEBOOK.parent)}})
    client.execute(env=environment)
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    views = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert ["critical" in view.split("osler-headline")[-1][:200] for view in views] == [True, False, True]
    assert any("do: Divide the learning rate by 10" in output.get("text", "") for output in shown)
