"""NaN in programs as people write them: masks, functions of their own, hooks, checkpoints, matrices, distributions."""

from __future__ import annotations

import inspect
import linecache
import math
from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
pytest.importorskip("torch.utils._python_dispatch", reason="this PyTorch shows no operations to Python")

from torch.utils.checkpoint import checkpoint  # noqa: E402

from osler.torch import Monitor, Origin  # noqa: E402

F = torch.nn.functional
nn = torch.nn
X = torch.randn(8, 6, generator=torch.Generator().manual_seed(1))
Y = torch.arange(8) % 3
ALL_BUT_ONE = (torch.arange(8) != 3).float()[:, None]  # row 3 is silenced


class Apply(nn.Module):
    """A module that computes what it is told."""

    def __init__(self, what: Callable[[Any], Any]) -> None:
        super().__init__()
        self.what = what

    def forward(self, x: Any) -> Any:
        return self.what(x)


def around(what: Callable[[Any], Any], outputs: int = 3) -> Any:
    """A network with something of the user's own in its middle, at `own`."""
    torch.manual_seed(3)
    net = nn.Sequential()
    net.add_module("first", nn.Linear(6, 5))
    net.add_module("own", Apply(what))
    net.add_module("last", nn.Linear(5, outputs))
    return net


def told(model: Any, compute: Callable[[], Any], *, whole: bool = True) -> Origin:
    """What the monitor says of a step that is broken, by `train_step` or by `step` alone."""
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    lines: list[str] = []
    monitor = Monitor(model, optimizer, on_line=lines.append)
    if whole:
        go = monitor.train_step(compute)
    else:
        loss = compute()
        loss.backward()
        go = monitor.step(loss)
    monitor.close()
    assert not go, "the step was not broken"
    assert monitor.origin is not None, lines
    return monitor.origin


class LogOfItsOwn(torch.autograd.Function):  # type: ignore[misc,name-defined]
    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        context.save_for_backward(x)
        return torch.log(x)

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return gradient / context.saved_tensors[0]


class RootOfItsOwn(torch.autograd.Function):  # type: ignore[misc,name-defined]
    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        root = torch.sqrt(x)
        context.save_for_backward(root)
        return root

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        return gradient / (2 * context.saved_tensors[0])


def silenced(h: Any) -> Any:
    return (h * ALL_BUT_ONE).square()


def _lines_of(what: Callable[[Any], Any]) -> set[int]:
    """The line of a function that is written in one, or those of the user's own operation that it applies."""
    own = [each for each in (LogOfItsOwn, RootOfItsOwn) if each.__name__ in what.__code__.co_names]
    if not own:
        return {what.__code__.co_firstlineno}
    code, first = inspect.getsourcelines(own[0])
    return set(range(first, first + len(code)))


@pytest.mark.parametrize(
    ("what", "operation", "cause", "place"),
    [
        (lambda h: LogOfItsOwn.apply(h * 0), "log", "log-of-zero", "forward"),
        (lambda h: RootOfItsOwn.apply(silenced(h)), "div", "division-by-zero", "backward"),
        (lambda h: torch.sqrt(silenced(h)), "sqrt", "sqrt-at-zero", "backward"),
        (lambda h: silenced(h) ** 0.5, "pow", "sqrt-at-zero", "backward"),
        (lambda h: h / h.norm(dim=-1, keepdim=True) / (ALL_BUT_ONE), "div", "division-by-zero", "forward"),
        (lambda h: h.clone().div_(0.0), "div", "division-by-zero", "forward"),
        (lambda h: torch.reciprocal(h * 0), "reciprocal", "division-by-zero", "forward"),
        (lambda h: torch.acos(F.normalize(h, dim=-1) * 9), "acos", "outside-domain", "forward"),
        (lambda h: torch.exp(h * 1e3), "exp", "exp-overflow", "forward"),
        (lambda h: F.layer_norm(h * ALL_BUT_ONE, (5,), eps=0.0), "native_layer_norm", "division-by-zero", "forward"),
        (lambda h: h.masked_fill(h < 0, -math.inf) * (h > 0), "mul", "outside-domain", "forward"),
        (lambda h: h.masked_fill(h < 0, -math.inf).softmax(-1).log().mul(h > 0), "log", "log-of-zero", "forward"),
        (lambda h: torch.cumprod(h.abs() * 1e12 + 1e12, -1), "cumprod", "exploding-signal", "forward"),
        (lambda h: checkpoint(lambda z: torch.log(z * 0), h), "log", "log-of-zero", "forward"),
        (lambda h: checkpoint(lambda z: torch.sqrt(silenced(z)), h), "sqrt", "sqrt-at-zero", "backward"),
    ],
)
def test_inside_a_module_of_the_users_own(
    what: Callable[[Any], Any], operation: str, cause: str, place: str
) -> None:
    net = around(what)
    origin = told(net, lambda: F.cross_entropy(net(X), Y))
    assert (origin.operation, origin.cause, origin.place, origin.layer) == (operation, cause, place, "own"), origin
    file, _, line = origin.line.partition(":")
    assert file == "test_origin_foreign.py" and int(line) in _lines_of(what), origin
    coarse = told(net, lambda: F.cross_entropy(net(X), Y), whole=False)
    assert coarse.place in ({"forward", "loss"} if place == "forward" else {"backward"}), coarse


