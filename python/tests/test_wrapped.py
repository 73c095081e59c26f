"""Models inside wrappers: what is seen has the user's names, what is not is said in one line, and training is unchanged."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import osler

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from osler.torch import Monitor, trace_origin  # noqa: E402

F = torch.nn.functional
nn = torch.nn
NAMES = {"body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias", "head.weight", "head.bias"}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        return self.head(self.body(x))


def batches(steps: int) -> Iterator[tuple[Any, Any]]:
    generator = torch.Generator().manual_seed(2)
    for _ in range(steps):
        x = torch.randn(32, 8, generator=generator)
        yield x, x[:, :4].argmax(1)


def train(model: Any, optimizer: Any, path: Any = None, steps: int = 60, wrap: Any = None) -> Any:
    """The monitor after a training, or None where no path is given: then nothing watches."""
    monitor = Monitor(model, optimizer, on_line=None, run_file=path, statistics_every=4, trace_every=4) if path else None
    for x, y in batches(steps):
        optimizer.zero_grad()
        out = model(x) if wrap is None else wrap(lambda: model(x))
        loss = F.cross_entropy(out.float(), y)
        loss.backward()
        if monitor is None or monitor.step(loss):
            optimizer.step()
    if monitor is not None:
        monitor.close()
    return monitor


def sgd(model: Any) -> Any:
    return torch.optim.SGD([each for each in model.parameters() if each.requires_grad], 0.05, momentum=0.9)


def of_kind(run: Any, kind: str) -> set[str]:
    """The names that a run has norms of a kind for."""
    return {name[len(kind) + 1 : -len("#norm")] for name in run.series if name.startswith(f"{kind}/") and name.endswith("#norm")}


@pytest.fixture
def company() -> Iterator[None]:
    """A company of one process."""
    distributed = pytest.importorskip("torch.distributed")
    if not distributed.is_available():
        pytest.skip("this PyTorch knows no other processes")
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_ddp(company: None, tmp_path: Path) -> None:
    def trained(path: Any) -> Any:
        model = nn.parallel.DistributedDataParallel(Net())
        monitor = train(model, sgd(model), path)
        return monitor, [each.detach() for each in model.parameters()]

    monitor, watched = trained(tmp_path / "run.osler")
    _, plain = trained(None)
    assert all(torch.equal(a, b) for a, b in zip(watched, plain)), "the same to the bit"
    run = osler.read(tmp_path / "run.osler")
    assert of_kind(run, "gradients") == of_kind(run, "weights") == NAMES
    assert "activations/body.0 -> relu#norm" in run.series
    assert monitor.report().status == "healthy", monitor.report().text()


@pytest.fixture
def fsdp(company: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    try:
        return importlib.import_module("torch.distributed.fsdp").FullyShardedDataParallel
    except ValueError:  # PyTorch 1.13 on Python 3.11, which asks that defaults can be hashed
        made = dataclasses.dataclass
        monkeypatch.setattr(dataclasses, "dataclass", lambda *given, **words: made(*given, **{"unsafe_hash": True, **words}))
        try:
            return importlib.import_module("torch.distributed.fsdp").FullyShardedDataParallel
        except ValueError as error:
            pytest.skip(f"this PyTorch has no sharding on this Python: {error}")
    except (ImportError, AttributeError):
        pytest.skip("this PyTorch does not shard")


def test_fsdp(fsdp: Any, tmp_path: Path) -> None:
    named = "use_orig_params" in inspect.signature(fsdp.__init__).parameters  # otherwise all are one parameter

    options: dict[str, Any] = {"use_orig_params": True} if named else {}
    if torch.cuda.is_available():  # or it would have the model there
        options["device_id"] = torch.device("cpu")

    def trained(path: Any) -> Any:
        try:
            model = fsdp(Net(), **options)
        except (RuntimeError, AssertionError, ValueError) as error:
            pytest.skip(f"this PyTorch does not shard on the processor: {error}")
        monitor = train(model, sgd(model), path)
        return monitor, [each.detach().clone() for each in model.parameters()]

    monitor, watched = trained(tmp_path / "run.osler")
    _, plain = trained(None)
    assert all(torch.equal(a, b) for a, b in zip(watched, plain)), "the same to the bit"
    run = osler.read(tmp_path / "run.osler")
    assert of_kind(run, "weights") == (NAMES if named else {"flat_param"})
    assert monitor.summary().count("The parameters are sharded") == 1


class Shard(torch.Tensor):  # type: ignore[misc,name-defined]
    """As DTensor: memory is its own only inside, at `to_local`."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, local: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, local.shape, dtype=local.dtype, requires_grad=local.requires_grad)

    def __init__(self, local: Any) -> None:
        self._local = local.detach()

    def to_local(self) -> Any:
        return self._local

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def inside(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)(inside(each) for each in value)
            return value._local if isinstance(value, Shard) else value

        result = func(*inside(args), **{key: inside(value) for key, value in (kwargs or {}).items()})
        if func.__name__.partition(".")[0].endswith("_"):
            return args[0]
        return Shard(result) if isinstance(result, torch.Tensor) else result


