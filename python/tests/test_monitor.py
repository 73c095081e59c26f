"""The monitor in real PyTorch trainings: sick, healthy, and unchanged by being watched."""

from __future__ import annotations

import gc
import io
import math
import os
import time
from pathlib import Path
from typing import Any, Callable, Optional

import pytest

import osler

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from osler.torch import Monitor  # noqa: E402

F = torch.nn.functional


def _data(samples: int = 512, features: int = 8, classes: int = 4) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(samples, features, generator=generator)
    teacher = torch.randn(features, classes, generator=generator)
    return x, (x @ teacher).argmax(1)


def _mlp(seed: int = 1, activation: Callable[[], Any] = torch.nn.ReLU, depth: int = 2) -> Any:
    torch.manual_seed(seed)
    layers: list[Any] = [torch.nn.Linear(8, 32), activation()]
    for _ in range(depth - 1):
        layers += [torch.nn.Linear(32, 32), activation()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(32, 4))


def _train(
    model: Any,
    steps: int = 150,
    lr: float = 0.05,
    optimizer: Any = None,
    clear: bool = True,
    loss_of: Callable[[Any, Any], Any] = F.cross_entropy,
    change: Optional[Callable[[int, Any, Any], tuple[Any, Any]]] = None,
    watched: bool = True,
    **options: Any,
) -> Any:
    x, y = _data()
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr)
    monitor = Monitor(model, optimizer, on_line=None, **options) if watched else None
    generator = torch.Generator().manual_seed(3)
    for step in range(steps):
        at = torch.randint(0, len(x), (32,), generator=generator)
        bx, by = x[at], y[at]
        if change is not None:
            bx, by = change(step, bx, by)
        if monitor is not None:
            monitor.batch(bx, by)
        if clear:
            optimizer.zero_grad()
        loss = loss_of(model(bx), by)
        loss.backward()
        if monitor is None or monitor.step(loss):
            optimizer.step()
    return monitor


def test_a_healthy_training_is_healthy_and_everything_is_recorded(tmp_path: Path) -> None:
    monitor = _train(_mlp(), run_file=tmp_path / "run.osler", classes=4, batch_size=32)
    report = monitor.report()
    assert report.status == "healthy", report.text()
    monitor.close()
    run = osler.read(tmp_path / "run.osler")
    for name in (
        "train/loss",
        "grad_norm",
        "lr",
        "step_time",
        "gradients/0.weight#norm",
        "weights/2.bias#mean",
        "updates/4.weight#ratio",
        "activations/0 -> relu#spread",
        "activations/0 -> relu#dead-share",
        "osler/batch/deviation",
        "osler/batch/class-share-so-far",
        "osler/check/gradients-cleared",
        "osler/check/parameters-not-optimized",
        "osler/init/scale/0.weight",
        "osler/logits/max",
    ):
        assert name in run.series, name
    assert run.configuration["optimizer"] == "SGD" and run.configuration["num_classes"] == "4"


def test_numbers_are_those_of_pytorch(tmp_path: Path) -> None:
    model = _mlp()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    monitor = _train(model, steps=2, statistics_every=1, run_file=tmp_path / "run.osler")
    monitor.close()
    run = osler.read(tmp_path / "run.osler")
    assert run["weights/0.weight#norm"].values[0] == pytest.approx(before[0].norm().item(), rel=1e-5)
    assert run["weights/0.weight#mean"].values[0] == pytest.approx(before[0].mean().item(), abs=1e-6)
    single = _mlp()
    x, y = _data()
    at = torch.randint(0, len(x), (32,), generator=torch.Generator().manual_seed(3))
    F.cross_entropy(single(x[at]), y[at]).backward()
    assert run["gradients/0.weight#norm"].values[0] == pytest.approx(single[0].weight.grad.norm().item(), rel=1e-5)
    whole = math.sqrt(sum(parameter.grad.pow(2).sum().item() for parameter in single.parameters()))
    assert run["grad_norm"].values[0] == pytest.approx(whole, rel=1e-5)
    update = 0.05 * single[0].weight.grad.norm().item()
    assert run["updates/0.weight#norm"].values[0] == pytest.approx(update, rel=1e-3)


