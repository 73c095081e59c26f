"""Probes on real PyTorch trainings: what they find, and that nothing of the training is changed by them."""

from __future__ import annotations

import copy
import math
import random
from typing import Any, Callable

import pytest

import osler

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

import osler.torch as probes  # noqa: E402

F = torch.nn.functional
CLASSES = 3


class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Dropout, batch statistics and a tied buffer: everything a probe might disturb."""

    def __init__(self, hidden: int = 16, dropout: float = 0.1) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(6, hidden)
        self.norm = torch.nn.BatchNorm1d(hidden)
        self.relu = torch.nn.ReLU()
        self.drop = torch.nn.Dropout(dropout)
        self.outer = torch.nn.Linear(hidden, CLASSES)

    def forward(self, x: Any) -> Any:
        return self.outer(self.drop(self.relu(self.norm(self.inner(x)))))


def _loader(count: int = 32, size: int = 32) -> list[Any]:
    generator = torch.Generator().manual_seed(5)
    teacher = torch.randn(6, CLASSES, generator=generator)
    batches = []
    for _ in range(count):
        x = torch.randn(size, 6, generator=generator)
        batches.append((x, (x @ teacher).argmax(1)))
    return batches


def _training(rate: float = 0.1, optimizer: str = "sgd", plain: bool = False, **about: Any) -> probes.Training:
    torch.manual_seed(3)
    model: Any = Net()
    if plain:
        model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, CLASSES))
    kinds: dict[str, Callable[[], Any]] = {
        "sgd": lambda: torch.optim.SGD(model.parameters(), rate, momentum=0.9, weight_decay=1e-4),
        "adam": lambda: torch.optim.Adam(model.parameters(), rate),
        "lbfgs": lambda: torch.optim.LBFGS(model.parameters(), rate, max_iter=2),
    }
    about.setdefault("classes", CLASSES)
    return probes.Training(model, kinds[optimizer](), F.cross_entropy, _loader(), **about)


def _train(training: probes.Training, steps: int) -> None:
    training.model.train()
    for _ in range(steps):
        training.step(training.optimizer, [training.next_batch()])


def _state(training: probes.Training) -> Any:
    """Everything that must be put back, copied deep."""
    model, optimizer = training.model, training.optimizer
    return copy.deepcopy(
        {
            "weights": {name: each.clone() for name, each in model.state_dict().items()},
            "gradients": [None if each.grad is None else each.grad.clone() for each in model.parameters()],
            "wanted": [each.requires_grad for each in model.parameters()],
            "modes": [module.training for module in model.modules()],
            "optimizer": optimizer.state_dict(),
            "random": [torch.get_rng_state(), torch.tensor(hash(random.getstate()))],
        }
    )


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, torch.Tensor):
        return isinstance(second, torch.Tensor) and torch.equal(first, second)
    if isinstance(first, dict):
        return isinstance(second, dict) and first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second)


EVERY: dict[str, Callable[..., Any]] = {
    "lr_range_test": lambda t, **o: probes.lr_range_test(t, steps=30, repeats=2, **o),
    "overfit_one_batch": lambda t, **o: probes.overfit_one_batch(t, steps=30, **o),
    "sharpness": lambda t, **o: probes.sharpness(t, repeats=4, ascents=1, **o),
    "loss_surface": lambda t, **o: probes.loss_surface(t, points=5, **o),
    "curvature": lambda t, **o: probes.curvature(t, most_products=8, trace_samples=2, products_per_layer=3, **o),
    "noise_scale": lambda t, **o: probes.noise_scale(t, batches=4, **o),
    "signal_propagation": lambda t, **o: probes.signal_propagation(t, **o),
    "checkup": lambda t, **o: probes.checkup(t, batches=4, overfit_steps=20, **o),
    "fresh_start": lambda t, **o: probes.fresh_start(t, steps=10, **o),
}


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "lbfgs"])
@pytest.mark.parametrize("probe", EVERY)
def test_everything_is_put_back_bit_for_bit(probe: str, optimizer: str) -> None:
    training = _training(optimizer=optimizer)
    _train(training, 3)
    training.model.drop.eval()
    training.model.inner.bias.requires_grad_(False)
    tensors = [each.data_ptr() for each in training.model.parameters()]
    before = _state(training)
    found = EVERY[probe](training, progress=False)
    assert found.outcome in ("passed", "failed", "undecided"), found
    assert _same(before, _state(training))
    assert tensors == [each.data_ptr() for each in training.model.parameters()]


def test_parameters_of_the_loss_are_put_back_too() -> None:
    training = _training(plain=True)
    scale = torch.nn.Parameter(torch.tensor(1.5))
    training.optimizer.add_param_group({"params": [scale]})
    training.loss = lambda outputs, targets: F.cross_entropy(outputs * scale, targets)
    probes.lr_range_test(training, steps=20, repeats=1)
    assert float(scale) == 1.5 and scale.grad is None


def test_a_schedule_is_not_moved() -> None:
    training = _training(plain=True)
    schedule = torch.optim.lr_scheduler.StepLR(training.optimizer, 10)
    _train(training, 2)
    schedule.step()
    before = (training.optimizer._step_count if hasattr(training.optimizer, "_step_count") else 0, schedule.state_dict())
    probes.lr_range_test(training, steps=20, repeats=1)
    after = (training.optimizer._step_count if hasattr(training.optimizer, "_step_count") else 0, schedule.state_dict())
    assert _same(before, after)


def test_it_is_put_back_when_the_training_throws_and_when_the_time_is_up() -> None:
    training = _training()
    _train(training, 2)
    before = _state(training)
    calls = 0

    def breaks(batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 5:
            raise RuntimeError("the disk is full\nand more")
        return F.cross_entropy(training.model(batch[0]), batch[1])

    broken = probes.lr_range_test(probes.Training(training.model, training.optimizer, None, _loader(), compute_loss=breaks))
    assert broken.outcome == "stopped" and broken.verdict.endswith("the disk is full")
    late = probes.lr_range_test(training, seconds=0.0)
    assert late.outcome == "stopped" and "time was up" in late.verdict
    assert _same(before, _state(training))


def test_ctrl_c_is_passed_on_with_everything_put_back() -> None:
    training = _training()
    before = _state(training)

    def interrupt(probe: str, done: int, of: int) -> None:
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probes.lr_range_test(training, progress=interrupt)
    assert _same(before, _state(training))


def test_the_range_test_suggests_a_rate_that_trains() -> None:
    training = _training(plain=True)
    found = probes.lr_range_test(training.model, training.optimizer, F.cross_entropy, _loader(), classes=CLASSES)
    assert found.outcome == "passed", found
    rate = found["suggestion"]
    assert 0.01 < rate < 10 and found.values["suggestion"].low is not None

    def after(lr: float) -> float:
        fresh = _training(rate=lr, plain=True)
        _train(fresh, 60)
        return sum(fresh.value_of(batch) for batch in _loader()) / 32

    assert after(rate) < after(rate / 100)
    far = _training(rate=1e-6, plain=True)
    low = probes.lr_range_test(far)
    assert low.outcome == "failed" and "times smaller" in low.verdict


def test_the_range_test_takes_a_callable_that_gives_the_loss() -> None:
    training = _training(plain=True)
    batches = iter(_loader(400))

    def compute_loss() -> Any:
        x, y = next(batches)
        return F.cross_entropy(training.model(x), y)

    found = probes.lr_range_test(training.model, training.optimizer, compute_loss)
    assert found.outcome == "passed" and found["present"] == pytest.approx(0.1)


def test_a_sound_model_memorises_a_batch() -> None:
    found = probes.overfit_one_batch(_training(plain=True))
    assert found.passed and found.failed_checks == [], found
    assert found["last-loss"] <= found["target"] < found["first-loss"]


def _frozen(training: probes.Training) -> None:
    for parameter in training.model.parameters():
        parameter.requires_grad_(False)


def _dead(training: probes.Training) -> None:
    with torch.no_grad():
        training.model.norm.weight.zero_()
        training.model.norm.bias.fill_(-5)
    for parameter in training.model.norm.parameters():
        parameter.requires_grad_(False)


SICK: dict[str, tuple[dict[str, Any], Callable[[probes.Training], Any]]] = {
    "learning-rate-too-low": ({"rate": 3e-5, "plain": True}, lambda t: None),
    "learning-rate-too-high": ({"rate": 300.0}, lambda t: None),
    "frozen": ({}, _frozen),
    "dead-units": ({}, _dead),
}


@pytest.mark.parametrize("reason", SICK)
def test_the_reason_is_named_when_a_batch_is_not_memorised(reason: str) -> None:
    options, spoil = SICK[reason]
    training = _training(**options)
    spoil(training)
    found = probes.overfit_one_batch(training, steps=120)
    assert found.outcome == "failed" and found.failed_checks == [reason], found


def test_wrong_losses_and_data_are_reasons_too() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def reason(loss: Any, loader: Any) -> list[str]:
        return probes.overfit_one_batch(model, optimizer, loss, loader, classes=CLASSES, steps=60).failed_checks

    assert reason(lambda out, y: -F.cross_entropy(out, y), _loader()) == ["loss"]
    assert reason(lambda out, y: F.cross_entropy(out.detach(), y), _loader()) == ["loss"]
    assert reason(lambda out, y: F.cross_entropy(F.softmax(out, 1), y), _loader()) == ["loss"]
    spoiled = [(x.masked_fill(x > 1, math.nan), y) for x, y in _loader(4)]
    assert reason(F.cross_entropy, spoiled) == ["inputs"]
    assert reason(F.cross_entropy, [(x, torch.zeros_like(y)) for x, y in _loader(4)]) == ["labels"]


def test_curvature_agrees_with_the_hessian() -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1, bias=False).double()
    x = torch.randn(64, 4, dtype=torch.float64) * torch.tensor([1.0, 2.0, 3.0, 4.0])
    y = x @ torch.ones(4, 1, dtype=torch.float64)
    true = torch.linalg.eigvalsh(2 * x.t() @ x / len(x))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    found = probes.curvature(model, optimizer, F.mse_loss, [(x, y)], batches=1)
    assert found["top-eigenvalue"] == pytest.approx(float(true[-1]), rel=1e-6)
    assert found["lowest-eigenvalue"] == pytest.approx(float(true[0]), rel=1e-6)
    assert found.values["trace"].low <= float(true.sum()) <= found.values["trace"].high
    assert found["stability-ratio"] == pytest.approx(float(true[-1]) * 0.01 / 2, rel=1e-6)
    assert "slope" in found.verdict and found["exact-products"] == 1


def test_a_saddle_is_told_from_a_minimum() -> None:
    class Bowl(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, bend: float) -> None:
            super().__init__()
            self.at = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
            self.bend = torch.tensor([1.0, bend], dtype=torch.float64)

        def forward(self, x: Any) -> Any:
            return x.mean() * 0 + 1e-3 + (self.bend * self.at.square()).sum()

    def look(bend: float) -> osler.Experiment:
        model = Bowl(bend)
        batch = torch.zeros(2, dtype=torch.float64)
        return probes.curvature(model, None, compute_loss=lambda each: model(each), loader=[batch])

    assert "saddle" in look(-1.0).verdict and look(-1.0).outcome == "failed"
    assert "minimum" in look(1.0).verdict and look(1.0).passed


def test_sharp_and_flat_are_told_apart() -> None:
    def at_the_solution(noise: float) -> osler.Experiment:
        torch.manual_seed(0)
        model = torch.nn.Linear(6, 1)
        x = torch.randn(256, 6)
        with torch.no_grad():
            y = model(x) + noise * torch.randn(256, 1)
        return probes.sharpness(model, None, F.mse_loss, [(x, y)])

    flat, sharp = at_the_solution(1.0), at_the_solution(0.01)
    assert flat.passed and "flat around the weights" in flat.verdict, flat
    assert sharp.outcome == "failed" and "a sharp minimum" in sharp.verdict, sharp
    assert sharp["worst-ratio"] > sharp["ratio"] > 10 * flat["ratio"]


def test_noise_scale_grows_with_the_noise_of_the_labels() -> None:
    clean = probes.noise_scale(_training(plain=True), batches=16)
    assert clean["batch-size"] == 32 and clean["noise-scale"] > 0
    generator = torch.Generator().manual_seed(1)
    noisy = [(x, torch.where(torch.rand(len(y), generator=generator) < 0.6, torch.randint(0, CLASSES, y.shape, generator=generator), y)) for x, y in _loader()]
    training = _training(plain=True)
    training.loader = noisy
    dirty = probes.noise_scale(training, batches=16)
    assert dirty.outcome == "undecided" or dirty["noise-scale"] > clean["noise-scale"]


def test_initialisation_is_held_against_the_rules() -> None:
    model = Net()
    assert probes.check_initialisation(model).passed
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    assert probes.check_initialisation(probes.Training(model, optimizer, compute_loss=lambda: torch.ones(()))).passed
    with pytest.raises(osler.OslerError, match="neither a model nor a Training"):
        probes.check_initialisation(optimizer)
    with torch.no_grad():
        model.inner.weight.mul_(100)
        model.outer.weight.fill_(0.3)
    found = probes.check_initialisation(model)
    assert set(found.failed_checks) == {"inner.weight", "outer.weight"}
    assert "will stay equal" in str(found)


def test_a_checkup_passes_a_sound_training_and_names_what_is_wrong_with_others() -> None:
    validation = [(x + 0.01, y) for x, y in _loader(6)]
    sound = probes.checkup(_training(plain=True, validation=validation), overfit_steps=200)
    assert sound.passed, sound
    model = Net()
    model.eval()
    with torch.no_grad():
        model.outer.weight.mul_(200)
    optimizer = torch.optim.SGD([*model.inner.parameters(), *model.norm.parameters()], 0.1)
    raw = [(200 * x + 1000, y) for x, y in sorted(_loader(), key=lambda pair: int(pair[1].sum()))]
    sick = probes.checkup(model, optimizer, F.cross_entropy, raw, classes=CLASSES, validation=raw, overfit_steps=20)
    assert sick.outcome == "failed"
    named = {"first-loss", "train-mode", "every-parameter-learns", "initialisation", "normalisation", "disjoint-splits"}
    assert named <= set(sick.failed_checks), sick


def test_a_fresh_start_tells_a_rate_that_is_off() -> None:
    good = probes.fresh_start(_training(rate=0.05, plain=True), steps=60)
    assert good["best-factor"] in (1, 0.1, 10)
    low = probes.fresh_start(_training(rate=1e-5, plain=True), steps=60)
    assert low.outcome == "failed" and low["best-factor"] >= 100, low


def test_results_are_shown_and_kept_as_evidence(tmp_path: Any) -> None:
    training = _training(rate=1e-6, plain=True)
    monitor = probes.Monitor(training.model, training.optimizer, run_file=tmp_path / "run.osler", on_line=None)
    _train(training, 5)
    found = probes.lr_range_test(training, record=monitor)
    assert "<svg" in found._repr_html_() and "suggestion" in str(found) and found.verdict in repr(found)
    told = {each["probe"]: each for each in monitor.report().to_dict()["experiments"]}
    assert told["lr-range-test"]["outcome"] == "failed"
    monitor.close()
    kept = osler.experiments(osler.read(tmp_path / "run.osler"))
    assert [each.probe for each in kept] == ["lr-range-test"]
    assert kept[0].columns == found.columns and kept[0].values == found.values
    assert osler.Experiment.from_json(found.to_json()) == found


def test_a_monitor_does_not_mistake_a_probe_for_the_training() -> None:
    training = _training()
    monitor = probes.Monitor(training.model, training.optimizer, trace_every=1, on_line=None)
    steps = []
    for number in range(6):
        training.optimizer.zero_grad()
        loss = training.loss_of(training.next_batch())
        loss.backward()
        steps.append(monitor.step(loss))
        training.optimizer.step()
        if number == 2:
            probes.sharpness(training, repeats=2, ascents=0, record=monitor)
    assert steps == [True] * 6 and monitor.steps == 6


def _monitored(rate: float, steps: int = 120) -> tuple[probes.Training, Any]:
    training = _training(rate=rate, plain=True)
    monitor = probes.Monitor(training.model, training.optimizer, classes=CLASSES, batch_size=32, on_line=None)
    for _ in range(steps):
        batch = training.next_batch()
        monitor.train_step(lambda: training.loss_of(batch))  # noqa: B023
    return training, monitor


def test_settle_moves_the_odds_towards_the_true_cause() -> None:
    training, monitor = _monitored(rate=1e-5, steps=300)
    before = _state(training)
    settled = probes.settle(monitor, training, passes=900)
    assert _same(before, _state(training))
    assert settled.tests and settled.cost <= settled.budget + 300, str(settled)
    odds = {each.id: each.probability for each in settled.report.causes}
    earlier = {each.id: each.probability for each in settled.before.causes}
    assert odds.get("lr-too-low", 0) >= earlier.get("lr-too-low", 0)
    assert settled.report.causes[0].id == "lr-too-low", str(settled)


def test_treat_keeps_what_measurably_helps() -> None:
    sick = osler.diagnose({"train_loss": [0.5 + 2 * (1.02**i) for i in range(200)], "lr": [30.0] * 200})
    assert any(each.name == "lr" for each in sick.remedies), sick.text()

    def factory(changes: list[probes.Change]) -> probes.Training:
        return _training(rate=30.0, plain=True)

    cure = probes.treat(sick, factory, steps=60)
    assert cure.kept and cure.kept[0].name == "lr" and cure.treated < cure.untreated, str(cure)
    assert "kept" in str(cure)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: probes.lr_range_test(Net(), None, F.cross_entropy, _loader()), "give the optimizer"),
        (lambda: probes.lr_range_test(_training(), steps=3), "at least 20"),
        (lambda: probes.sharpness(Net(), None), "give loss"),
        (lambda: probes.curvature(_training(), trace_samples=1), "at least 2 samples"),
        (lambda: probes.lr_range_test(torch.nn.ReLU(), None, F.cross_entropy, _loader()), "no parameters"),
        (lambda: probes.sharpness(Net(), None, lambda out, y: out, _loader()), "single number"),
    ],
)
def test_wrong_use_is_said_in_a_line(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(osler.InvalidError, match=words):
        call()
