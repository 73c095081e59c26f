"""Recorder: writes a run while it happens, and says at any time what is wrong with it."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Optional, Union

from osler import _core
from osler.errors import InvalidError
from osler.report import Report

_open: weakref.WeakSet[Any] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for each in list(_open):
        try:
            each.close()
        except Exception:  # the interpreter ends; nobody is left to tell
            pass


def close_at_exit(closable: Any) -> None:
    """Sees that `close()` is called when the interpreter ends."""
    _open.add(closable)


def destinations(**places: Optional[Union[str, os.PathLike[str]]]) -> list[tuple[str, str]]:
    """The sinks that were asked for, by kind."""
    return [(kind, os.fspath(place)) for kind, place in places.items() if place is not None]


class Recorder:
    """The live front of a run: appends to a queue, and a thread of its own writes about once a second.

        run = osler.Recorder("runs/exp42.osler")
        run.log({"loss": 0.5, "val_loss": 0.6}, step=100)
        print(run.report())

    Without a path the run is kept in memory alone. An existing run file is gone on with; `csv`, `jsonl`, `tensorboard`
    and `wandb` (an offline run) name further places to write to.
    """

    def __init__(
        self,
        path: Optional[Union[str, os.PathLike[str]]] = None,
        *,
        name: str = "",
        csv: Optional[Union[str, os.PathLike[str]]] = None,
        jsonl: Optional[Union[str, os.PathLike[str]]] = None,
        tensorboard: Optional[Union[str, os.PathLike[str]]] = None,
        wandb: Optional[Union[str, os.PathLike[str]]] = None,
        config: Optional[Mapping[str, Any]] = None,
    ) -> None:
        place = os.fspath(path) if path is not None else ""
        others = destinations(csv=csv, jsonl=jsonl, tensorboard=tensorboard, wandb=wandb)
        title = name or os.path.splitext(os.path.basename(place))[0] or "training"
        resume = bool(place) and os.path.exists(place)
        self._core = _core.Recorder(place, title, others, resume)
        self._next = 0
        self._closed = False
        close_at_exit(self)
        if config:
            self.config(config)

    def log(self, values: Mapping[str, Any], step: Optional[int] = None) -> None:
        """Records numbers under their names. Without a step they belong to the one after the newest."""
        if self._closed:
            raise InvalidError("log() after close(); make a new Recorder to go on", "invalid-argument")
        at = self._next if step is None else int(step)
        self._next = at + 1
        self._core.log(at, {str(name): _float(name, value) for name, value in values.items()})

    def config(self, values: Mapping[str, Any]) -> None:
        """Records settings of the training, such as the learning rate and the batch size."""
        for key, value in values.items():
            self._core.config(str(key), str(value))

    def note(self, text: str, step: Optional[int] = None) -> None:
        """Something worth showing that happened at a step."""
        self._core.mark("note", self._next if step is None else int(step), text)

    def report(
        self,
        *,
        roles: Optional[Mapping[str, str]] = None,
        settings: Optional[Mapping[str, float]] = None,
        only: Iterable[str] = (),
    ) -> Report:
        """The diagnosis of everything recorded so far."""
        return Report(self._core.report(dict(roles or {}), dict(settings or {}), list(only)))

    def _hopeless(self, judge: _core.StopJudge, report: Report) -> Optional[str]:
        return self._core.judge(judge, report._core)

    def flush(self) -> None:
        """Returns when everything recorded before the call is written."""
        self._core.flush()

    def close(self) -> None:
        """Writes what waits and ends the run. Fine to call twice."""
        if self._closed:
            return
        self._closed = True
        self._core.mark("finished", max(self._next - 1, 0), "training ended")
        self._core.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if error is not None and not self._closed:
            self._closed = True
            self._core.mark("crashed", max(self._next - 1, 0), f"{type(error).__name__}: {error}")
            self._core.close()
        self.close()


def _float(name: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidError(f"'{name}' is a {type(value).__name__}, not a number", "invalid-argument", str(name)) from None


_current: Optional[Recorder] = None


def start(path: Optional[Union[str, os.PathLike[str]]] = None, **options: Any) -> Recorder:
    """Starts the run that `osler.log` writes to; options as for `Recorder`. A run that was open is closed."""
    global _current
    if _current is not None:
        _current.close()
    _current = Recorder(path, **options)
    return _current


def log(values: Mapping[str, Any], step: Optional[int] = None) -> Recorder:
    """Records numbers in the run of `osler.start`, or in one in memory where none was started; returns that run."""
    run = _current if _current is not None else start()
    run.log(values, step)
    return run


def config(values: Mapping[str, Any]) -> Recorder:
    """Records settings of the training in the run of `osler.start`."""
    run = _current if _current is not None else start()
    run.config(values)
    return run


def finish() -> Optional[Report]:
    """Ends the run of `osler.start` and gives its report; None where there is none."""
    global _current
    if _current is None:
        return None
    run, _current = _current, None
    report = run.report()
    run.close()
    return report