@pytest.mark.parametrize("every", [0, 1])
def test_training_is_the_same_to_the_bit(every: int) -> None:
    def trained(watched: bool) -> Any:
        torch.manual_seed(5)
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(32, 4)
        )
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        options = {"statistics_every": every, "trace_every": every} if watched else {}
        _train(model, steps=80, optimizer=optimizer, watched=watched, **options)
        return model.state_dict()

    without, under = trained(False), trained(True)
    for name, tensor in without.items():
        assert torch.equal(tensor, under[name]), name


@pytest.mark.parametrize("where", ["get_rng_state", "buffers"])
def test_counts_what_it_does_besides_measuring(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(of: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            time.sleep(0.005)
            return of(*given)

        return call

    model = _mlp()
    model.register_buffer("running_mean", torch.zeros(1))
    if where == "get_rng_state":
        monkeypatch.setattr(torch, "get_rng_state", slowly(torch.get_rng_state))
    else:
        monkeypatch.setattr(torch.Tensor, "copy_", slowly(torch.Tensor.copy_))
    monitor = _train(model, steps=20, budget=0.0)
    assert monitor.share > 1, "five milliseconds of its own, beside a step of less than one"


def test_tensors_are_measured_where_they_lie() -> None:
    assert _train(_mlp(), steps=60, statistics_every=1, trace_every=1).copies == 0


def _frozen_head() -> Any:
    model = _mlp()
    _train_options = torch.optim.SGD([*model[0].parameters(), *model[2].parameters()], 0.05)
    return _train(model, optimizer=_train_options)


def _dead_relu() -> Any:
    model = _mlp()
    with torch.no_grad():
        model[0].bias.fill_(-100)
    return _train(model)


def _unused_layer() -> Any:
    class Detached(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(8, 32)
            self.second = torch.nn.Linear(32, 4)

        def forward(self, x: Any) -> Any:
            return self.second(torch.relu(self.first(x)).detach())

    return _train(Detached())


def _evaluation_mode() -> Any:
    model = torch.nn.Sequential(_mlp(), torch.nn.Dropout(0.1))
    model.eval()
    return _train(model)


def _same_batch() -> Any:
    x, y = _data(32)
    return _train(_mlp(), change=lambda step, bx, by: (x, y))


@pytest.mark.parametrize(
    ("train", "finding"),
    [
        (_frozen_head, "parameters-not-optimized"),
        (_dead_relu, "dead-neurons"),
        (_unused_layer, "dead-layer"),
        (_evaluation_mode, "eval-mode-in-training"),
        (_same_batch, "batch-repeated"),
        (lambda: _train(_mlp(), clear=False, lr=1e-4), "gradients-accumulating"),
        (lambda: _train(_mlp(activation=torch.nn.Sigmoid, depth=12)), "vanishing-by-depth"),
        (lambda: _train(_mlp(), change=lambda s, x, y: (1000 * x, y), lr=1e-6), "batch-extreme"),
        (lambda: _train(_mlp(), change=lambda s, x, y: (x, y * 0), classes=4), "class-imbalance"),
        (lambda: _train(_mlp(), lr=1e-7), "updates-too-small"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_finds_what_was_done_to_it_within_150_steps(train: Callable[[], Any], finding: str) -> None:
    report = train().report()
    assert report.has(finding), [each.id for each in report.findings]


def test_two_optimizers_hold_all_parameters() -> None:
    model = _mlp()
    first, second = torch.optim.SGD(model[0].parameters(), 0.05), torch.optim.SGD(model[2:].parameters(), 0.05)
    x, y = _data()
    monitor = Monitor(model, [first, second], on_line=None)
    for step in range(60):
        at = slice(step * 8 % 480, step * 8 % 480 + 32)
        first.zero_grad()
        second.zero_grad()
        loss = F.cross_entropy(model(x[at]), y[at])
        loss.backward()
        if monitor.step(loss):
            first.step()
            second.step()
    assert not monitor.report().has("parameters-not-optimized")


def test_ignored_labels_are_no_fault() -> None:
    monitor = Monitor(model := _mlp(), torch.optim.SGD(model.parameters(), 0.1), on_line=None)
    labels = torch.tensor([0, 1, -100, 2, -100, 3])
    report = monitor.batch(torch.randn(6, 8), labels)
    assert report is not None and report.invalid_labels == 0 and report.labels == 4
    wrong = monitor.batch(torch.randn(6, 8), torch.tensor([0, 1, -1, 2, 2, 3]))
    assert wrong is not None and wrong.invalid_labels == 1 and wrong.problems


def test_a_broken_step_is_left_out_and_statistics_are_put_back() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.Linear(32, 4))
    lines: list[str] = []
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = Monitor(model, optimizer, on_line=lines.append)
    x, y = _data(32)
    for step in range(5):
        inputs = x.clone()
        if step == 3:
            inputs[4, 2] = math.nan
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), y)
        loss.backward()
        went_on = monitor.step(loss)
        assert went_on == (step != 3)
        if went_on:
            optimizer.step()
    assert monitor.skipped == 1
    assert torch.isfinite(model[1].running_mean).all()
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())
    assert monitor.origin is not None and monitor.origin.place == "batch"
    assert "the first at [4, 2]" in lines[0] and lines[0].endswith("The step was left out.")


def test_clips_as_pytorch_does() -> None:
    def weights(by_osler: bool) -> Any:
        model = _mlp()
        optimizer = torch.optim.SGD(model.parameters(), 0.5)
        monitor = Monitor(model, optimizer, on_line=None, clip_norm=0.1 if by_osler else None)
        x, y = _data()
        for _ in range(20):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            if not by_osler:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            if monitor.step(loss):
                optimizer.step()
        return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])

    assert torch.allclose(weights(True), weights(False), atol=1e-5)