def test_shards_are_measured_where_this_process_holds_them(tmp_path: Path) -> None:
    if not hasattr(torch.Tensor, "_make_wrapper_subclass"):
        pytest.skip("this PyTorch lets nobody wrap tensors")

    def trained(sharded: bool, path: Any) -> Any:
        model = Net()
        if sharded:
            for module in (model.body[0], model.body[2], model.head):
                module.weight = nn.Parameter(Shard(module.weight))
                module.bias = nn.Parameter(Shard(module.bias))
        return train(model, sgd(model), path, steps=20)

    monitor = trained(True, tmp_path / "shards.osler")
    trained(False, tmp_path / "plain.osler")
    shards, plain = osler.read(tmp_path / "shards.osler"), osler.read(tmp_path / "plain.osler")
    for kind in ("gradients", "weights", "updates"):
        assert of_kind(shards, kind) == NAMES
        for name in NAMES:
            series = f"{kind}/{name}#norm"
            assert shards[series].values == pytest.approx(plain[series].values, rel=1e-6), series
    assert monitor.summary().count("The parameters are sharded") == 1
    model = Net()
    model.head.weight = nn.Parameter(Shard(model.head.weight))
    with pytest.raises(osler.InvalidError, match="the model is sharded: clip with"):
        Monitor(model, sgd(model), on_line=None, clip_norm=1.0)


TWO = """
import sys
import torch
from osler.torch import Monitor

rank, store, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
torch.manual_seed(1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
monitor = Monitor(model, optimizer, on_line=None)
for step in range(8):
    loss = model(torch.randn(16, 4)).square().mean()
    if rank == 1 and step == 5:
        loss = loss + float("nan")  # which reaches no gradient
    optimizer.zero_grad()
    loss.backward()
    if monitor.step(loss):
        optimizer.step()
assert monitor.skipped == 0 and "Several processes train together" in monitor.summary()
assert any("The loss is not finite" in each["text"] for each in monitor.report().to_dict()["marks"]) == (rank == 1)
torch.save([each.detach() for each in model.parameters()], out)
"""


def test_two_processes_do_the_same_when_one_of_them_sees_a_nan(tmp_path: Path) -> None:
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch knows no other processes")
    outs = [tmp_path / f"{rank}.pt" for rank in range(2)]
    words = [[sys.executable, "-c", TWO, str(rank), str(tmp_path / "store"), str(outs[rank])] for rank in range(2)]
    both = [subprocess.Popen(each, stderr=subprocess.PIPE, text=True) for each in words]
    for each in both:
        told = each.communicate(timeout=300)[1]
        assert each.returncode == 0, told
    first, second = (torch.load(out) for out in outs)
    assert all(torch.equal(a, b) for a, b in zip(first, second))


class Adapter(nn.Module):
    """LoRA: a frozen layer and two small matrices beside it."""

    def __init__(self, base: Any) -> None:
        super().__init__()
        self.base = base
        for each in base.parameters():
            each.requires_grad_(False)
        self.down = nn.Linear(base.in_features, 2, bias=False)
        self.up = nn.Linear(2, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Any) -> Any:
        return self.base(x) + self.up(self.down(x))


def _adapted() -> Any:
    model = Net()
    model.body[0], model.body[2] = Adapter(model.body[0]), Adapter(model.body[2])
    return model


