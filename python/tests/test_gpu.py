"""Statistics on a GPU: what is said where there is none, and, where there is one, that they are right and in order."""

import math

import pytest

import osler
from osler import _core

torch = pytest.importorskip("torch")

from osler.torch import GpuStatistics, Monitor  # noqa: E402
from osler.torch import gpu as gpus  # noqa: E402

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


def points(monitor: Monitor, name: str) -> dict:
    """The points of a series of a monitor's own run file, by step."""
    monitor.close()
    found = osler.read(monitor.run_file_for_test)[name]
    return dict(zip(found.steps, found.values))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_driver_one_sentence_says_so():
    with pytest.raises(osler.OslerError, match="the CUDA driver"):
        _core.GpuMeter(0, "", [])


def test_models_on_the_host_ask_no_gpu():
    assert gpus.one_gpu(torch.nn.Linear(2, 2).parameters()) is None
    assert gpus.one_gpu([]) is None


def test_the_compiler_that_fits_pytorch_comes_first():
    found = gpus.compilers()
    assert all("builtins" not in path for path in found)
    wanted = f".so.{(torch.version.cuda or '').split('.')[0]}"
    fitting = [path.endswith(wanted) for path in found]
    assert fitting == sorted(fitting, reverse=True)


class Meter:
    """Stands for the device: measures at once, and only what is still there when it is asked."""

    def __init__(self, *place):
        self.asked, self.told = [], []

    def clear(self):
        self.asked = []

    def summarize(self, tensor, histogram):
        if tensor.dtype == torch.int64:
            raise osler.OslerError("only dense tensors are measured", "unsupported")
        self.asked.append(tensor)

    def compare(self, a, b):
        self.asked.append((a, b))

    def submit(self, stream):
        self.told = [float((each[0] * each[1]).sum() if isinstance(each, tuple) else each.sum()) for each in self.asked]
        self.asked = []  # what was queued is let go of

    def poll(self):
        return True

    def summary(self, number):
        return {"sum": self.told[number]}

    def pair(self, number):
        return {"dot": self.told[number]}


@pytest.fixture
def statistics(monkeypatch):
    monkeypatch.setattr(_core, "GpuMeter", Meter)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: type("Stream", (), {"cuda_stream": 0}))
    return GpuStatistics(device=0)


def test_again_asks_of_the_tensors_as_they_are_now(statistics):
    tensors = [torch.ones(4), torch.ones(3, 2).t()]
    statistics.measure(each for each in tensors)
    tensors[0].mul_(2)
    tensors[1].set_(torch.full((2, 2), 5.0))  # other memory, in another order
    statistics.again()
    assert [each["sum"] for each in statistics.results()] == [8.0, 20.0]
    statistics.compare(tensors, tensors)
    statistics.again()
    assert [each["dot"] for each in statistics.results()] == [16.0, 100.0]
    with pytest.raises(osler.InvalidError, match="2 tensors cannot be paired with 1"):
        statistics.compare(tensors, tensors[:1])


def test_again_refuses_tensors_that_are_gone(statistics):
    with pytest.raises(osler.InvalidError, match="nothing was asked for"):
        statistics.again()
    statistics.measure([torch.ones(4), torch.ones(3)])
    with pytest.raises(osler.InvalidError, match="2 of them are gone"):
        statistics.again()
    kept = torch.nn.Parameter(torch.ones(4))
    (kept * torch.ones(4)).sum().backward()
    statistics.measure([kept.grad])
    statistics.again()  # the gradient is its parameter's
    kept.grad = None
    with pytest.raises(osler.InvalidError, match="1 of them are gone"):
        statistics.again()


def test_a_question_that_was_refused_leaves_no_half_of_it(statistics):
    with pytest.raises(osler.OslerError, match="only dense"):
        statistics.measure([torch.ones(4), torch.ones(4, dtype=torch.int64)])
    assert statistics.results() == []
    statistics.measure([torch.ones(2)])
    assert [each["sum"] for each in statistics.results()] == [2.0]


def test_a_device_that_fails_is_said_once_and_the_host_takes_over(tmp_path):
    class Failing:
        def exchange(self, loss, parameters, step):
            raise osler.OslerError("a tensor of the batch is not on GPU 0", "invalid-argument")

    model = torch.nn.Linear(4, 1)
    said = []
    monitor = Monitor(
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        run_file=tmp_path / "run.osler",
        statistics_every=1,
        skip_nonfinite=False,
        on_line=said.append,
    )
    monitor._late = Failing()
    for _ in range(4):
        loss = model(torch.ones(8, 4)).square().mean()
        model.zero_grad()
        loss.backward()
        assert monitor.step(loss)
    words = "The GPU measures no more, and later steps are watched through copies on the host: a tensor of the batch is not on GPU 0"
    assert len([line for line in said if words in line]) == 1, said
    assert monitor.summary().count(words) == 1
    monitor.close()
    assert len(osler.read(tmp_path / "run.osler")["gradients/weight#norm"].values) == 3