def test_train_step_does_the_whole_step_and_tells_the_times(tmp_path: Path) -> None:
    model = _mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = _data()
    with Monitor(model, optimizer, on_line=None, run_file=tmp_path / "run.osler") as monitor:
        first = F.cross_entropy(model(x), y).item()
        for _ in range(50):
            assert monitor.train_step(lambda: F.cross_entropy(model(x), y))
        assert F.cross_entropy(model(x), y).item() < first
    run = osler.read(tmp_path / "run.osler")
    assert {"osler/time/data", "osler/time/forward", "osler/time/backward", "osler/time/optimizer"} <= set(run.series)
    assert not osler.diagnose(run).has("gradients-accumulating")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": -0.1}, "budget is -0.1"),
        ({"clip_norm": -1.0}, "clip_norm is -1.0"),
        ({"classes": 1}, "classes is 1"),
        ({"statistics_every": -7}, "statistics_every is -7"),
    ],
)
def test_wrong_options_are_refused_with_what_to_do(options: dict[str, Any], words: str) -> None:
    model = _mlp()
    with pytest.raises(osler.InvalidError, match=words):
        Monitor(model, torch.optim.SGD(model.parameters(), 0.1), **options)


def test_wrong_use_is_refused_with_what_to_do() -> None:
    model = _mlp()
    with pytest.raises(osler.InvalidError, match="holds no parameter of this model"):
        Monitor(model, torch.optim.SGD(_mlp().parameters(), 0.1))
    monitor = Monitor(model, torch.optim.SGD(model.parameters(), 0.1), on_line=None)
    with pytest.raises(osler.InvalidError, match="single number"):
        monitor.step(torch.zeros(3))
    monitor.close()
    with pytest.raises(osler.InvalidError, match="after close"):
        monitor.step(torch.zeros(()))
    assert not model._forward_pre_hooks and not model[0]._forward_hooks


def test_half_precision_and_gaps_are_measured() -> None:
    model = _mlp().to(torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    x, y = _data()
    monitor = Monitor(model, optimizer, on_line=None, statistics_every=1)
    for _ in range(40):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.to(torch.bfloat16)).float(), y)
        loss.backward()
        if monitor.step(loss):
            optimizer.step()
    assert monitor.report().has("updates-lost-to-precision")


def test_validation_is_checked() -> None:
    model = torch.nn.Sequential(_mlp(), torch.nn.Dropout(0.5))
    monitor = _train(model)
    x, _ = _data()
    monitor.validation_batch(model(x))
    monitor.validation(0.5, accuracy=0.8)
    report = monitor.report()
    assert report.has("train-mode-in-validation") and report.has("validation-builds-graph")


