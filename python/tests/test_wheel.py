"""The wheel: built by pip, installed into a fresh environment, used by a script of five lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = os.environ.get("OSLER_WHEEL_SETTINGS", "")

SCRIPT = """
import osler, sys
report = osler.diagnose(sys.argv[1])
print(report.status, report.findings[0].id)
print(report.remedies[0].text)
print("torch" in sys.modules or "numpy" in sys.modules)
"""


def _run(*command: object) -> str:
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "OSLER_PROGRAM")}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env=plain)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without the network. ctest gives the flags of its own build: then the compiler's cache has the objects."""
    if not SETTINGS:
        pytest.skip("ctest runs this, with the flags of its own build")
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed: make setup fetches it")
    folder = tmp_path_factory.mktemp("wheel")
    settings = [f"--config-settings={each}" for each in SETTINGS.split("|")]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-index", "--no-deps"]
    _run(*pip, "--no-build-isolation", *settings, "--wheel-dir", folder, ROOT)
    return next(folder.glob("osler-*.whl"))


def test_a_fresh_environment_diagnoses_a_log_in_five_lines(wheel: Path, tmp_path: Path, sick_log: Path) -> None:
    _run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    _run(python, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", wheel)
    assert len(SCRIPT.strip().splitlines()) == 5
    (tmp_path / "five.py").write_text(SCRIPT)
    output = _run(python, tmp_path / "five.py", sick_log)
    assert output.splitlines() == ["critical loss-diverging", "Divide the learning rate by 10: lr 10 -> 1.", "False"]
    assert "osler" in _run(tmp_path / "venv" / "bin" / "osler", "--version")
    _run(python, "-c", "import osler, sys; osler.convert(*sys.argv[1:])", sick_log, tmp_path / "run.jsonl")
    assert (tmp_path / "run.jsonl").stat().st_size > 0