@pytest.mark.skipif(not hasattr(torch.cuda, "OutOfMemoryError"), reason="this PyTorch has no error of its own for it")
def test_what_finds_no_memory_on_the_device_is_passed_over(tmp_path):
    class Full:
        def sees(self, tensor):
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = Monitor(model, optimizer, run_file=tmp_path / "run.osler", trace_every=1, on_line=None)
    monitor._trace.late = Full()
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(torch.ones(6, 4)), torch.zeros(6, dtype=torch.long))
        loss.backward()
        assert monitor.step(loss)
        optimizer.step()
    monitor.close()
    run = osler.read(tmp_path / "run.osler")
    assert len(run["train/loss"].values) == 3
    assert not [name for name in run.series if name.startswith("activations/")]


@needs_gpu
def test_every_statistic_is_that_of_pytorch():
    torch.manual_seed(1)
    tensors = [torch.randn(size, device="cuda").to(dtype) * 0.1 for size in ((3,), (1000, 77), (33, 5, 7)) for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64)]
    tensors[5][3, 4] = math.nan
    tensors.append(tensors[4].t()[1:-1:2])
    statistics = GpuStatistics()
    statistics.measure(tensors, histogram=True)
    for number, (tensor, found) in enumerate(zip(tensors, statistics.results())):
        exact = tensor.double().flatten()
        finite = exact[exact.isfinite()]
        assert found["count"] == exact.numel()
        assert found["nan"] == int(exact.isnan().sum())
        assert found.get("first_nan") == (3 * 77 + 4 if number == 5 else None)
        assert found["norm"] == pytest.approx(float(finite.norm()), rel=1e-5)
        assert found["mean"] == pytest.approx(float(finite.mean()), abs=1e-5)
        assert found["std"] == pytest.approx(float(finite.std()), rel=1e-4)
        assert found["min"] == float(finite.min()) and found["max"] == float(finite.max())
        positive, negative, zeros = statistics.histogram(number)
        assert sum(positive) + sum(negative) + zeros == finite.numel()


@needs_gpu
def test_pairs_are_those_of_pytorch():
    a = [torch.randn(1000, 33, device="cuda") for _ in range(3)]
    b = [torch.randn(1000, 33, device="cuda") for _ in range(3)]
    statistics = GpuStatistics()
    statistics.compare(a, b)
    for x, y, found in zip(a, b, statistics.results()):
        assert found["dot"] == pytest.approx(float((x.double() * y.double()).sum()), rel=1e-9, abs=1e-6)
        assert found["difference_norm"] == pytest.approx(float((x.double() - y.double()).norm()), rel=1e-9)


@needs_gpu
def test_nothing_is_measured_while_a_graph_is_captured_and_the_graph_is_whole():
    tensor = torch.ones(1000, device="cuda")
    statistics = GpuStatistics()
    statistics.measure([tensor])
    statistics.results()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tensor.mul_(2)
        with pytest.raises(osler.OslerError, match="graph is being captured"):
            statistics.measure([tensor])
    graph.replay()
    statistics.measure([tensor])
    assert statistics.results()[0]["mean"] == 2.0


