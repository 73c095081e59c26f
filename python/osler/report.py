"""Report: what Osler says of a run, as attributes, text, JSON and HTML."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import Any, Optional

from osler import _core

_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _number(value: Any) -> Optional[float]:
    return _NUMBERS[value] if isinstance(value, str) else value


@dataclass(frozen=True)
class Evidence:
    """One measured fact behind a finding."""

    series: str
    first_step: int
    last_step: int
    observed: Optional[float]
    threshold: Optional[float]
    text: str


@dataclass(frozen=True)
class Finding:
    """Something seen in the numbers."""

    id: str
    severity: str
    confidence: float
    first_step: int
    last_step: int
    summary: str
    layers: list[str] = field(default_factory=list)
    qualifiers: dict[str, str] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)


@dataclass(frozen=True)
class Reason:
    """One reason for or against a cause; `weight` is in log-odds and positive."""

    finding: str
    weight: float
    text: str


@dataclass(frozen=True)
class Remedy:
    """A concrete change to make. `name`, `before` and `after` are set where it is a change of one setting."""

    text: str
    name: Optional[str] = None
    before: Optional[str] = None
    after: Optional[str] = None


@dataclass(frozen=True)
class Cause:
    """A hypothesis that explains findings, with its odds."""

    id: str
    probability: float
    speaks_for: list[Reason]
    speaks_against: list[Reason]
    probe: Optional[str]
    settle: str
    remedies: list[Remedy]


@dataclass(frozen=True)
class Prognosis:
    """Where a loss will be at the planned end of its run: nine in ten of the runs that were cut kept to such bounds."""

    series: str
    step: int
    source: str
    """How the planned end is known: `max_steps 20000`."""
    now: float
    low: float
    high: float
    left: float
    """Share of the plan still to come."""
    text: str


@dataclass(frozen=True)
class Layer:
    """One layer: a parameter, or a module whose activations were recorded. A figure that the run does not tell is None."""

    name: str
    kind: str
    gradient_norm: Optional[float]
    weight_norm: Optional[float]
    update_ratio: Optional[float]
    gradient_ratio: Optional[float]
    dead_share: Optional[float]
    saturated_share: Optional[float]
    status: str
    """`ok`, or what is wrong in a word: `exploding`, `silent`, `dead`, ..."""
    why: str
    finding: Optional[str]


def _layer(row: dict[str, Any]) -> Layer:
    return Layer(
        row["layer"],
        row["kind"],
        _number(row["gradient_norm"]),
        _number(row["weight_norm"]),
        _number(row["update_ratio"]),
        _number(row["gradient_ratio"]),
        _number(row["dead_share"]),
        _number(row["saturated_share"]),
        row["status"],
        row["why"] or "",
        row["finding"] or None,
    )


class Layers(list[Layer]):
    """The layers of a run, from input to output. Printing them gives the table of `osler diagnose --layers`."""

    def __init__(self, core: _core.Report, told: Optional[dict[str, Any]]) -> None:
        super().__init__(_layer(row) for row in (told or {}).get("rows", []))
        self._core = core
        self._asked = told is not None
        self.spans: dict[str, dict[str, Any]] = (told or {}).get("spans", {})
        """The lowest, middle and highest of each figure, and in which layers."""

    @property
    def sick(self) -> list[Layer]:
        """Those that are not well."""
        return [layer for layer in self if layer.status != "ok"]

    def text(self, width: int = 0, *, colour: bool = False, verbose: bool = False, ascii: bool = False) -> str:
        """The table. A width of 0 is that of the terminal."""
        if not self._asked:
            return "Layers  were not asked for: osler.diagnose(..., layers=True) tells of them."
        columns = width or shutil.get_terminal_size((100, 40)).columns
        return self._core.layers_text(columns, colour, verbose, not ascii)

    def __str__(self) -> str:
        return self.text()


def _finding(told: dict[str, Any]) -> Finding:
    evidence = [
        Evidence(
            each["series"],
            each["steps"][0],
            each["steps"][1],
            _number(each["observed"]),
            _number(each["threshold"]),
            each["text"],
        )
        for each in told["evidence"]
    ]
    return Finding(
        told["id"],
        told["severity"],
        told["confidence"],
        told["first_step"],
        told["last_step"],
        told["summary"],
        told["layers"],
        told["qualifiers"],
        evidence,
    )


def _remedy(told: dict[str, Any]) -> Remedy:
    change = told.get("change") or {}
    return Remedy(told["text"], change.get("name"), change.get("from"), change.get("to"))


def _prognosis(told: dict[str, Any]) -> Prognosis:
    now, low, high = (float(told[name]) for name in ("now", "low", "high"))
    return Prognosis(told["series"], told["step"], told["from"], now, low, high, told["left"], told["text"])


def _cause(told: dict[str, Any]) -> Cause:
    reasons = {side: [Reason(r["finding"] or "", r["weight"], r["text"]) for r in told[side]] for side in ("for", "against")}
    settle = told["settle"] or {}
    return Cause(
        told["id"],
        told["probability"],
        reasons["for"],
        reasons["against"],
        settle.get("probe") or None,
        settle.get("text") or "",
        [_remedy(each) for each in told["remedies"]],
    )


class Report:
    """What Osler says of one run. Printing it gives the text, a notebook shows it with its curves."""

    def __init__(self, core: _core.Report, run: Optional[_core.Run] = None) -> None:
        self._core = core
        self._run = run
        self._told: Optional[dict[str, Any]] = None

    def to_dict(self) -> dict[str, Any]:
        """The whole report as docs/report.md describes it."""
        if self._told is None:
            self._told = json.loads(self._core.json())
        return self._told

    def json(self) -> str:
        """The report as JSON, by the schema osler-report/1."""
        return self._core.json()

    def sarif(self) -> str:
        """The findings as SARIF 2.1.0."""
        return self._core.sarif()

    def text(self, width: int = 0, *, colour: bool = False, verbose: bool = False, ascii: bool = False) -> str:
        """The report as the command line prints it. A width of 0 is that of the terminal."""
        columns = width or shutil.get_terminal_size((100, 40)).columns
        return self._core.text(columns, colour, verbose, not ascii)

    @property
    def run_name(self) -> str:
        """How a person calls the run."""
        return str(self.to_dict()["run"]["name"])

    @property
    def status(self) -> str:
        """The verdict: `healthy`, `warning`, `critical` or `insufficient-data`."""
        return str(self.to_dict()["status"])

    @property
    def headline(self) -> str:
        """The verdict in a sentence."""
        return str(self.to_dict()["headline"])

    @property
    def findings(self) -> list[Finding]:
        """What is seen in the numbers, the worst first."""
        return [_finding(each) for each in self.to_dict()["findings"]]

    @property
    def causes(self) -> list[Cause]:
        """What may explain it, the most probable first."""
        return [_cause(each) for each in self.to_dict()["causes"]]

    @property
    def remedies(self) -> list[Remedy]:
        """What to change: the remedies of the most probable cause."""
        causes = self.causes
        return causes[0].remedies if causes else []

    @property
    def roles(self) -> dict[str, list[str]]:
        """Which series was taken for what, the best candidate first."""
        told = self.to_dict()["roles"]
        return {role: [names] if isinstance(names, str) else names for role, names in told.items()}

    @property
    def metrics(self) -> dict[str, Optional[float]]:
        """Figures worth quoting, such as `best-validation-loss`."""
        return {name: _number(value) for name, value in self.to_dict()["metrics"].items()}

    @property
    def not_checked(self) -> dict[str, str]:
        """The findings that could not be checked, with the reason."""
        return {each["id"]: each["reason"] for each in self.to_dict()["checks"]["not_run"]}

    @property
    def prognosis(self) -> Optional[Prognosis]:
        """Where the loss of a healthy run will be at its planned end; None where that cannot be told."""
        told = self.to_dict().get("prognosis")
        return _prognosis(told) if told else None

    @property
    def layers(self) -> Layers:
        """The layers, when they were asked for: `diagnose(run, layers=True)`; empty otherwise."""
        return Layers(self._core, self.to_dict().get("layers"))

    def has(self, finding: str) -> bool:
        """Whether a finding is among them."""
        return any(each["id"] == finding for each in self.to_dict()["findings"])

    @property
    def sick(self) -> bool:
        """Whether something critical was found."""
        return self.status == "critical"

    def svg(self, width: int = 860) -> str:
        """The curves with the findings marked, as SVG; empty where there are none to draw."""
        if self._run is None:
            return ""
        return _core.overview_svg(self._run, self._core, width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        ids = ", ".join(each["id"] for each in self.to_dict()["findings"]) or "no findings"
        return f"<osler.Report {self.run_name!r}: {self.status}; {ids}>"

    def html(self) -> str:
        """The report as a piece of HTML with its curves, as a notebook shows it: no script, nothing from elsewhere."""
        from osler.notebook import page  # only who looks at it waits for it

        return page(self)

    def _repr_html_(self) -> str:
        return self.html()
