"""watch, watch_this: a log that grows, and a script that only prints."""

from __future__ import annotations

import atexit
import io
import logging
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, Callable, Optional, TextIO, Union

from osler import _core
from osler.diagnosis import diagnose, read
from osler.errors import OslerError
from osler.report import Report
from osler.run import Run

Place = Union[str, "os.PathLike[str]"]


def _stamp(path: str) -> tuple[int, float]:
    """What changes when a log, or a file of a folder, grows."""
    if os.path.isfile(path):
        about = os.stat(path)
        return about.st_size, about.st_mtime
    total, newest = 0, 0.0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                about = os.stat(os.path.join(folder, name))
            except OSError:  # it went away meanwhile
                continue
            total, newest = total + about.st_size, max(newest, about.st_mtime)
    return total, newest


def _news(report: Report) -> frozenset[tuple[str, str]]:
    return frozenset((each.id, each.severity) for each in report.findings)


def _ended(report: Report) -> bool:
    return any(each["kind"] in ("finished", "crashed") for each in report.to_dict()["marks"])


def watch(
    path: Place, *, every: float = 2.0, idle: Optional[float] = None, forever: bool = False, **options: Any
) -> Iterator[Report]:
    """Follows a log while it is written: yields a report whenever the findings or the status have changed, and the last
    one at the end. It ends when the run says that it finished, unless `forever` is set, or when nothing was written for
    `idle` seconds. A log that does not exist yet is waited for. Further options are those of `diagnose`.

        for report in osler.watch("runs/exp42"):
            if report.sick:
                break
    """
    text = os.fspath(path)
    seen: Any = None
    told: Any = None
    newest: Optional[Report] = None
    quiet = time.monotonic()
    while True:
        now = _stamp(text) if os.path.exists(text) else None
        if now is not None and now != seen:
            seen, quiet = now, time.monotonic()
            try:
                newest = diagnose(read(text), **options)
            except OslerError:  # not whole yet
                newest = None
            if newest is not None:
                fresh = (newest.status, _news(newest))
                if fresh != told:
                    told = fresh
                    yield newest
                if _ended(newest) and not forever:
                    return
        if idle is not None and time.monotonic() - quiet >= idle:
            return
        time.sleep(every)


class _Tee(io.TextIOBase):
    """A stream that passes everything on and shows whole lines to a watcher."""

    def __init__(self, stream: TextIO, show: Callable[[str], None]) -> None:
        self._stream = stream
        self._show = show
        self._rest = ""

    def write(self, text: str) -> int:
        written = self._stream.write(text)
        self._rest += text
        *lines, self._rest = self._rest.replace("\r", "\n").split("\n")
        for line in lines:
            self._show(line)
        return written if written is not None else len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


class _LogLines(logging.Handler):
    """Log records as lines, for handlers that hold on to the old stream."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        self._show(record.getMessage())


class Watching:
    """A script under watch; `report()` says what is wrong with it so far, `stop()` ends the watch."""

    def __init__(
        self,
        log: Optional[Place],
        every: float,
        on_line: Optional[Callable[[str], None]],
        judge: Optional[_core.StopJudge],
        options: dict[str, Any],
    ) -> None:
        self._own = log is None
        handle, place = tempfile.mkstemp(suffix=".log", prefix="osler-") if log is None else (None, os.fspath(log))
        self.log = place
        self._file = open(handle if handle is not None else place, "w", encoding="utf-8", buffering=1)
        self._options = options
        self._on_line = on_line
        self._judge = judge
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()
        self._busy = threading.local()
        self._ended = threading.Event()
        self._streams = (sys.stdout, sys.stderr)
        sys.stdout = _Tee(self._streams[0], self._show)  # type: ignore[assignment]
        sys.stderr = _Tee(self._streams[1], self._show)  # type: ignore[assignment]
        self._tees = (sys.stdout, sys.stderr)
        self._handler = _LogLines(self._show_record)
        logging.getLogger().addHandler(self._handler)
        self._thread = threading.Thread(target=self._look, args=(every,), name="osler-watch", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def _show(self, line: str) -> None:
        if getattr(self._busy, "talking", False):
            return
        with self._lock:
            if not self._file.closed:
                self._file.write(line + "\n")

    def _show_record(self, line: str) -> None:
        # A handler that writes to the streams we hold shows the record there already.
        for handler in logging.getLogger().handlers:
            if getattr(handler, "stream", None) in self._tees:
                return
        self._show(line)

    def report(self) -> Report:
        """The diagnosis of what was printed so far."""
        return self._look_at(self._run())

    def _run(self) -> Run:
        with self._lock:
            if not self._file.closed:
                self._file.flush()
        return read(self.log)

    def _look_at(self, run: Run) -> Report:
        return diagnose(run, **self._options)

    def _say(self, text: str) -> None:
        if self._on_line is None:
            return
        self._busy.talking = True
        try:
            self._on_line(f"osler: {text}")
        finally:
            self._busy.talking = False

    def _tell(self) -> None:
        try:
            run = self._run()
            report = self._look_at(run)
        except OslerError:  # nothing that looks like a training yet
            return
        for finding in report.findings:
            if finding.severity == "note" or (finding.id, finding.severity) in self._told:
                continue
            self._told.add((finding.id, finding.severity))
            self._say(f"{finding.severity}: {finding.summary} [{finding.id}]")
        why = self._judge.look(report._core, run._core) if self._judge is not None else None
        if why is not None and not self._ended.is_set():
            import _thread

            self._ended.set()
            self._say(f"ends the training: {why}")
            _thread.interrupt_main()

    def _look(self, every: float) -> None:
        seen = -1
        while not self._ended.wait(every):
            size = os.path.getsize(self.log)
            if size != seen:
                seen = size
                self._tell()

    def stop(self) -> None:
        """Ends the watch: the streams are as before, what is new is told once more. Fine to call twice."""
        atexit.unregister(self.stop)
        if sys.stdout is self._tees[0]:
            sys.stdout = self._streams[0]
        if sys.stderr is self._tees[1]:
            sys.stderr = self._streams[1]
        logging.getLogger().removeHandler(self._handler)
        if self._file.closed:
            return
        self._ended.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=5)
        self._judge = None
        self._tell()
        self._file.close()
        if self._own:
            os.unlink(self.log)

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()


def watch_this(
    log: Optional[Place] = None,
    *,
    every: float = 5.0,
    on_line: Optional[Callable[[str], None]] = lambda line: print(line, file=sys.stderr),
    stop_on_critical: bool = False,
    stop_after_points: int = 30,
    **options: Any,
) -> Watching:
    """Watches the script that calls it by what it prints and logs, as `osler watch -- python script.py` does:

        import osler
        osler.watch_this()

    Everything is passed on unchanged. Findings go to `on_line` when they are new (standard error unless you say
    otherwise). `stop_on_critical` raises KeyboardInterrupt in the main thread when the training is hopeless: a critical
    finding that is at least 90 % sure (or 80 %, and lasts), a training that has got worse and not merely no better,
    `stop_after_points` points of the loss, and later ones that show it still, as with `osler watch --stop-on critical`.
    `log` keeps what was printed. Further options are those of `diagnose`.
    """
    judge = _core.StopJudge(stop_after_points) if stop_on_critical else None
    return Watching(log, every, on_line, judge, options)
