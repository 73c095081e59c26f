"""What the tests share: logs of real trainings, and small networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lightning, as this PyTorch lets it be."""
    framework = pytest.importorskip("lightning.pytorch", reason="Lightning is not installed: pip install lightning")
    try:
        import torch.distributed._shard.sharded_tensor  # noqa: F401
    except ValueError:  # PyTorch 1.13 on Python 3.11, which asks more of dataclasses
        hooks = "_register_sharded_tensor_state_dict_hooks_if_available"
        monkeypatch.setattr(framework.LightningModule, hooks, lambda module: None)
    except ImportError:  # without distributed training there is nothing to shard
        pass
    return framework
