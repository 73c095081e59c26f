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
        assert "play against each other" in reasons["epoch-sawtooth"]


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


def _run_of(network: Any, loss: Callable[[int], Any], folder: Path, optimizer: Any = None, steps: int = 24) -> Any:
    """The run of a short training by `step`; `loss` gives that of a step, with the monitor told of its batch."""
    optimizer = optimizer or torch.optim.Adam(network.parameters(), 1e-3)
    file = folder / f"run{len(list(folder.iterdir()))}.osler"
    monitor = Monitor(network, optimizer, on_line=None, run_file=file)
    for step in range(steps):
        optimizer.zero_grad()
        value = loss(step, monitor) if "monitor" in loss.__code__.co_varnames else loss(step)  # type: ignore[call-arg]
        value.backward()
        if monitor.step(value):
            optimizer.step()
    monitor.close()
    return osler.read(file)


@pytest.mark.parametrize(
    "compare",
    [F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.l1_loss, lambda out, y: ((out - y) ** 2).mean(),
     lambda out, y: (y - out).abs().sum()],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_outputs_that_are_compared_with_all_targets_are_seen(tmp_path: Path, compare: Callable[[Any, Any], Any]) -> None:
    network = _network(2, 1)

    def loss(spoil: Callable[[Any, Any], Any]) -> Callable[[int, Any], Any]:
        def of(step: int, monitor: Any) -> Any:
            x = _ring(16)
            output, y = spoil(network(x), x[:, 0])
            monitor.batch(x, y)
            return compare(output, y)

        return of

    for wrong in (lambda out, y: (out, y), lambda out, y: (out[:, 0], y[:, None])):
        assert "targets-broadcast" in [each.id for each in osler.diagnose(_run_of(network, loss(wrong), tmp_path)).findings]
    for right in (lambda out, y: (out[:, 0], y), lambda out, y: (out, y[:, None])):
        assert set(_run_of(network, loss(right), tmp_path)["osler/check/targets-broadcast"].values) == {0.0}


def test_a_loss_over_all_pairs_of_outputs_is_no_mistake(tmp_path: Path) -> None:
    network = _network(2, 1)

    def pairs(step: int, monitor: Any) -> Any:
        x = _ring(16)
        monitor.batch(x, x[:, 0])
        out = network(x)
        return ((out - out.t()) ** 2).mean()

    assert set(_run_of(network, pairs, tmp_path)["osler/check/targets-broadcast"].values) == {0.0}


def test_losses_that_take_turns_are_noticed_by_what_they_are_computed_from(tmp_path: Path) -> None:
    body, heads = _network(2, 8), nn.ModuleList([nn.Linear(8, 1), nn.Linear(8, 1)])
    network = nn.ModuleList([body, heads])

    def of(choose: Callable[[int], int]) -> Callable[[int], Any]:
        def loss(step: int) -> Any:
            x = _ring(16)
            return F.mse_loss(heads[choose(step)](body(x)), x[:, :1])

        return loss

    assert _run_of(network, of(lambda step: step % 2), tmp_path).configuration["osler.losses"] == "in turns"
    for choose in (lambda step: 0, lambda step: int(step >= 12)):
        assert "osler.losses" not in _run_of(network, of(choose), tmp_path).configuration


def test_gradients_that_the_program_clears_are_seen_to_be_cleared(tmp_path: Path) -> None:
    network, x = _network(2, 1), _ring(16)
    loss = lambda step: F.mse_loss(network(x), x[:, :1])  # noqa: E731
    assert _run_of(network, loss, tmp_path)["osler/check/gradients-cleared"].values[-1] == 1.0

    def in_parts(step: int) -> Any:
        F.mse_loss(network(x[:8]), x[:8, :1]).backward()
        return F.mse_loss(network(x[8:]), x[8:, :1])

    assert _run_of(network, in_parts, tmp_path)["osler/check/gradients-cleared"].values[-1] == 1.0

    class Keeps(torch.optim.SGD):  # type: ignore[misc,name-defined]
        def zero_grad(self, *options: Any, **more: Any) -> None:
            pass

    kept = _run_of(network, loss, tmp_path, Keeps(network.parameters(), 1e-3))
    assert kept["osler/check/gradients-cleared"].values == [0.0]
    assert all(not parameter._backward_hooks for parameter in network.parameters())


def test_what_the_optimizer_does_not_hold_is_not_its_to_clear(tmp_path: Path) -> None:
    network = _network(2, 1)
    x = _ring(64)
    optimizer = torch.optim.SGD(network[2].parameters(), 1e-3)
    run = _run_of(network, lambda step: F.mse_loss(network(x), x[:, :1]), tmp_path, optimizer, steps=80)
    found = {each.id for each in osler.diagnose(run).findings}
    assert "parameters-not-optimized" in found and "gradients-accumulating" not in found


def test_the_classes_of_a_cross_entropy_are_read_from_its_graph(tmp_path: Path) -> None:
    network, target = _network(2, 5), torch.zeros(16, dtype=torch.long)
    assert _run_of(network, lambda step: F.cross_entropy(network(_ring(16)), target), tmp_path).configuration["num_classes"] == "5"
    for other in (lambda z: F.cross_entropy(z / 0.2, target), lambda z: F.mse_loss(z, torch.zeros(16, 5))):
        run = _run_of(network, lambda step: other(network(_ring(16))), tmp_path)  # noqa: B023
        assert "num_classes" not in run.configuration


def test_a_scripted_model_is_watched(tmp_path: Path) -> None:
    network = torch.jit.script(_network(2, 1))
    x = _ring(16)
    run = _run_of(network, lambda step: F.mse_loss(network(x), x[:, :1]), tmp_path)
    assert len(run["train/loss"].values) == 24 and "gradients/0.weight#norm" in run.series
    monitor = Monitor(network, torch.optim.SGD(network.parameters(), 0.1), on_line=None)
    with torch.no_grad():
        monitor.validation_batch(network(x))
    assert "validation-builds-graph" not in {each.id for each in monitor.report().findings}
    assert not monitor.train_step(lambda: network(x).sum() * float("nan"))
    assert monitor.origin is not None


def test_samples_are_compared_in_tensors_data_sets_and_loaders() -> None:
    from osler.torch import shared_samples

    data = torch.utils.data
    x = torch.randn(20, 3)
    both = [data.TensorDataset(part, torch.zeros(len(part))) for part in (x[:12], x[9:])]
    assert shared_samples(x[:12], x[9:]) == pytest.approx(3 / 11)
    assert shared_samples(*both) == pytest.approx(3 / 11)
    assert shared_samples(*[data.DataLoader(each, 5) for each in both]) == pytest.approx(3 / 11)
    assert shared_samples(x[:12], both[1]) == pytest.approx(3 / 11)
    with pytest.raises(osler.OslerError, match="give a tensor, a Dataset or a DataLoader"):
        shared_samples([1, 2], x)


def test_numbers_of_sparse_gradients_are_measured_and_a_nan_in_them_is_seen(tmp_path: Path) -> None:
    table = nn.Embedding(50, 4, sparse=True)
    words = torch.randint(0, 50, (16,))
    run = _run_of(table, lambda step: table(words).square().mean(), tmp_path, torch.optim.SparseAdam(list(table.parameters())))
    assert min(run["grad_norm"].values) > 0
    monitor = Monitor(table, torch.optim.SGD(table.parameters(), 0.1), on_line=None)
    loss = (table(words) * 0).sqrt().sum()
    loss.backward()
    assert not monitor.step(loss) and monitor.origin is not None
    told = monitor.batch(torch.eye(5).to_sparse(), torch.zeros(5, dtype=torch.long))
    assert told is not None and told.inputs == 5


def test_data_that_the_program_holds_whole_is_no_batch_that_comes_again(tmp_path: Path) -> None:
    network, data = _network(2, 1), _ring(200)

    def whole(step: int, monitor: Any, x: Any = data) -> Any:
        monitor.batch(x, x[:, 0])
        return F.mse_loss(network(x), x[:, :1])

    def copied(step: int, monitor: Any) -> Any:
        return whole(step, monitor, data.clone())  # as a loader that is stuck

    few = data[:32].clone()

    def one_batch(step: int, monitor: Any) -> Any:
        return whole(step, monitor, few)

    def told(loss: Any) -> set[str]:
        return {each.id for each in osler.diagnose(_run_of(network, loss, tmp_path, steps=60)).findings}

    assert "batch-repeated" not in told(whole)
    assert "batch-repeated" in told(copied)
    assert "batch-repeated" in told(one_batch)


def test_not_every_one_of_many_broken_steps_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    from osler.torch import monitor as module

    looked: list[int] = []
    known = module.blamed

    def counted(*given: Any, **more: Any) -> Any:
        looked.append(1)
        return known(*given, **more)

    monkeypatch.setattr(module, "blamed", counted)
    network, monitor = _monitor()
    for _ in range(100):
        assert not monitor.train_step(lambda: network(torch.ones(2, 2)).sum() / 0)
    assert len(looked) == 24 and monitor.skipped == 100


def test_what_is_no_model_optimizer_or_batch_is_refused_with_what_to_give() -> None:
    network, monitor = _monitor()
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    for call, words in (
        (lambda: Monitor(None, optimizer), "give the model first"),
        (lambda: Monitor(optimizer, network), "give the model first"),
        (lambda: Monitor(network, None), "is no torch.optim.Optimizer"),
        (lambda: Monitor(network, torch.optim.lr_scheduler.StepLR(optimizer, 3)), "StepLR is no torch.optim.Optimizer"),
        (lambda: Monitor(network, optimizer, statistics_every=1.5), "statistics_every is 1.5: write a whole number"),
        (lambda: Monitor(network, optimizer, budget="all"), "budget is 'all': write a number"),
        (lambda: monitor.batch({"input_ids": torch.ones(2, 2)}), "as one tensor, not as dict"),
    ):
        with pytest.raises(osler.OslerError, match=words):
            call()
    assert monitor.batch(torch.ones(4, 2).numpy(), [0, 1, 0, 1]).labels == 4
    monitor.validation_batch((network(torch.ones(2, 2)), None))


def test_a_loader_that_is_used_up_is_told_from_an_empty_one() -> None:
    from osler.torch import Training

    network, _ = _monitor()
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    for loader, words in (([], "no batches"), (((_ring(4), _ring(4)[:, :1]) for _ in range(2)), "only once")):
        training = Training(network, optimizer, F.mse_loss, loader)
        with pytest.raises(osler.OslerError, match=words):
            for _ in range(3):
                training.next_batch()


def test_a_softmax_along_the_samples_is_seen(tmp_path: Path) -> None:
    network, y = _network(2, 5), torch.randint(0, 5, (16,))
    for wrong in (
        lambda z: F.nll_loss(F.log_softmax(z, 0), y),
        lambda z: F.nll_loss(nn.LogSoftmax(-2)(z), y) + 0.1 * z.square().mean(),
        lambda z: F.nll_loss(z.softmax(0).log(), y),
    ):
        run = _run_of(network, lambda step: wrong(network(_ring(16))), tmp_path)  # noqa: B023
        assert "softmax-over-samples" in [each.id for each in osler.diagnose(run).findings]
    for right in (
        lambda z: F.cross_entropy(z, y),
        lambda z: F.nll_loss(F.log_softmax(z, -1), y),
        lambda z: -F.log_softmax(z @ z.t(), 0).diagonal().mean(),  # contrastive
        lambda z: F.cross_entropy(z[:, :, None, None].expand(-1, -1, 2, 2), y[:, None, None].expand(-1, 2, 2)),
    ):
        run = _run_of(network, lambda step: right(network(_ring(16))), tmp_path)  # noqa: B023
        assert set(run["osler/check/softmax-over-samples"].values) == {0.0}
