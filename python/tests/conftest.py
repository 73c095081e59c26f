"""What the tests share: logs of real trainings, and small networks."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def sick_log() -> Path:
    """The log of a training whose rate is far too high."""
    return ROOT / "examples" / "logs" / "sick.csv"


@pytest.fixture
def healthy_log() -> Path:
    """The log of the same training with a sound rate."""
    return ROOT / "examples" / "logs" / "healthy.csv"
