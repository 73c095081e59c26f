"""Experiment: what a probe found out about a training."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass, field
from typing import Any, Optional

from osler import _core
from osler.errors import OslerError
from osler.run import Run

_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_COLOURS = {"passed": "#1b6e3c", "failed": "#b3261e", "undecided": "#8a5a00", "stopped": "#3b5b8c"}


def _read(value: Any) -> Any:
    if isinstance(value, str):
        return _NUMBERS.get(value, math.nan)
    return value


def _written(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


@dataclass(frozen=True)
class Value:
    """A figure that a probe measured, with the interval it lies in where one is known."""

    value: float
    low: Optional[float] = None
    high: Optional[float] = None

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Check:
    """One line of a list of checks, or of what was found layer by layer."""

    id: str
    outcome: str
    text: str


@dataclass(frozen=True)
class Experiment:
    """What one probe found. Printing it gives a few lines, a notebook shows it with its figure.

    `outcome` is `passed`, `failed`, `undecided` or `stopped`; `values` are figures by name, `columns` the measurements,
    `checks` lines of a list. `experiment["suggestion"]` is a value's number.
    """

    probe: str
    outcome: str
    verdict: str
    values: dict[str, Value] = field(default_factory=dict)
    columns: dict[str, list[float]] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    step: int = 0

    @property
    def passed(self) -> bool:
        """Whether what was tested is as it should be."""
        return self.outcome == "passed"

    @property
    def failed_checks(self) -> list[str]:
        """The ids of the checks that failed."""
        return [each.id for each in self.checks if each.outcome == "failed"]

    def __getitem__(self, name: str) -> float:
        if name not in self.values:
            raise KeyError(f"{self.probe} has no value '{name}'; it has: {', '.join(self.values) or 'none'}")
        return self.values[name].value

    def to_json(self) -> str:
        """One line of JSON, as a run keeps it."""
        values = []
        for name, each in self.values.items():
            told: dict[str, Any] = {"name": name, "value": _written(each.value)}
            if each.low is not None and each.high is not None:
                told.update(low=_written(each.low), high=_written(each.high))
            values.append(told)
        return json.dumps(
            {
                "probe": self.probe,
                "step": self.step,
                "outcome": self.outcome,
                "verdict": self.verdict,
                "values": values,
                "columns": [
                    {"name": name, "values": [_written(each) for each in numbers]}
                    for name, numbers in self.columns.items()
                ],
                "checks": [{"id": each.id, "outcome": each.outcome, "text": each.text} for each in self.checks],
            },
            separators=(",", ":"),
        )

    @staticmethod
    def from_json(text: str) -> Experiment:
        """Reads what `to_json` wrote."""
        told = json.loads(text)
        return Experiment(
            told["probe"],
            told["outcome"],
            told["verdict"],
            {
                each["name"]: Value(_read(each["value"]), _read(each.get("low")), _read(each.get("high")))
                for each in told.get("values", [])
            },
            {each["name"]: [_read(number) for number in each["values"]] for each in told.get("columns", [])},
            [Check(each["id"], each["outcome"], each["text"]) for each in told.get("checks", [])],
            int(told.get("step", 0)),
        )

    def svg(self, width: int = 640) -> str:
        """What was measured as a figure; empty for a list of checks, which is better read."""
        try:
            return _core.experiment_svg(self.to_json(), width)
        except OslerError:
            return ""

    def __str__(self) -> str:
        lines = [f"{self.probe}: {self.outcome}. {self.verdict}"]
        for name, each in self.values.items():
            interval = f" ({each.low:.4g} to {each.high:.4g})" if each.low is not None and each.high is not None else ""
            lines.append(f"  {name:<24} {each.value:.4g}{interval}")
        lines += [f"  {each.outcome:<9} {each.id}: {each.text}" for each in self.checks]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<osler.Experiment {self.probe}: {self.outcome}; {self.verdict}>"

    def _repr_html_(self) -> str:
        colour = _COLOURS.get(self.outcome, "inherit")
        rows = "".join(
            f"<li><b style=\"color:{_COLOURS.get(each.outcome, 'inherit')}\">{html.escape(each.outcome)}</b> "
            f"<code>{html.escape(each.id)}</code> {html.escape(each.text)}</li>"
            for each in self.checks
        )
        return (
            f'<div style="font-family:sans-serif;max-width:62em"><p><b style="color:{colour}">'
            f"{html.escape(self.probe)}: {html.escape(self.outcome)}</b> {html.escape(self.verdict)}</p>"
            f"{self.svg()}{'<ul>' + rows + '</ul>' if rows else ''}</div>"
        )


def experiments(run: Run) -> list[Experiment]:
    """The experiments that a run holds, the newest of each probe."""
    return [Experiment.from_json(each) for each in _core.experiments(run._core)]
