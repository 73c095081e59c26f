"""What the monitor tells a person: lines, notes, layers, histograms, clipping, epochs, and where it stops."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path
from typing import Any, Optional

import pytest

import osler

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from osler.torch import Monitor  # noqa: E402

F = torch.nn.functional
PROGRAM = os.environ.get("OSLER_PROGRAM", "")


def _network(depth: int = 2, width: int = 16) -> Any:
    torch.manual_seed(1)
    layers: list[Any] = [torch.nn.Linear(8, width), torch.nn.Tanh()]
    for _ in range(depth - 1):
        layers += [torch.nn.Linear(width, width), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 2))


def _train(model: Any, steps: int = 60, lr: float = 0.1, poison: Optional[int] = None, **options: Any) -> Any:
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(256, 8, generator=generator)
    y = (x[:, 0] * x[:, 1] > 0).long()
    optimizer = torch.optim.SGD(model.parameters(), lr)
    monitor = Monitor(model, optimizer, **{"on_line": None, **options})
    for step in range(steps):
        at = torch.randint(0, len(x), (32,), generator=generator)
        bx = x[at]
        if step == poison:
            bx[0, 0] = math.nan
        optimizer.zero_grad()
        loss = F.cross_entropy(model(bx), y[at])
        loss.backward()
        if monitor.step(loss):
            optimizer.step()
    return monitor


def test_a_line_every_so_many_steps_says_how_it_goes() -> None:
    lines: list[str] = []
    _train(_network(), steps=41, line_every=20, clip_norm=1e-3, diagnose_every=-1, on_line=lines.append)
    assert [line.split()[2] for line in lines] == ["0", "20", "40"]
    assert lines[0].startswith("osler: step 0  loss 0.")
    for word in ("trend", "norm", "[clipped]", "clipped 100 %", "lr 0.1"):
        assert word in lines[-1], lines[-1]
    lines.clear()
    _train(_network(), steps=10, diagnose_every=-1, on_line=lines.append)
    assert not lines, "nobody asked for lines"


def test_osler_reads_its_own_lines(tmp_path: Path) -> None:
    lines: list[str] = []
    _train(_network(), steps=200, line_every=5, clip_norm=0.5, diagnose_every=-1, on_line=lines.append)
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    run = osler.read(tmp_path / "train.log")
    assert len(run["loss"].values) == 40
    assert list(run["loss"].steps)[:3] == [0, 5, 10]


def test_clipping_is_recorded_with_its_factor(tmp_path: Path) -> None:
    limit = 0.4
    _train(_network(), clip_norm=limit, run_file=tmp_path / "run.osler").close()
    run = osler.read(tmp_path / "run.osler")
    norms, factors, marks = (run[name].values for name in ("grad_norm", "osler/clip-factor", "clipped"))
    assert len(norms) == len(factors) == len(marks) == 60
    assert 0 < sum(marks) < 60, "some steps are clipped, some are not"
    for norm, factor, mark in zip(norms, factors, marks):
        assert factor == pytest.approx(min(1.0, limit / norm), rel=1e-4)
        assert mark == (1.0 if norm > limit else 0.0)
    _train(_network(), run_file=tmp_path / "free.osler").close()
    assert "clipped" not in osler.read(tmp_path / "free.osler").series


def test_the_mean_loss_of_each_epoch_is_recorded(tmp_path: Path) -> None:
    model = _network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = Monitor(model, optimizer, on_line=None, run_file=tmp_path / "run.osler")
    x, y = torch.randn(64, 8), torch.randint(0, 2, (64,))
    losses: list[float] = []
    for epoch in range(3):
        for _ in range(5):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            losses.append(loss.item())
            if monitor.step(loss):
                optimizer.step()
        monitor.epoch(epoch)
    report = monitor.report()
    assert report.roles["train-loss"][0] == "train/loss", report.roles
    monitor.close()
    run = osler.read(tmp_path / "run.osler")
    means = [sum(losses[5 * epoch : 5 * epoch + 5]) / 5 for epoch in range(3)]
    assert list(run["train/loss_epoch"].values) == pytest.approx(means)
    assert list(run["train/loss_epoch"].steps) == [4, 9, 14]


def test_a_note_of_ones_own_is_in_the_report(tmp_path: Path) -> None:
    monitor = _train(_network(), steps=30, run_file=tmp_path / "run.osler")
    monitor.note("doubled the batch, to see whether the noise goes")
    assert "doubled the batch" in monitor.report().text()
    monitor.close()
    assert "doubled the batch" in osler.diagnose(tmp_path / "run.osler").text()


@pytest.mark.parametrize("whole", [False, True])
def test_a_training_that_is_to_end_at_the_first_nan_does(tmp_path: Path, whole: bool) -> None:
    model = _network()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = Monitor(model, optimizer, on_line=None, raise_on_nonfinite=True, run_file=tmp_path / "run.osler")
    x = torch.full((4, 8), math.nan)
    y = torch.zeros(4, dtype=torch.long)
    with pytest.raises(osler.NonfiniteError, match="loss is not finite.*batch") as told:
        if whole:
            monitor.train_step(lambda: F.cross_entropy(model(x), y))
        else:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            monitor.step(loss)
    assert told.value.context == "step 0"
    assert isinstance(told.value, FloatingPointError) and isinstance(told.value, osler.OslerError)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters())), "the weights are as they were"
    assert monitor.train_step(lambda: F.cross_entropy(model(torch.randn(4, 8)), y)), "one may go on all the same"
    assert monitor.steps == 2
    monitor.close()
    assert osler.diagnose(tmp_path / "run.osler").has("loss-nonfinite-at-start")


def test_without_being_asked_to_it_goes_on() -> None:
    monitor = _train(_network(), poison=20)
    assert monitor.steps == 60 and monitor.skipped == 1


def test_layers_are_told_in_order_with_what_is_wrong() -> None:
    layers = _train(_network(depth=3), statistics_every=1, trace_every=1).layers()
    weights = [layer.name for layer in layers if layer.name.endswith("weight")]
    assert weights == ["0.weight", "2.weight", "4.weight", "6.weight"]
    assert not layers.sick, str(layers)
    first = layers[0]
    assert first.status == "ok" and first.gradient_norm and first.weight_norm and first.update_ratio
    assert layers.spans["gradient_norm"]["layers"] == 4
    assert "lowest" in str(layers) and "median" in layers.text(80, ascii=True)


class _Wounded(torch.nn.Module):
    """Twenty-one equal layers beside each other, of which three are ill, each in its own way."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.parts = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(21))
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        total = torch.zeros_like(x)
        for number, part in enumerate(self.parts):
            out = part(x)
            scale = {5: 300.0, 11: 1e-9}.get(number, 1.0)
            out = scale * out + (1 - scale) * out.detach()  # the value stays, its gradient is scaled
            total = total + (out.detach() if number == 16 else out)
        return self.head(total / 21)


