"""The runs below some folders and what Osler says of them, kept up to date by a thread of its own."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from typing import Optional

from osler import _core
from osler.errors import OslerError
from osler.report import Report

_BADNESS = {"critical": 3, "warning": 2, "insufficient-data": 1, "healthy": 0}
# Looking through a large folder takes a while; nobody sees the difference of a few seconds.
_SECONDS_BETWEEN_LOOKS = 5.0

Stamp = tuple[tuple[str, int, int], ...]


def _stamp(files: list[str]) -> Stamp:
    """Changes whenever a file does."""
    stamps = []
    for path in files:
        try:
            info = os.stat(path)
        except OSError:
            continue
        stamps.append((path, info.st_size, info.st_mtime_ns))
    return tuple(stamps)


@dataclass
class Entry:
    """One run: what is known of it so far."""

    name: str
    stamp: Stamp = ()
    report: Optional[Report] = None
    trouble: str = ""
    version: int = 0
    doubtful: bool = False

    def hidden(self) -> bool:
        """Whether it lies beside logs and is none."""
        judged = self.report is not None and self.report.status != "insufficient-data"
        return self.doubtful and not judged

    def summary(self) -> dict[str, object]:
        """What a list of runs shows."""
        status = self.report.status if self.report else ("unreadable" if self.trouble else "examining")
        headline = self.report.headline if self.report else self.trouble
        return {"name": self.name, "status": status, "headline": headline, "version": self.version}


@dataclass
class Library:
    """All runs below `roots`. The thread sleeps unless somebody asked lately."""

    roots: list[str]
    _entries: dict[str, Entry] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: Optional[threading.Thread] = None
    _looked: float = 0.0
    _trouble: str = ""

    @property
    def looked(self) -> bool:
        """Whether the folders were looked through at least once."""
        return self._looked > 0

    def refresh(self, wait: float = 0.0) -> None:
        """Starts a look at the folders, unless one is under way or was just made; waits for it for so many seconds."""
        with self._lock:
            idle = self._thread is None or not self._thread.is_alive()
            if idle and (self._looked == 0 or time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS):
                self._thread = threading.Thread(target=self._look, name="osler-tensorboard", daemon=True)
                self._thread.start()
            thread = self._thread
        if wait and thread is not None:
            thread.join(wait)

    def runs(self) -> tuple[list[dict[str, object]], str]:
        """Every run, the worst first, and what went wrong with the folders themselves."""
        with self._lock:
            entries = [each for each in self._entries.values() if not each.hidden()]
            trouble = self._trouble
        entries.sort(key=lambda each: (-_BADNESS.get(each.report.status if each.report else "", -1), each.name))
        return [each.summary() for each in entries], trouble

    def report(self, name: str) -> Optional[Report]:
        """What is said of a run; nothing where there is no such run, or no verdict yet."""
        with self._lock:
            entry = self._entries.get(name)
            return entry.report if entry else None

    def _look(self) -> None:
        found: dict[str, _core.Source] = {}
        trouble = []
        for root in self.roots:
            try:
                found.update({self._name(root, each.name): each for each in _core.find(root)})
            except OslerError as error:
                trouble.append(str(error))
        with self._lock:
            self._trouble = "; ".join(trouble)
            self._entries = {name: self._entries.get(name) or Entry(name) for name in found}
        for name, source in found.items():
            self._examine(name, source)
        with self._lock:
            self._looked = time.monotonic()

    def _name(self, root: str, name: str) -> str:
        below = os.path.relpath(name, root) if os.path.isabs(name) == os.path.isabs(root) else name
        shown = name if below.startswith("..") else below
        return shown if len(self.roots) == 1 else os.path.join(os.path.basename(root.rstrip("/")), shown)

    def _examine(self, name: str, source: _core.Source) -> None:
        stamp = _stamp(source.files)
        with self._lock:
            entry = self._entries[name]
            entry.doubtful = source.doubtful
            if entry.version and entry.stamp == stamp:
                return
        report, trouble = None, ""
        try:
            run = source.read()
            report = Report(_core.diagnose(run, {}, {}, []), run)
        except OslerError as error:
            trouble = str(error)
        with self._lock:
            entry.stamp, entry.report, entry.trouble = stamp, report, trouble
            entry.version += 1
