"""What the package costs and leaves behind: imports, memory, threads, copies of tensors."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import osler

# Modules beyond those that Python itself has loaded when it starts. 100 ms are far away at this number; each is a fraction
# of a millisecond. More than a few new ones would be a package that somebody imports by mistake.
MOST_MODULES = 90
HEAVY = ("numpy", "torch", "pandas", "asyncio", "multiprocessing", "logging", "subprocess", "importlib.metadata", "typing_extensions")


def test_importing_it_loads_little() -> None:
    words = (
        "import sys; before = set(sys.modules); import osler; "
        "print('\\n'.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", words], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "osler._core" in loaded
    assert [name for name in loaded if name in HEAVY] == []
    assert len(loaded) <= MOST_MODULES, loaded


def test_what_comes_later_is_offered_all_the_same() -> None:
    assert {"compare", "watch_this", "plot", "Experiment"} <= set(dir(osler))
    assert all(hasattr(osler, name) for name in osler.__all__)
    with pytest.raises(AttributeError, match="no attribute 'diagnos'"):
        osler.diagnos  # noqa: B018


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc, which is Linux's")
def test_a_thousand_recorders_leave_nothing_behind() -> None:
    def make() -> None:
        run = osler.Recorder()
        run.log({"loss": 1.0}, step=0)
        run.close()

    for _ in range(100):
        make()
    gc.collect()
    before = (threading.active_count(), _open_files(), _resident())
    for _ in range(1000):
        make()
    gc.collect()
    after = (threading.active_count(), _open_files(), _resident())
    # Threads that were there before may end meanwhile.
    assert after[0] <= before[0] and after[1] <= before[1]
    assert after[2] - before[2] < 16 << 20, "recorders that were dropped still hold memory"


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc, which is Linux's")
def test_a_thousand_monitors_leave_nothing_behind() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    from osler.torch import Monitor

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(4, 8)

    def make() -> None:
        monitor = Monitor(model, optimizer, on_line=None)
        loss = model(x).square().mean()
        loss.backward()
        monitor.step(loss)

    def hooks() -> int:
        return sum(len(module._forward_pre_hooks) + len(module._forward_hooks) for module in model.modules())

    for _ in range(100):
        make()
    gc.collect()
    before = (threading.active_count(), _open_files(), hooks(), sys.getrefcount(model), sys.getrefcount(optimizer))
    memory = _resident()
    for _ in range(1000):
        make()
    gc.collect()
    after = (threading.active_count(), _open_files(), hooks(), sys.getrefcount(model), sys.getrefcount(optimizer))
    assert after == before
    assert _resident() - memory < 32 << 20, "monitors that were dropped still hold memory"


def test_tensors_on_the_processor_are_not_copied() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
    from osler.torch import Monitor

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(2))
    model(torch.randn(2, 3, 8, 8))
    model.to(memory_format=torch.channels_last)
    monitor = Monitor(model, torch.optim.Adam(model.parameters()), statistics_every=1, trace_every=1, on_line=None)
    x = torch.randn(4, 3, 8, 8).to(memory_format=torch.channels_last)
    for _ in range(5):
        monitor.batch(x)
        monitor.train_step(lambda: model(x).square().mean())
    assert monitor.copies == 0
    strided = torch.nn.Parameter(torch.randn(8, 16)[:, ::2])
    assert osler._core.tensor_facts(strided.detach())["count"] == 64


def test_columns_are_read_where_they_lie() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    table: dict[str, Any] = {"loss": numpy.linspace(2, 1, 100_000), "lr": numpy.full(100_000, 0.1, dtype="float32")}
    for _ in range(3):
        osler.diagnose(table)
    gc.collect()
    before = [sys.getrefcount(each) for each in table.values()]
    osler.diagnose(table)
    assert [sys.getrefcount(each) for each in table.values()] == before


def test_an_abandoned_file_is_still_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.osler"
    run = osler.Recorder(path)
    for step in range(20):
        run.log({"loss": 1.0}, step=step)
    del run
    gc.collect()
    assert osler.read(path).steps.last == 19