def test_one_exploding_one_silent_and_one_dead_layer_are_named() -> None:
    torch.manual_seed(3)
    model = _Wounded()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    monitor = Monitor(model, optimizer, on_line=None, statistics_every=1)
    for _ in range(120):  # labels that say nothing: it does not learn
        optimizer.zero_grad()
        loss = F.cross_entropy(model(torch.randn(32, 8)), torch.randint(0, 2, (32,)))
        loss.backward()
        if monitor.step(loss):
            optimizer.step()
    status = {layer.name: layer.status for layer in monitor.layers() if layer.name.endswith("weight")}
    assert status["parts.5.weight"] == "exploding", monitor.layers().text(100)
    assert status["parts.11.weight"] == "silent"
    assert status["parts.16.weight"] == "dead"
    assert [name for name, word in status.items() if word != "ok" and name.startswith("parts")] == [
        "parts.5.weight",
        "parts.11.weight",
        "parts.16.weight",
    ]


@pytest.mark.skipif(not PROGRAM, reason="OSLER_PROGRAM does not name the program")
def test_histograms_are_in_the_run_file_and_can_be_drawn(tmp_path: Path) -> None:
    file = tmp_path / "run.osler"
    _train(_network(), steps=150, statistics_every=5, trace_every=5, histograms_every=10, run_file=file).close()
    for series in ("weights/0.weight", "gradients/2.weight", "activations/0 -> tanh"):
        words = ["plot", str(file), "--kind", "ridge", "--series", series, "-o", str(tmp_path / "ridge.svg")]
        drawn = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
        assert drawn.returncode == 0, drawn.stderr
    _train(_network(), histograms_every=-1, run_file=tmp_path / "none.osler").close()
    words = ["plot", str(tmp_path / "none.osler"), "--kind", "ridge"]
    none = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    assert none.returncode == 2 and "no histograms" in none.stderr


