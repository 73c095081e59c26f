"""Reads the W&B run in a sample folder of osler_sink_samples back and compares it with what was recorded.

With the wandb package at hand its own reader (DataStore and the Record message) does the reading, and the records are
parsed by its generated code. Without it, the framing and the few messages needed are read by the code below, written
from the client's published format and sharing nothing with Osler. The last line says which of the two was used.
"""

import json
import math
import struct
import sys
import zlib
from pathlib import Path

BLOCK = 32768
FRAME = struct.Struct("<IHB")  # checksum of type and data, length, type
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def frames(data):
    """The records of a .wandb file; an assertion fails where the client's reader would give up."""
    ident, magic, version = struct.unpack_from("<4sHB", data)
    assert (ident, magic, version) == (b":W&B", 0xBEE1, 0), "the file does not open as a W&B log"
    at = FRAME.size
    parts = []
    while at < len(data):
        left = BLOCK - at % BLOCK
        if left < FRAME.size:
            assert not any(data[at : at + left]), f"the rest of the block at byte {at} is not empty"
            at += left
            continue
        checksum, length, kind = FRAME.unpack_from(data, at)
        piece = data[at + FRAME.size : at + FRAME.size + length]
        assert len(piece) == length and length + FRAME.size <= left, f"the fragment at byte {at} does not fit its block"
        assert zlib.crc32(piece, zlib.crc32(bytes([kind]))) == checksum, f"wrong checksum at byte {at}"
        assert kind in ((MIDDLE, LAST) if parts else (FULL, FIRST)), f"type {kind} is out of place at byte {at}"
        parts.append(piece)
        at += FRAME.size + length
        if kind in (FULL, LAST):
            yield b"".join(parts)
            parts = []
    assert not parts, "the last record is cut off"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def message(data):
    """The fields of a protobuf message as (number, value); bytes for what has a length."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, f"wire type {tag & 7} is not used here"
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        yield tag >> 3, value


def items(data):
    found = {}
    for number, value in message(data):
        if number == 1:
            entry = dict(message(value))
            found[entry[1].decode()] = json.loads(entry[16])
    return found


def records_by_own_code(path):
    names = {2: "history", 3: "summary", 5: "config", 17: "run", 18: "exit", 21: "header"}
    for data in frames(path.read_bytes()):
        for number, value in message(data):
            kind = names.get(number)
            if kind in ("history", "summary", "config"):
                yield kind, items(value)
            elif kind == "run":
                yield kind, dict(message(value))[1].decode()
            elif kind == "exit":
                yield kind, dict(message(value)).get(1, 0)


def records_by_client(path):
    from wandb.proto.wandb_internal_pb2 import Record
    from wandb.sdk.internal.datastore import DataStore

    store = DataStore()
    store.open_for_scan(str(path))
    while (data := store.scan_data()) is not None:
        record = Record()
        record.ParseFromString(data)
        kind = record.WhichOneof("record_type")
        if kind == "history":
            yield kind, {item.key: json.loads(item.value_json) for item in record.history.item}
        elif kind in ("summary", "config"):
            yield kind, {item.key: json.loads(item.value_json) for item in getattr(record, kind).update}
        elif kind == "run":
            yield kind, record.run.run_id
        elif kind == "exit":
            yield kind, record.exit.exit_code


def reader():
    try:
        import wandb
        import wandb.proto.wandb_internal_pb2
        import wandb.sdk.internal.datastore
    except ImportError:
        return records_by_own_code, "an independent reader of the published format (the wandb package is not here)"
    return records_by_client, f"the reader of the wandb package {wandb.__version__}"


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def compare(found, expected, problems):
    history = [row for kind, row in found if kind == "history"]
    steps = [row["_step"] for row in history]
    if steps != sorted(set(steps)):
        problems.append("a step comes twice or out of order")
    for name, wanted in expected["scalars"].items():
        got = [(row["_step"], float(row[name])) for row in history if name in row]
        if len(got) != len(wanted):
            problems.append(f"{name}: {len(got)} values against {len(wanted)}")
        elif not all(a[0] == b[0] and same(a[1], float(b[2])) for a, b in zip(got, wanted)):
            problems.append(f"{name}: values differ")
    for name, wanted in expected["histograms"].items():
        got = [(row["_step"], row[name]) for row in history if name in row]
        for (step, histogram), want in zip(got, wanted):
            right = histogram["_type"] == "histogram" and histogram["values"] == want["bucket"]
            if step != want["step"] or not right or histogram["bins"][1:] != want["bucket_limit"]:
                problems.append(f"{name}: the histogram at step {want['step']} differs")
        if len(got) != len(wanted):
            problems.append(f"{name}: {len(got)} histograms against {len(wanted)}")
    config = {}
    for kind, entries in found:
        if kind == "config":
            config.update({key: str(value) for key, value in entries.items()})
    if config != expected["config"]:
        problems.append(f"configuration {config} against {expected['config']}")
    kinds = [kind for kind, _ in found]
    if kinds[0] != "run" or kinds[-1] != "exit" or "summary" not in kinds:
        problems.append("the records that open and close a run are missing")


def main(folder):
    expected = json.loads((folder / "expected.json").read_text())
    logs = sorted(folder.glob("wandb/offline-run-*/run-*.wandb"))
    if len(logs) != 1:
        sys.exit(f"expected one W&B run below {folder}, found {len(logs)}")
    read, name = reader()
    problems = []
    found = list(read(logs[0]))
    compare(found, expected, problems)
    for problem in problems:
        print(problem)
    print(f"{len(found)} records of {logs[0].name} read by {name}: {'they differ' if problems else 'the same'}")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: check_wandb.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
