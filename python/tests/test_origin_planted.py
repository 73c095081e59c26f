"""Every NaN that src/torch/origin_test.cpp plants, planted in PyTorch: operation, module, line and reason are named."""

from __future__ import annotations

import linecache
import math
from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
pytest.importorskip("torch.utils._python_dispatch", reason="this PyTorch shows no operations to Python")

from osler.torch import Origin, trace_origin  # noqa: E402

F = torch.nn.functional
nn = torch.nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 3)

    def hidden(self, x: Any) -> Any:
        return torch.relu(self.fc1(x))

    def forward(self, x: Any) -> Any:
        return self.fc2(self.hidden(x))


X = torch.randn(6, 4, generator=torch.Generator().manual_seed(2))
Y = torch.arange(6) % 3


class Within(nn.Module):
    """A model and a module `loss` beside it, whose forward pass is what is to be traced."""

    def __init__(self, model: Any, compute: Callable[[], Any]) -> None:
        super().__init__()
        self.net = model
        self.loss = Computes(compute)

    def forward(self) -> Any:
        return self.loss()


class Computes(nn.Module):
    def __init__(self, compute: Callable[[], Any]) -> None:
        super().__init__()
        self._compute = compute

    def forward(self) -> Any:
        return self._compute()


def traced(model: Any, compute: Callable[[], Any], code: str, layer: str = "", once: bool = False) -> Origin:
    """The origin, which must be in this module (empty: outside of all) at the line that holds this code. Unless it is to run
    `once`, the same is asked with all of it inside a module.
    """
    origin = trace_origin(model, compute)
    assert origin is not None
    file, _, number = origin.line.partition(":")
    assert file == "test_origin_planted.py" and code in linecache.getline(__file__, int(number)), origin
    assert origin.layer == layer, origin
    if not once:
        inside = Within(model, compute)
        again = trace_origin(inside, inside)
        assert again is not None
        assert again.layer == (f"net.{layer}" if layer else "loss"), again
        assert (again.line, again.cause, again.operation) == (origin.line, origin.cause, origin.operation), again
    return origin


class LogOfNothing(nn.Module):
    """Its loss is a module, as people write it."""

    def forward(self, out: Any) -> Any:
        return -torch.log(torch.softmax(out, 1).masked_fill(torch.eye(3)[:1].bool(), 0)).mean()


def test_log_of_zero_in_a_custom_loss() -> None:
    model = nn.Sequential(Net(), LogOfNothing())
    origin = traced(model, lambda: model(X), "-torch.log(torch.softmax(out, 1)", "1")
    assert (origin.cause, origin.operation, origin.place) == ("log-of-zero", "log", "forward")
    assert "[0, 0]" in origin.text


def test_division_by_zero() -> None:
    net = Net()

    def loss() -> Any:
        h = net.hidden(X)
        return net.fc2(h / (h.sum(1, keepdim=True) * 0)).mean()

    origin = traced(net, loss, "h / (h.sum(1, keepdim=True) * 0)")
    assert (origin.cause, origin.operation) == ("division-by-zero", "div")


def test_sqrt_at_zero_shows_in_the_backward_pass_only() -> None:
    net = Net()

    def loss() -> Any:
        distance = net(X) - net(X)
        return net(X).square().mean() + torch.sqrt(distance * distance).mean()

    origin = traced(net, loss, "torch.sqrt(distance * distance)")
    assert (origin.cause, origin.operation, origin.place) == ("sqrt-at-zero", "sqrt", "backward")


def test_sqrt_of_a_negative_number() -> None:
    net = Net()
    origin = traced(net, lambda: torch.sqrt(-net(X).square() - 1).mean(), "torch.sqrt(-net(X)")
    assert (origin.cause, origin.place) == ("sqrt-at-zero", "forward")


def test_exponential_overflow_in_a_naive_softmax() -> None:
    net = Net()

    def loss() -> Any:
        e = torch.exp(net(X) * 10_000)
        return (e / e.sum(1, keepdim=True)).mean()

    origin = traced(net, loss, "e = torch.exp(net(X) * 10_000)")
    assert (origin.cause, origin.operation) == ("exp-overflow", "exp")


def test_half_precision_overflow() -> None:
    net = Net()
    origin = traced(net, lambda: ((net(X) + 30_000) * 3).half().float().square().mean(), ".half().float()")
    assert origin.cause == "fp16-overflow", origin


def test_exploding_activations_in_a_convolution() -> None:
    torch.manual_seed(3)
    convs = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3))
    with torch.no_grad():
        convs[0].weight.mul_(1e20)
        convs[2].weight.mul_(1e20)
    images = torch.randn(2, 1, 8, 8)
    origin = traced(convs, lambda: convs(images).mean(), "convs(images).mean()", "2")
    assert origin.cause == "exploding-signal", origin


def test_exploding_gradients_in_the_backward_pass() -> None:
    net = Net()
    with torch.no_grad():
        net.fc1.weight.mul_(1e-30)
        net.fc1.bias.zero_()
        net.fc2.weight.fill_(1e30)
        net.fc2.bias.zero_()
    origin = traced(net, lambda: (net(X.abs()) * 1e9 + 1).mean() * 1e10, "self.fc2(self.hidden(x))", "fc2")
    assert (origin.cause, origin.place) == ("exploding-signal", "backward"), origin