def _product_of(net: Any) -> Any:
    h = net(X)[:4, :3]
    return h @ h.t()


@pytest.mark.parametrize(
    ("loss", "operation", "cause", "place"),
    [
        (lambda net: F.poisson_nll_loss(net(X) + 120, torch.ones(8, 3)), "exp", "exp-overflow", "forward"),
        (lambda net: F.cross_entropy(net(X), Y, weight=torch.zeros(3)), "nll_loss_forward", "division-by-zero", "forward"),
        (lambda net: -torch.logdet(_product_of(net) * 0), "linalg_slogdet", "log-of-zero", "forward"),
        (lambda net: torch.linalg.eigh(_product_of(net) * 0)[1][:, 0].sum(), "linalg_eigh", "division-by-zero", "backward"),
        (lambda net: net(X)[Y == 7].square().mean() + 0 * net(X).sum(), "mean", "division-by-zero", "forward"),
        (lambda net: F.huber_loss(torch.log2(net(X) * 0), X[:, :3]), "log2", "log-of-zero", "forward"),
        (
            lambda net: F.cross_entropy(net(X).masked_fill(torch.tensor([False, False, True]), -math.inf), Y * 0 + 2),
            "nll_loss_forward",
            "log-of-zero",
            "forward",
        ),
    ],
)
def test_in_the_loss(loss: Callable[[Any], Any], operation: str, cause: str, place: str) -> None:
    net = around(torch.tanh)
    origin = told(net, lambda: loss(net))
    assert (origin.operation, origin.cause, origin.place) == (operation, cause, place), origin
    assert (origin.layer, origin.line) == ("", f"test_origin_foreign.py:{loss.__code__.co_firstlineno}"), origin


def test_a_recurrent_layer_does_not_hide_what_came_before_it() -> None:
    gru = nn.GRU(4, 6, batch_first=True)
    x = torch.randn(3, 5, 4)
    x[1, 2] = 0

    def loss() -> Any:
        energy = x.square().sum(-1, keepdim=True).log()
        return gru(x * energy)[0].square().mean()

    origin = told(gru, loss)
    file, _, line = origin.line.partition(":")
    assert (file, origin.layer) == ("test_origin_foreign.py", ""), origin
    assert "energy = x.square()" in linecache.getline(__file__, int(line)), origin
    assert (origin.operation, origin.cause, origin.place) == ("log", "log-of-zero", "forward"), origin


def test_a_weight_normalised_by_nothing() -> None:
    layer = nn.utils.weight_norm(nn.Linear(4, 3))
    with torch.no_grad():
        layer.weight_v[1] = 0
    net = nn.Sequential(layer, nn.Tanh())
    origin = told(net, lambda: net(X[:, :4]).square().mean())
    assert (origin.cause, origin.place) == ("division-by-zero", "forward") and origin.operation.startswith("weight_norm")


def test_a_mask_that_reaches_the_loss_is_told_as_what_it_is() -> None:
    net = around(torch.tanh)
    mask, even = torch.tensor([0.0, 0.0, -math.inf]), torch.full((8, 3), 1 / 3)
    origin = told(net, lambda: F.cross_entropy(net(X) + mask, even))
    assert (origin.operation, origin.cause) == ("sum", "outside-domain"), origin
    assert "asked for" in origin.detail and origin.line.startswith("test_origin_foreign.py:")


