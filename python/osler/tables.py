"""Tables as runs: dicts of columns, DataFrames, rows as dicts, Parquet and Feather files."""

from __future__ import annotations

import array
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from osler import _core
from osler.errors import InvalidError, UnsupportedError
from osler.run import Run

# Columns that count steps, the best first; compared in lower case without separators.
_STEP_NAMES = ("step", "globalstep", "trainerglobalstep", "iteration", "iter", "batch", "update", "epoch")
_ARROW_ENDINGS = (".parquet", ".pq", ".feather", ".arrow")


def is_arrow_file(path: str) -> bool:
    """Whether a path names a Parquet or Feather file, which pyarrow reads."""
    return path.lower().endswith(_ARROW_ENDINGS) and os.path.isfile(path)


def read_arrow_file(path: str) -> Run:
    """A Parquet or Feather file as a run."""
    try:
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as missing:
        raise UnsupportedError(
            f"{path}: Parquet and Feather files are read by pyarrow, which is not installed: pip install pyarrow",
            "unsupported",
            path,
        ) from missing
    if path.lower().endswith((".parquet", ".pq")):
        table = pyarrow.parquet.read_table(path)
    else:
        table = pyarrow.feather.read_table(path)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return run_of(columns, name=path)


def run_of(data: Any, *, step: Optional[str] = None, name: str = "run") -> Run:
    """A run made of a dict of columns, a DataFrame, or rows as dicts."""
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return _run_of_frame(data, step, name)
    if isinstance(data, Mapping):
        return _run_of_columns(data, step, name)
    if isinstance(data, Iterable):
        return _run_of_rows(data, step, name)
    raise InvalidError(
        f"cannot diagnose a {type(data).__name__}: give a path, a Run, a dict of columns, a DataFrame or rows as dicts",
        "invalid-argument",
    )


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def step_column(names: Iterable[str], wished: Optional[str]) -> Optional[str]:
    """The column that counts the steps, or None."""
    known = list(names)
    if wished is not None:
        if wished not in known:
            raise InvalidError(f"there is no column '{wished}'; there are: {', '.join(known[:8])}", "invalid-argument")
        return wished
    by_plain = {_plain(each): each for each in reversed(known)}
    return next((by_plain[word] for word in _STEP_NAMES if word in by_plain), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (hasattr(value, "__float__") and not isinstance(value, str))


def _new_run(name: str) -> _core.Run:
    return _core.Run(name)


def _run_of_rows(rows: Iterable[Any], step: Optional[str], name: str) -> Run:
    core = _new_run(name)
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidError(f"row {number} is a {type(row).__name__}, not a dict", "invalid-argument")
        keys = {str(key): value for key, value in row.items()}
        column = step_column(keys, step if step in keys or number == 0 else None)
        at = int(keys[column]) if column is not None and _is_number(keys[column]) else number
        for key, value in keys.items():
            if key != column and _is_number(value):
                core.add(key, at, float(value))
    return Run(core)


def _read_as_it_is(values: Any, kinds: str) -> bool:
    """Whether an array can be read where it lies: one dimension, float64, float32 or int64."""
    type_of = getattr(values, "dtype", None)
    size = getattr(type_of, "itemsize", 0)
    fits = getattr(type_of, "kind", "-") in kinds and (size == 8 or (size == 4 and type_of.kind == "f"))  # type: ignore[union-attr]
    return fits and getattr(values, "ndim", 0) == 1 and getattr(type_of, "isnative", False)


def _column(values: Any) -> tuple[Any, Optional[bytes]]:
    """A column as numbers with a mask of what is present; None where everything is."""
    if _read_as_it_is(values, "fi"):
        return values, None
    numbers = array.array("d")
    mask = bytearray()
    for value in values:
        present = value is not None and _is_number(value)
        numbers.append(float(value) if present else math.nan)
        mask.append(1 if present else 0)
    return numbers, bytes(mask) if 0 in mask else None


def _run_of_columns(columns: Mapping[Any, Any], step: Optional[str], name: str) -> Run:
    named = {str(key): values for key, values in columns.items()}
    column = step_column(named, step)
    lengths = {key: len(values) for key, values in named.items() if hasattr(values, "__len__")}
    if len(lengths) < len(named) or len(set(lengths.values())) > 1:
        raise InvalidError(f"columns of different lengths: {lengths}", "invalid-argument")
    rows = next(iter(lengths.values()), 0)
    steps: Any = array.array("q", range(rows)) if column is None else named[column]
    if column is not None and not _read_as_it_is(steps, "i"):
        steps = array.array("q", (int(each) for each in steps))
    table = []
    for key, values in named.items():
        if key == column:
            continue
        numbers, mask = _column(values)
        if mask is not None and 1 not in mask:
            continue  # words, not numbers
        table.append((key, numbers, mask))
    core = _new_run(name)
    core.add_table(steps, table)
    return Run(core)


def _present(values: Any) -> Optional[bytes]:
    """Which cells of a DataFrame's column are there.

    pandas writes NaN both where a value is missing and where it was not a number. A column of which every row but the
    last ones has a value did break: its NaN are kept from there on. Otherwise they are gaps.
    """
    present = values.notna().to_numpy(copy=True)
    if present.all():
        return None
    finite = present.nonzero()[0]
    if len(finite) >= 2:
        widest = int((finite[1:] - finite[:-1]).max())
        last = int(finite[-1])
        if len(present) - 1 - last >= max(widest, 2):
            present[last + 1 :] = True
    return bytes(present.tobytes())


def _run_of_frame(frame: Any, step: Optional[str], name: str) -> Run:
    column = step_column([str(each) for each in frame.columns], step)
    index_counts = column is None and getattr(frame.index.dtype, "kind", "") in "iu"
    table = []
    steps: Any = None
    for key in frame.columns:
        values = frame[key]
        if str(key) == column:
            steps = values.to_numpy()
            if not _read_as_it_is(steps, "i"):
                steps = values.ffill().fillna(0).astype("int64").to_numpy()
        elif getattr(values.dtype, "kind", "O") in "iufb":
            numbers = values.to_numpy()
            if not _read_as_it_is(numbers, "fi"):
                numbers = values.astype("float64").to_numpy()
            table.append((str(key), numbers, _present(values)))
    if steps is None:
        steps = frame.index.to_numpy().astype("int64") if index_counts else array.array("q", range(len(frame)))
    core = _new_run(name)
    core.add_table(steps, table)
    return Run(core)