def test_in_place_change_of_a_weight() -> None:
    net = Net()

    def loss() -> Any:
        net.fc1.weight.detach().div_(0.0)
        return net(X).mean()

    origin = traced(net, loss, "net.fc1.weight.detach().div_(0.0)", once=True)
    assert (origin.cause, origin.operation) == ("in-place-modification", "div"), origin


def test_in_place_change_behind_autograds_back() -> None:
    net = Net()

    def loss() -> Any:
        p = torch.softmax(net(X), 1)
        told = -torch.log(p).mean()
        p.data.zero_()
        kept.append(p)
        return told

    kept: list[Any] = []
    origin = traced(net, loss, "told = -torch.log(p).mean()")
    assert (origin.cause, origin.operation, origin.place) == ("in-place-modification", "log", "backward"), origin
    assert "changed by zero in place (test_origin_planted.py:" in origin.detail


def test_in_place_change_that_autograd_refuses() -> None:
    net = Net()

    def loss() -> Any:
        p = torch.softmax(net(X), 1)
        told = -torch.log(p).mean()
        p.detach().mul_(2)
        kept.append(p)
        return told

    kept: list[Any] = []
    origin = traced(net, loss, "p.detach().mul_(2)")
    assert (origin.cause, origin.operation, origin.place) == ("in-place-modification", "mul", "backward"), origin


def test_a_change_in_place_that_autograd_knows_is_not_blamed() -> None:
    net = Net()
    assert trace_origin(net, lambda: net.fc2(torch.relu_(net.fc1(X))).mean()) is None
    origin = traced(net, lambda: torch.log(torch.relu_(net.fc1(X)).mul_(0)).mean(), ".mul_(0)).mean()")
    assert (origin.cause, origin.operation) == ("log-of-zero", "log"), origin


def test_another_error_of_the_backward_pass_is_not_swallowed() -> None:
    class Refusing(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            raise RuntimeError("not today")

    net = Net()
    with pytest.raises(RuntimeError, match="not today"):
        trace_origin(net, lambda: Refusing.apply(net(X)).mean())


def test_attention_row_that_is_fully_masked() -> None:
    torch.manual_seed(4)
    attention = nn.ModuleDict({"query": nn.Linear(4, 4), "key": nn.Linear(4, 4)})
    tokens = torch.randn(2, 5, 4)
    mask = torch.ones(5, 5).triu(1).bool()
    mask[3] = True

    def loss() -> Any:
        scores = attention["query"](tokens) @ attention["key"](tokens).transpose(1, 2)
        return (torch.softmax(scores.masked_fill(mask, -math.inf), -1) @ tokens).mean()

    origin = traced(attention, loss, "torch.softmax(scores.masked_fill(mask, -math.inf), -1)")
    assert (origin.cause, origin.operation) == ("division-by-zero", "softmax"), origin


def test_a_causal_mask_is_no_fault() -> None:
    net = Net()
    mask = torch.ones(6, 6).triu(1).bool()

    def loss() -> Any:
        h = net.hidden(X)
        return torch.softmax((h @ h.t()).masked_fill(mask, -math.inf), -1).square().mean()

    assert trace_origin(net, loss) is None


def test_an_infinity_that_is_selected_away_is_not_blamed() -> None:
    net = Net()

    def loss() -> Any:
        out = net(X)
        harmless = torch.where(torch.zeros_like(out).bool(), torch.log(out.detach() * 0), out)
        return torch.exp(harmless * 1e6).mean()

    assert traced(net, loss, "torch.exp(harmless * 1e6)").cause == "exp-overflow"


def test_behind_a_long_short_term_memory() -> None:
    torch.manual_seed(5)
    memory = nn.ModuleDict({"lstm": nn.LSTM(3, 5), "out": nn.Linear(5, 2)})
    sequence = torch.randn(7, 2, 3)
    origin = traced(memory, lambda: torch.log(torch.relu(memory["out"](memory["lstm"](sequence)[0][6])) * 0).mean(), "torch.log(torch.relu(")
    assert (origin.cause, origin.operation) == ("log-of-zero", "log")


def test_exploding_state_of_a_recurrent_layer() -> None:
    torch.manual_seed(6)
    memory = nn.ModuleDict({"rnn": nn.RNN(3, 5, nonlinearity="relu")})
    with torch.no_grad():
        memory["rnn"].weight_hh_l0.abs_().mul_(1e18)
    sequence = torch.rand(7, 2, 3) + 1
    origin = traced(memory, lambda: memory["rnn"](sequence)[0].mean(), 'memory["rnn"](sequence)', "rnn")
    assert origin.cause == "exploding-signal", origin


def test_loss_over_targets_that_are_all_ignored() -> None:
    net = Net()
    origin = traced(net, lambda: F.cross_entropy(net(X), torch.full((6,), -100)), "F.cross_entropy(net(X)")
    assert origin.cause == "division-by-zero", origin


def test_deviation_of_one_sample() -> None:
    net = Net()

    def loss() -> Any:
        h = net.hidden(X[:1])
        return (h / h.std(0, keepdim=True)).mean()

    origin = traced(net, loss, "h.std(0, keepdim=True)")
    assert (origin.cause, origin.operation) == ("division-by-zero", "std"), origin
