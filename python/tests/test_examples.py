"""The programs of examples/python run and say what they promise."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"


def _output(name: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_diagnose_log() -> None:
    assert "do: Divide the learning rate by 10" in _output("diagnose_log.py")


def test_plain_loop() -> None:
    assert "CRITICAL" in _output("plain_loop.py")
    assert "CRITICAL" not in _output("plain_loop.py", "0.01")


def test_pytorch_loop() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    assert "Nothing wrong was found" in _output("pytorch_loop.py")
    assert "critical" in _output("pytorch_loop.py", "1000")


def test_nan_origin() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    output = _output("nan_origin.py")
    lines = (EXAMPLES / "nan_origin.py").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "torch.log" in text)
    assert f"place: forward - operation: log - line: nan_origin.py:{line}" in output
    assert "the logarithm of zero" in output


def test_compare_runs(tmp_path: Path) -> None:
    assert _output("compare_runs.py").startswith("worse - ")
    logs = EXAMPLES.parent / "logs"
    _output("compare_runs.py", str(logs / "healthy.csv"), str(logs / "sick.csv"), str(tmp_path / "sick.svg"))
    assert "<svg" in (tmp_path / "sick.svg").read_text()


def test_watch_script() -> None:
    assert "osler: critical" in _output("watch_script.py")
    assert "osler: critical" not in _output("watch_script.py", "0.01")


def test_probe_training() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    sound = _output("probe_training.py")
    assert "checkup: passed" in sound and "The gradient noise scale is" in sound
    assert "going on with" in _output("probe_training.py", "1e-6")


def test_settle_and_treat() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    output = _output("settle_and_treat.py")
    assert "most probable: lr-too-low" in output and "kept" in output


@pytest.mark.parametrize(
    ("name", "framework", "sick"),
    [
        ("lightning_fit.py", "lightning.pytorch", "1e20"),
        ("hugging_face_trainer.py", "transformers", "1e15"),
        ("keras_fit.py", "keras", "1e30"),
    ],
)
def test_one_callback_in_each_framework(name: str, framework: str, sick: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    if importlib.util.find_spec(framework.partition(".")[0]) is None:
        pytest.skip(f"{framework} is not installed")
    old = not hasattr(torch, "compile")
    if framework == "lightning.pytorch" and old:
        pytest.skip("Lightning imports what PyTorch 1.13 does not have on Python 3.11; test_callbacks.py tries it")
    monkeypatch.setenv("KERAS_BACKEND", "jax" if old else "torch")
    assert "CRITICAL" not in _output(name)
    assert "CRITICAL" in _output(name, sick)


def test_every_example_is_tried() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in tests] == []
