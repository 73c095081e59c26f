"""What can go wrong, as exceptions. Each says what the command line would say."""

from __future__ import annotations


class OslerError(Exception):
    """Something Osler could not do. `code` is the kind of failure, `context` where it happened."""

    def __init__(self, message: str, code: str = "internal", context: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.context = context


class NotFoundError(OslerError, FileNotFoundError):
    """Nothing is there that Osler could read."""

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidError(OslerError, ValueError):
    """What was asked for cannot be."""


class DamagedError(OslerError):
    """The data ends early or is damaged beyond use."""


class UnsupportedError(OslerError, NotImplementedError):
    """Understood, but nothing that Osler does."""


class FileError(OslerError, OSError):
    """The operating system refused."""

    def __str__(self) -> str:
        return str(self.args[0])


class NonfiniteError(OslerError, FloatingPointError):
    """A loss or a gradient was not finite, and the monitor was asked to raise then (`raise_on_nonfinite=True`)."""


_CLASSES = {
    "not-found": NotFoundError,
    "invalid-argument": InvalidError,
    "truncated": DamagedError,
    "corrupt": DamagedError,
    "unsupported": UnsupportedError,
    "io": FileError,
}


def error_for(code: str, message: str, context: str) -> OslerError:
    """The exception for an error of the engine."""
    return _CLASSES.get(code, OslerError)(message, code, context)
