"""compare, baseline, plot: a run beside another, beside many, and as a figure."""

from __future__ import annotations

import html
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

from osler import _core
from osler.diagnosis import Diagnosable, diagnose, read_all, to_run
from osler.errors import InvalidError, NotFoundError
from osler.run import Run
from osler.whole import write_whole

Place = Union[str, "os.PathLike[str]"]


class Comparison:
    """Where two runs part, and how the second stands against the first. Printing it gives the text."""

    def __init__(self, core: _core.Comparison) -> None:
        self._core = core
        self._told: Optional[dict[str, Any]] = None

    def to_dict(self) -> dict[str, Any]:
        """Everything, by the schema osler-comparison/1."""
        if self._told is None:
            self._told = json.loads(self._core.json())
        return self._told

    def json(self) -> str:
        """The comparison as JSON."""
        return self._core.json()

    def text(self, width: int = 0, *, colour: bool = False, ascii: bool = False) -> str:
        """The comparison as the command line prints it."""
        return self._core.text(width or shutil.get_terminal_size((100, 40)).columns, colour, not ascii)

    @property
    def standing(self) -> str:
        """The second run against the first: `same`, `better`, `worse` or `unclear`."""
        return str(self.to_dict()["standing"])

    @property
    def headline(self) -> str:
        """The comparison in a sentence."""
        return str(self.to_dict()["headline"])

    @property
    def facts(self) -> list[str]:
        """Sentences that follow from the numbers."""
        return list(self.to_dict()["facts"])

    @property
    def series(self) -> list[dict[str, Any]]:
        """The series that both runs have, with their levels and where they part."""
        return list(self.to_dict()["series"])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<osler.Comparison: {self.standing}; {self.headline}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text(100))}</pre>"


def compare(
    a: Diagnosable,
    b: Diagnosable,
    *,
    axis: str = "automatic",
    roles: Optional[Mapping[str, str]] = None,
    settings: Optional[Mapping[str, float]] = None,
) -> Comparison:
    """Compares run `b` with run `a`, which may be a known good one. Each is whatever `diagnose` takes; `axis` is what they
    are laid side by side along: `automatic`, `step`, `epoch` or `tokens`.
    """
    first, second = to_run(a, name="a"), to_run(b, name="b")
    return Comparison(_core.compare(first._core, second._core, axis, dict(roles or {}), dict(settings or {})))


class Baseline:
    """What is usual among healthy runs, for `diagnose(..., baseline=...)`. Printing it shows the ranges."""

    def __init__(self, core: _core.Baseline) -> None:
        self._core = core

    @property
    def runs(self) -> int:
        """How many runs it was learned from."""
        return self._core.runs

    def save(self, path: Place) -> None:
        """Writes it to a file, as `osler baseline learn` does."""
        write_whole(path, self._core.json().encode())

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<osler.Baseline {self._core.name!r} of {self.runs} runs>"


def baseline(
    source: Union[Place, Iterable[Diagnosable], None] = None, *, all: bool = False, fewest: int = 5, name: str = "baseline"
) -> Baseline:
    """The usual ranges of your own healthy runs: learned from a folder or from runs, or read from a file that `save` or
    `osler baseline learn` wrote; without an argument those that Osler comes with. Runs that Osler finds something wrong
    with are left out, unless `all` is set.
    """
    if source is None:
        return Baseline(_core.built_in_baseline())
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if path.endswith(".json") and os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return Baseline(_core.read_baseline(file.read(), path))
        runs = read_all(path)
    else:
        runs = [to_run(each) for each in source]
    healthy = [run for run in runs if all or diagnose(run).status == "healthy"]
    return Baseline(_core.learn_baseline([run._core for run in healthy], fewest, name))


class Plot:
    """A figure: a notebook shows it, `save` writes it."""

    def __init__(self, svg: str, draw: Any) -> None:
        self.svg = svg
        self._draw = draw

    def save(self, path: Place) -> None:
        """Writes it as PNG, SVG or PDF, by the ending of the name."""
        text = os.fspath(path)
        ending = os.path.splitext(text)[1][1:].lower()
        write_whole(text, self._draw(ending))

    def _repr_svg_(self) -> str:
        return self.svg


def plot(
    data: Diagnosable,
    out: Optional[Place] = None,
    *,
    kind: str = "curves",
    finding: Optional[str] = None,
    experiment: Optional[str] = None,
    series: Sequence[str] = (),
    first: Optional[int] = None,
    last: Optional[int] = None,
    width: int = 960,
    dark: bool = False,
    **options: Any,
) -> Plot:
    """Draws a run with what the diagnosis found marked in it: `kind` is `curves`, `gradients`, `heatmap`, `ridge` or
    `overview`; `finding` draws the evidence for one, `experiment` what a probe measured. `out` is a file to write, whose
    ending says how (PNG, SVG, PDF). Further options are those of `diagnose`.
    """
    if finding is not None and experiment is not None:
        raise InvalidError("give finding or experiment, not both", "invalid-argument")
    about = finding or experiment or ""
    what = "finding" if finding is not None else "experiment" if experiment is not None else kind
    run: Run = to_run(data)
    report = diagnose(run, **options)

    def draw(ending: str) -> bytes:
        return _core.draw(run._core, report._core, what, about, list(series), first, last, ending, width, dark)

    figure = Plot(draw("svg").decode(), draw)
    if out is not None:
        figure.save(out)
    return figure


def convert(source: Place, out: Place, *, to: Optional[str] = None, format: str = "", force: bool = False) -> None:
    """Writes a run, or all runs of a folder, as CSV, JSON lines, TensorBoard events, an offline W&B run or a run file:
    the ending of `out` says which, or `to` (`csv`, `jsonl`, `osler`, `tensorboard`, `wandb`). Step, time and value are
    kept exactly.
    """
    from osler.program import run_program

    path = os.fspath(source)
    if not os.path.exists(path) and not any(letter in path for letter in "*?["):
        raise NotFoundError(f"{path}: no such file or folder", "not-found", path)
    words = ["convert", path, "-o", os.fspath(out)]
    words += ["--to", to] if to else []
    words += ["--format", format] if format else []
    run_program(words + (["--force"] if force else []))
