"""The origin of a NaN in PyTorch: operation, layer, line and reason."""

from __future__ import annotations

import math
from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
pytest.importorskip("torch.utils._python_dispatch", reason="this PyTorch shows no operations to Python")

from osler.torch import Monitor, trace_origin  # noqa: E402

F = torch.nn.functional


class Planted(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Two layers with a fault between them."""

    def __init__(self, fault: Callable[[Any], Any]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Linear(6, 6)
        self.fault = Fault(fault)
        self.second = torch.nn.Linear(6, 3)

    def forward(self, x: Any) -> Any:
        return self.second(self.fault(self.first(x)))


class Fault(torch.nn.Module):  # type: ignore[misc,name-defined]
    def __init__(self, fault: Callable[[Any], Any]) -> None:
        super().__init__()
        self._fault = fault

    def forward(self, x: Any) -> Any:
        return self._fault(x)


X = torch.randn(16, 6, generator=torch.Generator().manual_seed(1))
TARGETS = torch.randn(16, 3, generator=torch.Generator().manual_seed(2))
LABELS = torch.arange(16) % 3

FORWARD = {
    "log": (lambda x: torch.log(torch.relu(x)), "log", "log-of-zero"),
    "div": (lambda x: x / (x - x), "div", "division-by-zero"),
    "sqrt": (lambda x: torch.sqrt(x), "sqrt", "sqrt-at-zero"),
    "exp": (lambda x: torch.exp(x.abs() * 1000 + 100), "exp", "exp-overflow"),
    "acos": (lambda x: torch.acos(x.abs() + 1.5), "acos", "outside-domain"),
    "pow": (lambda x: torch.relu(x) ** -1.0, "pow", "division-by-zero"),
}
LOSSES = {
    "mse": lambda out: F.mse_loss(out, TARGETS),
    "smooth_l1": lambda out: F.smooth_l1_loss(out, TARGETS),
    "huber": lambda out: F.huber_loss(out, TARGETS),
    "cross_entropy": lambda out: F.cross_entropy(out, LABELS),
    "l1": lambda out: F.l1_loss(out, TARGETS),
    "bce": lambda out: F.binary_cross_entropy_with_logits(out, TARGETS.sigmoid()),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fault", FORWARD)
def test_the_operation_is_named_behind_every_loss(fault: str, loss: str) -> None:
    plant, operation, cause = FORWARD[fault]
    model = Planted(plant)
    origin = trace_origin(model, lambda: LOSSES[loss](model(X)))
    assert origin is not None
    assert origin.operation in (operation, "reciprocal") and origin.cause == cause, origin.text
    assert origin.place == "forward" and origin.layer == "fault"
    assert origin.line.startswith("test_origin.py:"), origin.line


BACKWARD = {
    "sqrt": (lambda x: x + torch.sqrt(x * 0), "sqrt-at-zero"),
    "pow": (lambda x: x + (x * 0) ** 0.5, "sqrt-at-zero"),
    "log": (lambda x: torch.where(x > 1000, torch.log(x * 0), x), "log-of-zero"),
}


@pytest.mark.parametrize("fault", BACKWARD)
def test_the_backward_pass_is_followed(fault: str) -> None:
    plant, cause = BACKWARD[fault]
    model = Planted(plant)
    origin = trace_origin(model, lambda: F.mse_loss(model(X), TARGETS))
    assert origin is not None and origin.place == "backward"
    assert origin.cause == cause and origin.layer == "fault", origin.text
    assert origin.line.startswith("test_origin.py:"), origin.text


def test_a_mask_that_was_asked_for_is_not_blamed() -> None:
    mask = torch.tensor([0.0, 0.0, -math.inf, 0.0, 0.0, 0.0])

    def attention(x: Any) -> Any:
        return torch.softmax(x.masked_fill(torch.isinf(mask), -math.inf), dim=1) / (x.sum() * 0)

    model = Planted(attention)
    origin = trace_origin(model, lambda: F.mse_loss(model(X), TARGETS))
    assert origin is not None and origin.operation == "div", origin
    sound = Planted(lambda x: torch.softmax(x.masked_fill(torch.isinf(mask), -math.inf), dim=1))
    assert trace_origin(sound, lambda: F.mse_loss(sound(X), TARGETS)) is None


def test_a_row_that_is_masked_altogether_is_blamed() -> None:
    model = Planted(lambda x: torch.softmax(x.masked_fill(x == x, -math.inf), dim=1))
    origin = trace_origin(model, lambda: F.mse_loss(model(X), TARGETS))
    assert origin is not None and "every position is masked" in origin.text


def test_nothing_is_changed_by_looking() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.BatchNorm1d(6), torch.nn.Dropout(0.5), torch.nn.Linear(6, 3))
    F.mse_loss(model(X), TARGETS).backward()
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    gradient, random = model[0].weight.grad, torch.get_rng_state()
    trace_origin(model, lambda: F.mse_loss(model(X), TARGETS) / 0)
    assert all(torch.equal(tensor, state[name]) for name, tensor in model.state_dict().items())
    assert model[0].weight.grad is gradient and torch.equal(torch.get_rng_state(), random)


def _step(model: Any, loss_of: Callable[[Any], Any], x: Any = X) -> Any:
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = Monitor(model, optimizer, on_line=None)
    loss = loss_of(model(x))
    loss.backward()
    assert not monitor.step(loss)
    return monitor


@pytest.mark.parametrize("loss", LOSSES)
def test_step_alone_tells_batch_weights_forward_and_loss_apart(loss: str) -> None:
    sound = Planted(torch.relu)
    bad = X.clone()
    bad[3, 1] = math.inf
    assert _step(sound, LOSSES[loss], bad).origin.place == "batch"
    poisoned = Planted(torch.relu)
    with torch.no_grad():
        poisoned.second.weight[1, 1] = math.nan
    origin = _step(poisoned, LOSSES[loss]).origin
    assert origin.place == "weights" and "second.weight held 1 NaN" in origin.text
    origin = _step(Planted(FORWARD["log"][0]), LOSSES[loss]).origin
    assert (origin.place, origin.operation, origin.layer) == ("forward", "log", "fault")
    origin = _step(Planted(torch.relu), lambda out: LOSSES[loss](out) / 0).origin
    assert origin.place == "loss" and "replay_with" in origin.text


def test_step_alone_tells_the_backward_pass() -> None:
    origin = _step(Planted(BACKWARD["sqrt"][0]), lambda out: F.mse_loss(out, TARGETS)).origin
    assert origin.place == "backward"


def test_train_step_names_the_operation_of_the_loss() -> None:
    model = Planted(torch.relu)
    monitor = Monitor(model, torch.optim.SGD(model.parameters(), 0.1), on_line=None)
    assert not monitor.train_step(lambda: torch.log(F.mse_loss(model(X), TARGETS) * 0))
    assert monitor.origin is not None and monitor.origin.operation == "log" and monitor.origin.cause == "log-of-zero"
    assert any("log" in each["text"] for each in monitor.report().to_dict()["marks"])