def trained(device: str, watched: bool, tmp_path, how: str):
    """The weights after a few steps of a small network, and its monitor."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(20, 200), torch.nn.Tanh(), torch.nn.Linear(200, 5)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.linspace(-1, 1, 64 * 20).reshape(64, 20).to(device)
    y = (torch.arange(64) % 5).to(device)
    monitor = None
    if watched:
        path = tmp_path / f"{device}-{how}.osler"
        monitor = Monitor(model, optimizer, run_file=path, statistics_every=1, trace_every=-1, diagnose_every=-1)
        monitor.run_file_for_test = str(path)

    def loss_of():
        return torch.nn.functional.cross_entropy(model(x), y)

    for _ in range(12):
        if device == "cuda":
            torch.cuda.synchronize()  # so that no sample is passed over
        if monitor is not None and how == "train_step":
            monitor.train_step(loss_of)
            continue
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        if monitor is None or monitor.step(loss):
            optimizer.step()
    return [parameter.detach().cpu() for parameter in model.parameters()], monitor


@needs_gpu
@pytest.mark.parametrize("how", ["step", "train_step"])
def test_the_monitor_records_on_the_gpu_what_it_records_on_the_host(tmp_path, how):
    weights, monitor = trained("cuda", True, tmp_path, how)
    plain, _ = trained("cuda", False, tmp_path, how)
    assert all(torch.equal(a, b) for a, b in zip(weights, plain)), "the training is not changed"
    monitor.flush()
    small = sum(weight.numel() * 4 for weight in weights)
    assert 0 < monitor.gpu_memory < 200_000 + small
    _, host = trained("cpu", True, tmp_path, how)
    for name, bound in (
        ("train/loss", 1e-4),
        ("grad_norm", 1e-3),
        ("gradients/0.weight#norm", 1e-3),
        ("weights/2.weight#norm", 1e-4),
        ("updates/0.weight#ratio", 1e-2),
    ):
        on_gpu, on_host = points(monitor, name), points(host, name)
        assert list(on_gpu) == list(on_host)[: len(on_gpu)] and len(on_gpu) >= len(on_host) - 1, name
        for step, value in on_gpu.items():
            assert value == pytest.approx(on_host[step], rel=bound), (name, step)


@needs_gpu
def test_a_bad_step_is_told_with_its_number(tmp_path):
    model = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    said = []
    monitor = Monitor(model, optimizer, statistics_every=1, on_line=said.append)
    for step in range(6):
        x = torch.ones(8, 4, device="cuda")
        if step == 3:
            x[0, 0] = math.nan
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        assert monitor.step(loss)
        torch.cuda.synchronize()
    monitor.close()
    assert any("The loss was not finite at step 3." in line for line in said), said
    assert any("was not finite at step 3" in line and "gradient" in line for line in said), said


@needs_gpu
def test_the_training_is_never_waited_for():
    model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 8)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    monitor = Monitor(model, optimizer, statistics_every=1, trace_every=2, batches_every=-1, diagnose_every=-1)
    x = torch.randn(32, 64, device="cuda")

    def steps(count):
        for _ in range(count):
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            monitor.step(loss)
            optimizer.step()

    steps(3)
    torch.cuda.set_sync_debug_mode("error")
    try:
        steps(20)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    monitor.close()
    assert monitor.copies == 2, "only the weights at the start, for how they were initialised"


class Varied(torch.nn.Module):
    """Layers of every kind that a trace looks at in its own way."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.first, self.norm = torch.nn.Linear(12, 24), torch.nn.BatchNorm1d(24)
        self.attend, self.last = torch.nn.Linear(24, 24), torch.nn.Linear(24, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        mixed = torch.softmax(self.attend(x).reshape(-1, 4, 6), -1).reshape(-1, 24)
        return self.last(torch.tanh(x) + mixed)


def traced(device: str, tmp_path) -> Monitor:
    """A monitor that has traced a few steps."""
    model = Varied().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    path = tmp_path / f"traced-{device}.osler"
    monitor = Monitor(model, optimizer, run_file=path, trace_every=2, histograms_every=2, statistics_every=4, diagnose_every=-1)
    monitor.run_file_for_test = str(path)
    x = torch.linspace(-2, 2, 64 * 12).sin().reshape(64, 12).to(device)
    y = (torch.arange(64) % 5).to(device)
    for _ in range(9):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if monitor.step(loss):
            optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()  # so that no trace is passed over
    monitor.flush()
    return monitor


@needs_gpu
def test_activations_are_measured_where_they_lie_and_are_those_of_the_host(tmp_path):
    on_gpu, on_host = traced("cuda", tmp_path), traced("cpu", tmp_path)
    assert on_gpu.copies <= 4, "only the weights at the start, for how they were initialised"
    on_gpu.close(), on_host.close()
    found, expected = osler.read(on_gpu.run_file_for_test), osler.read(on_host.run_file_for_test)
    names = [name for name in expected.series if name.startswith("activations/") or name == "osler/logits/max"]
    endings = {name.rpartition("#")[2] for name in names}
    assert {"mean", "std", "zero-share", "spread", "entropy", "drift", "saturated-share", "osler/logits/max"} <= endings, endings
    for name in names:
        assert list(found[name].steps) == list(expected[name].steps), name
        for step, mine, theirs in zip(found[name].steps, found[name].values, expected[name].values):
            assert mine == pytest.approx(theirs, rel=2e-3, abs=1e-5), (name, step)
