"""Writes the .wandb samples of this folder: protocol buffers in a LevelDB-style log, by hand."""
import json
import math
import os
import struct
import zlib

BLOCK = 32768


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def item(name, value):
    keys = field(1, name) if isinstance(name, str) else b"".join(field(2, part) for part in name)
    return field(1, keys + field(16, json.dumps(value)))


def history(step, row, with_step=True):
    body = b"".join(item(name, value) for name, value in row.items())
    if with_step:
        body += item("_step", step) + item("_runtime", step * 2) + item("_timestamp", 1700000000 + step)
    return field(2, body + field(2, field(1, step)))


def log(records):
    out = b":W&B" + struct.pack("<HB", 0xBEE1, 0)
    for record in records:
        first = True
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += b"\0" * room
                continue
            piece, record = record[: room - 7], record[room - 7 :]
            kind = (1 if not record else 2) if first else (4 if not record else 3)
            crc = zlib.crc32(piece, zlib.crc32(bytes([kind])))
            out += struct.pack("<IHB", crc, len(piece), kind) + piece
            first = False
            if not record:
                break
    return out


def run():
    config = item("lr", 0.001) + item("model", {"width": 64, "name": "mlp"}) + item("_wandb", {"version": "0.16"})
    yield field(17, field(1, "abc123") + field(3, "demo") + field(8, "brave-lion-7") + field(4, config))
    for step in range(20):
        row = {"loss": 2.5 / math.sqrt(step + 1), "train": {"acc": step / 20}, ("val", "loss"): 2.6 / math.sqrt(step + 1)}
        if step == 7:
            row["loss"] = float("nan")
        if step == 11:
            row["big"] = "x" * 40000  # a record that spans blocks
        if step % 5 == 0:
            row["gradients/fc1.weight"] = {"_type": "histogram", "values": [1, 8, 1], "bins": [-0.2, -0.1, 0.1, 0.2]}
            row["parameters/fc1.weight"] = {
                "_type": "histogram", "values": [2, 6, 2], "packedBins": {"min": -1.5, "size": 1.0, "count": 3}}
            row["picture"] = {"_type": "image-file", "width": 28, "height": 28}
        yield history(step, row, with_step=step != 3)
    yield field(18, field(1, 0) + field(2, 40))


def lightning():
    for call in range(12):
        step = call // 2 * 50 + 49
        row = {"trainer/global_step": step, "epoch": call // 4}
        row.update({"train_loss_step": 2.0 - call / 10, "global_step": step} if call % 2 == 0 else {"val_loss": 2.1 - call / 10})
        yield history(call, row)
    yield field(18, field(1, 1))


def write(name, data):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "wb") as file:
        file.write(data)


write("offline.wandb", log(run()))
write("lightning.wandb", log(lightning()))
damaged = bytearray(log(lightning()))
damaged[300] ^= 0x10
damaged[900] ^= 0x01
write("damaged.wandb", bytes(damaged))
write("cut_off.wandb", log(lightning())[:-40])