class _Spare(torch.nn.Module):
    """Has a layer that it never uses, and normalises."""

    def __init__(self, cut: bool = False, spare: bool = False) -> None:
        super().__init__()
        self.first, self.norm, self.last = torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 2)
        self.cut = cut
        if spare:
            self.spare = torch.nn.Linear(16, 16)

    def forward(self, x: Any) -> Any:
        h = torch.relu(self.norm(self.first(x)))
        return self.last(h.detach() if self.cut else h)


def _told_early(model: Any, clear: bool = True, sorted_: bool = False, mode: bool = True, rate: float = 0.05) -> set[str]:
    """What is told within a hundred steps when nobody asks for a report."""
    torch.manual_seed(3)
    told: set[str] = set()
    optimizer = torch.optim.SGD(model.parameters(), rate)
    monitor = Monitor(model, optimizer, on_line=None, on_finding=lambda name, severity, _: told.add(f"{severity} {name}"))
    model.train(mode)
    for step in range(100):
        x = torch.randn(24, 8)
        y = torch.full((24,), step % 2) if sorted_ else (x[:, 0] > 0).long()
        monitor.batch(x, y)
        if clear:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if monitor.step(loss):
            optimizer.step()
    monitor.close()
    return {each for each in told if not each.startswith("note")}


@pytest.mark.parametrize(
    ("how", "finding"),
    [
        ({"model": lambda: _Spare(spare=True)}, "dead-layer"),
        ({"model": lambda: _Spare(cut=True)}, "dead-layer"),
        ({"model": _Spare, "clear": False, "rate": 0.002}, "gradients-accumulating"),
        ({"model": _Spare, "mode": False}, "eval-mode-in-training"),
        ({"model": _Spare, "sorted_": True}, "labels-invalid"),
    ],
)
def test_what_is_seen_early_is_told_early(how: dict[str, Any], finding: str) -> None:
    torch.manual_seed(2)
    rest = {key: value for key, value in how.items() if key != "model"}
    told = _told_early(how["model"](), **rest)
    assert any(finding in each for each in told), told


def test_a_sound_training_is_told_nothing_early() -> None:
    torch.manual_seed(2)
    assert _told_early(_Spare()) == set()


def test_what_the_first_validation_shows_is_told_then() -> None:
    told: list[str] = []
    model = _Spare()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    monitor = Monitor(model, optimizer, on_line=None, on_finding=lambda name, *_: told.append(name))
    x = torch.randn(24, 8)
    for _ in range(20):
        monitor.train_step(lambda: F.cross_entropy(model(x), (x[:, 0] > 0).long()))
    monitor.validation_batch(model(x).detach())
    assert not told
    monitor.validation(0.7, accuracy=0.5)
    assert "train-mode-in-validation" in told
    assert 0 < monitor.early_seconds < 3
    monitor.close()