def test_quick_check_names_what_is_wrong_now() -> None:
    model = _mlp()
    with torch.no_grad():
        model[2].weight[0, 0] = math.nan
    monitor = Monitor(model, torch.optim.SGD(model[0].parameters(), 0.1), on_line=None)
    problems = " ".join(monitor.quick_check())
    assert "2.weight holds 1 NaN of 1024 values." in problems and "4.bias is in no group" in problems


def test_findings_are_told_as_they_come() -> None:
    told: list[tuple[str, str, str]] = []
    _train(_mlp(), lr=1e4, diagnose_every=50, on_finding=lambda *finding: told.append(finding))
    assert told and all(severity in ("note", "warning", "critical") for _, severity, _ in told)
    assert len({finding for finding, _, _ in told}) >= 1


def test_monitors_leave_nothing_behind() -> None:
    model = _mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = _data(32)

    def once() -> None:
        with Monitor(model, optimizer, on_line=None) as monitor:
            monitor.train_step(lambda: F.cross_entropy(model(x), y))

    def held() -> tuple[int, int, int, int]:
        """Objects, kilobytes of memory, threads, open files."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return len(gc.get_objects()), pages * os.sysconf("SC_PAGE_SIZE") // 1024, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    for _ in range(100):
        once()  # until then allocators still grow
    objects, kilobytes, threads, files = held()
    for _ in range(1000):
        once()
    now = held()
    assert now[0] - objects < 200
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps what was freed for a while
        assert now[1] - kilobytes < 2000, "two kilobytes for each monitor"
    assert now[2:] == (threads, files)
    assert not model._forward_hooks and not model._forward_pre_hooks


def test_a_monitor_that_is_dropped_is_gone() -> None:
    model = _mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(20):
        Monitor(model, optimizer, on_line=None)
    gc.collect()
    assert not model._forward_pre_hooks
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_a_scaler_leaves_its_overflows_out_itself(tmp_path: Path) -> None:
    if not hasattr(torch, "amp") or not hasattr(torch.amp, "GradScaler"):
        pytest.skip("this PyTorch has no GradScaler for the processor")
    model = _mlp()
    before = model[0].weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=10_000)
    x, y = _data()
    with Monitor(model, optimizer, on_line=None, run_file=tmp_path / "run.osler", statistics_every=1) as monitor:
        for step in range(12):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x * 100), y)
            scaler.scale(loss).backward()
            assert monitor.step(loss, scaler=scaler)
            scaler.step(optimizer)
            scaler.update()
            if step == 0:
                assert torch.equal(model[0].weight, before)  # the overflow was left out, by the scaler
        assert monitor.skipped == 0
    run = osler.read(tmp_path / "run.osler")
    assert run["loss_scale"].values[0] == 2.0**127 and run["loss_scale"].values[-1] < 2.0**127
    single = _mlp()
    F.cross_entropy(single(x * 100), y).backward()
    finite = [value for value in run["gradients/0.weight#norm"].values if math.isfinite(value)]
    assert finite[0] == pytest.approx(single[0].weight.grad.norm().item(), rel=1e-3)  # unscaled


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_compiled_model_keeps_its_graph_whole(wrapped: bool) -> None:
    if not hasattr(torch, "compile"):
        pytest.skip("this PyTorch does not compile")
    model = _mlp()
    compiled = torch.compile(model, backend="eager", fullgraph=True)  # a break in the graph would be an error
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = Monitor(compiled if wrapped else model, optimizer, on_line=None)
    x, y = _data(64)
    for _ in range(8):
        optimizer.zero_grad()
        loss = F.cross_entropy(compiled(x), y)
        loss.backward()
        assert monitor.step(loss)
        optimizer.step()
    assert not wrapped or "compiled" in monitor.summary()


def test_a_model_can_be_saved_while_it_is_watched() -> None:
    model = _mlp()
    with Monitor(model, torch.optim.SGD(model.parameters(), 0.1), on_line=None):
        torch.save(model.state_dict(), io.BytesIO())
