"""A look at the activations of chosen inputs."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from osler import InvalidError  # noqa: E402
from osler.torch import look  # noqa: E402


def _network() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(6, 10), torch.nn.BatchNorm1d(10), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(10, 3)
    )


def test_figures_are_those_of_the_layers_outputs() -> None:
    model, x = _network(), torch.randn(32, 6)
    seen = look(model, x)
    assert [(each.layer, each.kind) for each in seen] == [
        ("0", "Linear"), ("1", "BatchNorm1d"), ("2", "ReLU"), ("3", "Dropout"), ("4", "Linear"),
    ]
    first = model[0](x).detach().double()
    assert seen[0].mean == pytest.approx(first.mean().item())
    assert seen[0].deviation == pytest.approx(first.std(unbiased=False).item())
    assert (seen[0].lowest, seen[0].highest) == (first.min().item(), first.max().item())
    assert sum(seen[0].counts) == 320 and len(seen[0].edges) == 41
    assert seen[0].edges[0] == seen[0].lowest and seen[0].edges[-1] == pytest.approx(seen[0].highest)
    assert 0.2 < seen[2].zero_share < 0.8
    assert "deviation" in str(seen) and len(str(seen).splitlines()) == 6


def test_it_looks_in_evaluation_mode_and_leaves_all_as_it_was() -> None:
    model, x = _network(), torch.randn(32, 6)
    model[1].eval()  # kept so on purpose
    modes = [module.training for module in model.modules()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    random = torch.get_rng_state()
    one, two = look(model, x), look(model, x)
    assert one == two, "dropout is off"
    assert [module.training for module in model.modules()] == modes
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random)
    assert all(not module._forward_hooks for module in model.modules())


def test_dead_units_are_those_that_are_zero_for_every_sample() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    with torch.no_grad():
        model[0].bias[:3] = -100.0
        model[0].bias[3:] = 100.0
    seen = look(model, torch.randn(16, 4))
    assert seen[1].dead_share == pytest.approx(3 / 8) and seen[1].zero_share == pytest.approx(3 / 8)
    maps = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU())
    with torch.no_grad():
        maps[0].bias[:] = torch.tensor([-100.0, 100.0, 100.0, 100.0])
    assert look(maps, torch.randn(2, 1, 8, 8))[1].dead_share == pytest.approx(1 / 4)


def test_what_is_not_finite_or_all_the_same_is_borne() -> None:
    model = torch.nn.Sequential(torch.nn.Identity())
    (broken,) = look(model, torch.tensor([[1.0, float("nan")], [float("inf"), 2.0]]))
    assert (broken.nonfinite, broken.lowest, broken.highest) == (2, 1.0, 2.0)
    (same,) = look(model, torch.full((2, 3), 5.0))
    assert same.counts == [6] and same.deviation == 0.0


def test_modes_are_put_back_also_when_the_model_throws() -> None:
    model = _network()
    with pytest.raises(RuntimeError):
        look(model, torch.randn(32, 7))
    assert model.training
    with pytest.raises(InvalidError, match="no inputs"):
        look(model)
