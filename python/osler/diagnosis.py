"""read, diagnose, explain: from a log, a table or numbers to a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

from osler import _core, tables
from osler.errors import InvalidError, NotFoundError, OslerError
from osler.report import Report
from osler.run import Run

if TYPE_CHECKING:
    from osler.comparison import Baseline

Diagnosable = Union[str, "os.PathLike[str]", Run, Mapping[str, Any], Iterable[Mapping[str, Any]], Any]


def read_all(path: Union[str, os.PathLike[str]], *, format: str = "", points: int = 0) -> list[Run]:
    """Every run at a path: a log, a run file, a folder searched to the bottom, a pattern, or a pipe.

    `format` is the id of a format to use without looking (`osler.formats()`). `points` is how many points of a series
    are kept at most; 0 keeps the shape of any curve in about two thousand.
    """
    text = os.fspath(path)
    if tables.is_arrow_file(text) and not format:
        return [tables.read_arrow_file(text)]
    return [Run(core) for core in _core.read(text, format, points)]


def read(path: Union[str, os.PathLike[str]], *, format: str = "", points: int = 0) -> Run:
    """The run at a path. Raises `InvalidError` when there are several: `read_all` gives them all."""
    runs = read_all(path, format=format, points=points)
    if not runs:
        raise NotFoundError(f"{os.fspath(path)}: no run there", "not-found", os.fspath(path))
    if len(runs) > 1:
        names = ", ".join(run.name for run in runs[:3])
        raise InvalidError(
            f"{os.fspath(path)}: {len(runs)} runs there, name one or use osler.read_all: {names}",
            "invalid-argument",
            os.fspath(path),
        )
    return runs[0]


def to_run(data: Diagnosable, *, step: Optional[str] = None, name: str = "run") -> Run:
    """A run of whatever holds one: a path, a run, a dict of columns, a DataFrame, or rows as dicts."""
    if isinstance(data, Run):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read(data)
    return tables.run_of(data, step=step, name=name)


def diagnose(
    data: Diagnosable,
    *,
    roles: Optional[Mapping[str, str]] = None,
    settings: Optional[Mapping[str, float]] = None,
    only: Iterable[str] = (),
    step: Optional[str] = None,
    name: str = "run",
    baseline: Optional[Baseline] = None,
    layers: bool = False,
) -> Report:
    """What is wrong with a training, since when, why, and what to change.

    `data` is a path, a `Run`, a dict of columns, a pandas DataFrame, or rows as dicts. `roles` says what a series means
    where its name does not (`{"train-loss": "my_objective"}`), `settings` changes what a finding decides by
    (`{"loss-diverging.noise_units": 8}`), `only` names the findings to check. Of a table, `step` names the column that
    counts the steps. `baseline` is what `osler.baseline` learned from your own healthy runs. With `layers`, the
    report's `layers` tell of every layer how it is.
    """
    run = to_run(data, step=step, name=name)
    chosen = dict(roles or {})
    _check_words(run, chosen, dict(settings or {}), list(only))
    numbers = {key: float(value) for key, value in (settings or {}).items()}
    known = baseline._core if baseline is not None else None
    core = _core.diagnose(run._core, chosen, numbers, list(only), known, layers)
    return Report(core, run._core)


def _hint(word: str, candidates: Iterable[str]) -> str:
    import difflib  # only who mistypes waits for it

    near = difflib.get_close_matches(word, list(candidates), n=3)
    if not near:
        return ""
    return "; did you mean " + (near[0] if len(near) == 1 else f"{', '.join(near[:-1])} or {near[-1]}") + "?"


def _check_words(run: Run, roles: dict[str, str], settings: dict[str, float], only: list[str]) -> None:
    for role, series in roles.items():
        if role not in _core.roles():
            raise InvalidError(f"there is no role '{role}'{_hint(role, _core.roles())}", "invalid-argument")
        if series not in run.series:
            words = _hint(series, run.series) or f"; the log has: {', '.join(run.series[:8])}"
            raise InvalidError(f"there is no series '{series}'{words}", "invalid-argument", run.name)
    for setting in settings:
        if setting not in _core.settings():
            raise InvalidError(f"there is no setting '{setting}'{_hint(setting, _core.settings())}", "invalid-argument")
    for finding in only:
        if finding not in _core.findings():
            raise InvalidError(f"there is no finding '{finding}'{_hint(finding, _core.findings())}", "invalid-argument")


class Page(str):
    """A page of the catalogue; a notebook and a terminal show it as it is."""

    def __repr__(self) -> str:
        return str(self)


def explain(id: str, *, width: int = 100, colour: bool = False, ascii: bool = False) -> Page:
    """The page on a finding, a cause, a format or a setting (`loss-diverging.stays`), or on `tree`."""
    pages = _core.pages(id, width, colour, not ascii)
    if pages:
        return Page("\n".join(pages))
    known = [*_core.findings(), *_core.causes(), *_core.formats(), *_core.settings()]
    raise InvalidError(f"there is no page on '{id}'{_hint(id, known)}", "invalid-argument", id)


__all__ = ["Diagnosable", "OslerError", "Page", "diagnose", "explain", "read", "read_all", "to_run"]
