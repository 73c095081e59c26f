"""Osler, the physician for neural-network training: what is wrong, since when, why, what to change.

    import osler
    print(osler.diagnose("runs/exp42"))

Nothing of a framework is imported here; `osler.torch`, `osler.lightning`, `osler.transformers`, `osler.keras` and
`osler.pandas` are imported by whoever uses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from osler import _core
from osler.diagnosis import diagnose, explain, read, read_all
from osler.errors import DamagedError, InvalidError, NonfiniteError, NotFoundError, OslerError, UnsupportedError
from osler.recorder import Recorder, config, finish, log, start
from osler.report import Cause, Evidence, Finding, Layer, Layers, Prognosis, Reason, Remedy, Report
from osler.run import Run

if TYPE_CHECKING:
    from osler.comparison import Baseline, Comparison, Plot, baseline, compare, convert, plot
    from osler.experiment import Experiment, experiments
    from osler.live import Watching, watch, watch_this

__version__: str = _core.version()

# What not every script needs is imported when it is first asked for.
_LATER = {
    "Baseline": "comparison",
    "Comparison": "comparison",
    "Experiment": "experiment",
    "Plot": "comparison",
    "Watching": "live",
    "baseline": "comparison",
    "compare": "comparison",
    "convert": "comparison",
    "experiments": "experiment",
    "plot": "comparison",
    "watch": "live",
    "watch_this": "live",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'osler' has no attribute '{name}'")
    import importlib

    value = getattr(importlib.import_module(f"osler.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def findings() -> list[str]:
    """The ids of everything Osler can find; `explain` has a page on each."""
    return _core.findings()


def causes() -> list[str]:
    """The ids of the causes Osler weighs."""
    return _core.causes()


def formats() -> list[str]:
    """The ids of the log formats Osler reads."""
    return _core.formats()


def roles() -> list[str]:
    """The names of the roles that a series can play: `diagnose(run, roles={"train-loss": "my_objective"})`."""
    return _core.roles()


__all__ = [
    "Baseline",
    "Cause",
    "Comparison",
    "DamagedError",
    "Evidence",
    "Experiment",
    "Finding",
    "InvalidError",
    "Layer",
    "Layers",
    "NonfiniteError",
    "NotFoundError",
    "OslerError",
    "Plot",
    "Prognosis",
    "Reason",
    "Recorder",
    "Remedy",
    "Report",
    "Run",
    "UnsupportedError",
    "Watching",
    "__version__",
    "baseline",
    "causes",
    "compare",
    "config",
    "convert",
    "diagnose",
    "experiments",
    "explain",
    "findings",
    "finish",
    "formats",
    "log",
    "plot",
    "read",
    "read_all",
    "roles",
    "start",
    "watch",
    "watch_this",
]