def test_adapters_on_a_frozen_base(tmp_path: Path) -> None:
    model, unwatched = _adapted(), _adapted()
    monitor = train(model, sgd(model), tmp_path / "run.osler", steps=150)
    train(unwatched, sgd(unwatched), steps=150)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), unwatched.parameters()))
    run = osler.read(tmp_path / "run.osler")
    assert "body.0.up.weight" in of_kind(run, "gradients") and "body.0.base.weight" not in of_kind(run, "gradients")
    assert monitor.report().status == "healthy", monitor.report().text()


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.table = nn.Embedding(12, 16)
        self.mix = nn.Linear(16, 16)
        self.head = nn.Linear(16, 12, bias=False)
        self.head.weight = self.table.weight

    def forward(self, x: Any) -> Any:
        return self.head(torch.tanh(self.mix(self.table(x))))


def test_tied_weights_are_measured_once(tmp_path: Path) -> None:
    def trained(path: Any) -> Any:
        model = Tied()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        monitor = Monitor(model, optimizer, on_line=None, run_file=path, statistics_every=4) if path else None
        generator = torch.Generator().manual_seed(5)
        for _ in range(150):
            x = torch.randint(0, 12, (32,), generator=generator)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), (x + 1) % 12)
            loss.backward()
            if monitor is None or monitor.step(loss):
                optimizer.step()
        if monitor is not None:
            monitor.close()
        return monitor, [each.detach() for each in model.parameters()]

    monitor, watched = trained(tmp_path / "run.osler")
    assert all(torch.equal(a, b) for a, b in zip(watched, trained(None)[1]))
    run = osler.read(tmp_path / "run.osler")
    assert of_kind(run, "gradients") == {"table.weight", "mix.weight", "mix.bias"}
    assert monitor.report().status == "healthy", monitor.report().text()


def test_autocast(tmp_path: Path) -> None:
    def half(forward: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return forward()

    model, unwatched = Net(), Net()
    monitor = train(model, sgd(model), tmp_path / "run.osler", steps=150, wrap=half)
    train(unwatched, sgd(unwatched), steps=150, wrap=half)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), unwatched.parameters())), "the same to the bit"
    run = osler.read(tmp_path / "run.osler")
    assert of_kind(run, "gradients") == NAMES and "activations/body.0 -> relu#norm" in run.series
    assert run.configuration["num_classes"] == "4"
    assert monitor.report().status == "healthy", monitor.report().text()


class Wrapped(nn.Module):
    """As torch.compile and activation checkpointing wrap a part of a model: under a name of their own."""

    def __init__(self, name: str, module: Any) -> None:
        super().__init__()
        self.add_module(name, module)
        self._name = name

    def forward(self, x: Any) -> Any:
        return getattr(self, self._name)(x)


def test_parts_that_are_wrapped_keep_the_names_of_the_user(tmp_path: Path) -> None:
    model = Net()
    model.body[0] = Wrapped("_checkpoint_wrapped_module", model.body[0])
    model.head = Wrapped("_orig_mod", model.head)
    monitor = train(model, sgd(model), tmp_path / "run.osler")
    run = osler.read(tmp_path / "run.osler")
    assert of_kind(run, "gradients") == NAMES
    assert "Compiled: the activations of head cannot be seen." in monitor.summary()
    with torch.no_grad():
        model.head._modules["_orig_mod"].weight[0, 0] = float("nan")
    origin = trace_origin(model, lambda: model(next(batches(1))[0]).sum())
    assert origin is not None and "head.weight" in origin.text and "_orig_mod" not in origin.text, origin


def test_what_is_not_measured_is_said_once(tmp_path: Path) -> None:
    class Quantised(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = Net()
            self.packed = nn.Parameter(torch.zeros(4, 4, dtype=torch.int8), requires_grad=False)
            self.later = nn.Parameter(torch.empty(4, 4, device="meta"))

        def forward(self, x: Any) -> Any:
            return self.net(x)

    model = Quantised()
    monitor = train(model, torch.optim.SGD(model.net.parameters(), 0.05), tmp_path / "run.osler")
    summary = monitor.summary()
    assert summary.count("Parameters of type int8 are not measured: packed.") == 1, summary
    assert summary.count("Parameters on the meta device hold no numbers that could be measured: later.") == 1, summary
    assert of_kind(osler.read(tmp_path / "run.osler"), "weights") == {f"net.{name}" for name in NAMES}


def test_layers_without_shapes_are_refused_with_what_to_do() -> None:
    model = nn.Sequential(nn.LazyLinear(4))
    with pytest.raises(osler.InvalidError, match="run one batch through the model"):
        Monitor(model, torch.optim.SGD(model.parameters(), 0.1), on_line=None)
