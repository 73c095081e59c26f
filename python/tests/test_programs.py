"""Programs with more than one network, and uses that the monitor refuses with words that say what to do."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Callable

import pytest

import osler

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from osler.torch import Monitor  # noqa: E402

F = torch.nn.functional
nn = torch.nn
STEPS = 80


def _network(inputs: int, outputs: int) -> Any:
    return nn.Sequential(nn.Linear(inputs, 32), nn.LeakyReLU(0.2), nn.Linear(32, outputs))


def _watched(network: Any, name: str, folder: Path) -> tuple[Any, Any]:
    optimizer = torch.optim.Adam(network.parameters(), 5e-4, betas=(0.5, 0.9))
    return optimizer, Monitor(network, optimizer, on_line=None, run_file=folder / f"{name}.osler")


def _ring(count: int) -> Any:
    angle = torch.rand(count) * 6.283
    return 2 * torch.stack([angle.cos(), angle.sin()], 1)


def _game(folder: Path, whole: bool, fresh: bool) -> dict[str, Any]:
    """A GAN; its steps left to the monitor or not, new samples for the generator's own step or the same ones again."""
    torch.manual_seed(1)
    generator, critic = _network(4, 2), _network(2, 1)
    plays = {"generator": _watched(generator, "generator", folder), "critic": _watched(critic, "critic", folder)}
    one, none = torch.ones(32, 1), torch.zeros(32, 1)
    guess = F.binary_cross_entropy_with_logits

    def step(name: str, compute: Callable[[], Any]) -> None:
        optimizer, monitor = plays[name]
        if whole:
            monitor.train_step(compute)
            return
        optimizer.zero_grad()
        loss = compute()
        loss.backward()
        if monitor.step(loss):
            optimizer.step()

    for _ in range(STEPS):
        real, seed = _ring(32), torch.randn(32, 4)
        fake = generator(seed)
        step("critic", lambda: guess(critic(real), one) + guess(critic(fake.detach()), none))  # noqa: B023
        step("generator", lambda: guess(critic(generator(seed) if fresh else fake), one))  # noqa: B023
    for _, monitor in plays.values():
        monitor.close()
    return {name: osler.read(folder / f"{name}.osler") for name in plays}


@pytest.mark.parametrize(("whole", "fresh"), [(True, True), (False, True), (False, False)])
def test_networks_that_play_against_each_other_are_judged_as_a_game(tmp_path: Path, whole: bool, fresh: bool) -> None:
    for run in _game(tmp_path, whole, fresh).values():
        assert run.configuration["osler.networks"] == "trained in turns"
        report = osler.diagnose(run)
        assert report.to_dict()["domain"]["id"] == "adversarial", report.to_dict()["domain"]
        reasons = dict(report.not_checked)
        assert "play against each other" in reasons["loss-diverging"]


def test_networks_that_merely_train_beside_each_other_are_not(tmp_path: Path) -> None:
    torch.manual_seed(2)
    members = [_network(2, 1) for _ in range(3)]
    watched = [_watched(member, f"member{i}", tmp_path) for i, member in enumerate(members)]
    for _ in range(STEPS):
        x = _ring(32)
        for member, (optimizer, monitor) in zip(members, watched):
            optimizer.zero_grad()
            loss = F.mse_loss(member(x), x[:, :1])
            loss.backward()
            if monitor.step(loss):
                optimizer.step()
        with torch.no_grad():
            sum(member(x) for member in members)
    for i, (_, monitor) in enumerate(watched):
        monitor.close()
        assert "osler.networks" not in osler.read(tmp_path / f"member{i}.osler").configuration


def test_what_another_network_trains_is_no_waiting_for_data(tmp_path: Path) -> None:
    quick, slow = _network(2, 1), _network(2, 1)
    _, first = _watched(quick, "quick", tmp_path)
    _, second = _watched(slow, "slow", tmp_path)

    def slowly() -> Any:
        time.sleep(0.02)
        return slow(torch.ones(4, 2)).mean()

    for _ in range(6):
        first.train_step(lambda: quick(torch.ones(4, 2)).mean())
        second.train_step(slowly)
    first.close()
    second.close()
    waited = osler.read(tmp_path / "quick.osler")["osler/time/data"].values
    taken = osler.read(tmp_path / "slow.osler")["osler/time/forward"].values
    assert max(waited[1:]) < min(taken[1:]), (waited, taken)