def test_step_alone_finds_in_the_forward_pass_what_the_loss_has_left_out() -> None:
    net = around(lambda h: torch.where(torch.arange(8)[:, None] == 2, torch.log(h * 0), h))
    y = Y.clone()
    y[2] = -100
    coarse = told(net, lambda: F.cross_entropy(net(X), y), whole=False)
    assert (coarse.place, coarse.operation, coarse.layer) == ("forward", "log", "own"), coarse


def test_a_hook_on_a_gradient_is_known_by_its_line() -> None:
    net = around(torch.tanh)

    def loss() -> Any:
        h = net.own(net.first(X))
        h.register_hook(lambda gradient: gradient / 0)
        return F.cross_entropy(net.last(h), Y)

    origin = told(net, loss)
    assert (origin.operation, origin.cause, origin.place) == ("div", "division-by-zero", "backward"), origin
    assert origin.line.startswith("test_origin_foreign.py:")


class Causal(nn.Module):
    """Attention with a mask of -inf that was made before training, as a buffer."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.query, self.key, self.out = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)
        self.register_buffer("mask", torch.full((8, 8), -math.inf).triu(1))

    def forward(self, x: Any, mask: Any = None) -> Any:
        scores = self.query(x) @ self.key(x).t() + (self.mask if mask is None else mask)
        return self.out(torch.softmax(scores, -1) @ x)


def test_a_sound_mask_is_not_blamed_for_another_fault() -> None:
    net = Causal()
    broken = lambda: -torch.log(torch.softmax(net(X) * 1e5, -1)).mean()  # noqa: E731
    assert told(net, broken).operation == "log"
    assert told(net, broken, whole=False).place == "loss"
    given = net.mask.clone()
    assert told(net, lambda: -torch.log(torch.softmax(net(X, given) * 1e5, -1)).mean(), whole=False).place == "loss"


def test_a_row_that_is_masked_whole_is_found_in_the_softmax() -> None:
    net = Causal()
    net.mask[2] = -math.inf
    origin = told(net, lambda: F.cross_entropy(net(X), Y))
    assert (origin.operation, origin.cause) == ("softmax", "division-by-zero"), origin
    assert told(net, lambda: F.cross_entropy(net(X), Y), whole=False).operation == "softmax"


def test_weights_and_batches_that_were_broken_before_the_step() -> None:
    table = nn.ModuleDict({"words": nn.Embedding(9, 6), "out": nn.Linear(6, 3)})
    with torch.no_grad():
        table["words"].weight[4, 2] = math.nan
    origin = told(table, lambda: F.cross_entropy(table["out"](table["words"](torch.arange(8))), Y))
    assert (origin.place, origin.layer) == ("weights", "words.weight") and "[4, 2]" in origin.text, origin
    net = around(torch.tanh)
    x = X.clone()
    x[5, 1] = math.nan
    for whole in (True, False):
        origin = told(net, lambda: F.mse_loss(net(x), torch.zeros(8, 3)), whole=whole)
        assert (origin.place, origin.cause) == ("batch", "corrupt-data") and "[5, 1]" in origin.text, origin


def test_places_are_told_by_the_tensors_own_sizes_however_it_lies_in_memory() -> None:
    net = around(torch.tanh)
    x = X.t().contiguous().t()
    x[5, 1] = math.nan
    assert "[5, 1]" in told(net, lambda: net(x).mean(), whole=False).text


def test_a_closure_that_draws_its_own_batch_is_noticed() -> None:
    net = around(torch.tanh)
    drawn = iter([X * math.nan, X])
    origin = told(net, lambda: net(next(drawn)).mean())
    assert origin.place == "batch"  # what went in is still known
    factors = iter([math.nan, 1.0])
    origin = told(net, lambda: net(X).mean() * next(factors))
    assert "run a second time, all of it was finite" in origin.text, origin
    calls = iter([X * math.nan])
    origin = told(around(torch.tanh), lambda: net.last(net.own(net.first(next(calls)))).mean() + 0)
    assert "could not be run a second time" in origin.text, origin