def test_gradients_that_train_step_clears_are_never_told_as_accumulating(tmp_path: Path) -> None:
    network = _network(2, 1)
    _, monitor = _watched(network, "whole", tmp_path)
    x = _ring(64)  # the same batch: gradients are much alike
    for _ in range(40):
        monitor.train_step(lambda: 100 * F.mse_loss(network(x), x[:, :1] * 3))
    monitor.close()
    run = osler.read(tmp_path / "whole.osler")
    assert run["osler/check/gradients-cleared"].values == [1.0]
    assert "osler/check/gradients-carried" not in run.series


def _monitor(optimizer: Callable[[Any], Any] = lambda network: torch.optim.SGD(network.parameters(), 0.1)) -> Any:
    network = _network(2, 1)
    return network, Monitor(network, optimizer(network), on_line=None)


def test_a_step_that_cannot_be_watched_is_refused_with_what_to_do() -> None:
    network, monitor = _monitor(lambda network: torch.optim.LBFGS(network.parameters()))
    with pytest.raises(osler.OslerError, match="LBFGS computes the loss several times .* monitor.step"):
        monitor.train_step(lambda: network(torch.ones(1, 2)).mean())
    network, monitor = _monitor()
    with pytest.raises(osler.OslerError, match="was given no function"):
        monitor.train_step(None)
    with pytest.raises(osler.OslerError, match="depends on no parameter.*no_grad"):
        monitor.train_step(lambda: network(torch.ones(1, 2)).detach().mean())
    with pytest.raises(osler.OslerError, match="reduce it with mean"):
        monitor.train_step(lambda: network(torch.ones(3, 2)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"clip_norm": -1.0}, "clip_norm is -1.0: write a limit above 0"),
        ({"clip_norm": float("inf")}, "clip_norm is inf"),
        ({"budget": -0.1}, "budget is -0.1"),
        ({"classes": 1}, "classes is 1"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"trace_every": -2}, "trace_every is -2"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(options: Any, words: str) -> None:
    network = _network(2, 1)
    with pytest.raises(osler.OslerError, match=words):
        Monitor(network, torch.optim.SGD(network.parameters(), 0.1), **options)


def test_what_is_no_optimizer_is_refused() -> None:
    network = _network(2, 1)
    with pytest.raises(osler.OslerError, match="no optimizer was given"):
        Monitor(network, [])
    with pytest.raises(osler.OslerError, match="float is no torch.optim.Optimizer"):
        Monitor(network, [0.1])  # type: ignore[list-item]


def test_lbfgs_is_watched_by_step() -> None:
    network, monitor = _monitor(lambda network: torch.optim.LBFGS(network.parameters(), lr=0.5, max_iter=4))
    optimizer = monitor._optimizers[0]
    x = _ring(64)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = F.mse_loss(network(x), x[:, :1])
        loss.backward()
        return loss

    for _ in range(10):
        assert monitor.step(optimizer.step(closure))
    assert monitor.steps == 10


def _classifier(last: Any, loss: Callable[[Any, Any], Any], folder: Path) -> Any:
    """A short training of three classes, with something behind its outputs."""
    torch.manual_seed(3)
    network = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3), last)
    optimizer, monitor = _watched(network, "classifier", folder)
    for _ in range(20):
        x = _ring(32)
        optimizer.zero_grad()
        value = loss(network(x), (x[:, 0] > 0).long() + (x[:, 1] > 0).long())
        value.backward()
        if monitor.step(value):
            optimizer.step()
    return monitor.report(only=["outputs-squashed-twice"])


def test_a_softmax_before_a_cross_entropy_is_seen_in_the_graph_of_the_loss(tmp_path: Path) -> None:
    one_hot = lambda y: F.one_hot(y, 3).float()  # noqa: E731
    for last, loss in (
        (nn.Softmax(-1), F.cross_entropy),
        (nn.Softmax(-1), lambda out, y: 0.3 * F.cross_entropy(out.view(-1, 3), y) + out.square().mean()),
        (nn.Sigmoid(), lambda out, y: F.binary_cross_entropy_with_logits(out, one_hot(y))),
    ):
        assert _classifier(last, loss, tmp_path).has("outputs-squashed-twice"), (last, loss)
    for last, loss in (
        (nn.Identity(), F.cross_entropy),
        (nn.LogSoftmax(-1), F.nll_loss),
        (nn.LogSoftmax(-1), F.cross_entropy),  # does no harm
        (nn.Softmax(-1), lambda out, y: F.mse_loss(out, one_hot(y))),
        (nn.Sigmoid(), lambda out, y: F.binary_cross_entropy(out, one_hot(y))),
    ):
        assert not _classifier(last, loss, tmp_path).has("outputs-squashed-twice"), (last, loss)
