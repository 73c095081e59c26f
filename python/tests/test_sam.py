"""Sharpness-aware steps: the arithmetic, where they lead, and beside a monitor."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from osler import InvalidError  # noqa: E402
from osler.torch import Monitor, Sam  # noqa: E402


def _weight(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_takes_the_gradient_uphill_and_steps_from_where_it_was() -> None:
    weight = _weight(3.0, 2.0)  # of x^2 / 2 + 2 y^2 the gradient is (3, 8)
    curvature = torch.tensor([0.5, 2.0], dtype=torch.float64)
    loss = Sam(torch.optim.SGD([weight], 0.1), 0.5).step(lambda: (curvature * weight.square()).sum())
    assert loss.item() == 12.5
    length = math.sqrt(73)
    assert weight[0].item() == pytest.approx(3 - 0.1 * (3 + 0.5 * 3 / length))
    assert weight[1].item() == pytest.approx(2 - 0.1 * 4 * (2 + 0.5 * 8 / length))


def test_the_weights_are_put_back_to_the_bit_whatever_happens() -> None:
    weight = torch.rand(1000, requires_grad=True)
    before = weight.detach().clone()
    sam = Sam(torch.optim.SGD([weight], 0.1), 1e-3)
    calls = []

    def fails_uphill() -> Any:
        calls.append(weight.detach().clone())
        if len(calls) == 2:
            raise RuntimeError("out of memory")
        return weight.square().sum()

    with pytest.raises(RuntimeError):
        sam.step(fails_uphill)
    assert torch.equal(calls[0], before) and not torch.equal(calls[1], before)
    assert torch.equal(weight.detach(), before)


def test_stays_where_there_is_no_direction() -> None:
    weight = _weight(0.0, 0.0)
    sam = Sam(torch.optim.SGD([weight], 0.1))
    weight.square().sum().backward()
    assert not sam.climb()
    weight.grad.fill_(math.nan)
    assert not sam.climb()
    assert weight.detach().tolist() == [0.0, 0.0]


def test_drifts_along_the_bottom_of_a_valley_to_where_it_is_flat() -> None:
    def ends_at(radius: float) -> float:
        weight = _weight(1.0, 0.5)  # the valley lies along y = 0, and its walls get steeper with x
        sam = Sam(torch.optim.SGD([weight], 0.02), radius)
        for _ in range(400):
            sam.step(lambda: 0.5 * (1 + 10 * weight[0] ** 2) * weight[1] ** 2)
        return abs(weight[0].item())

    assert ends_at(1e-6) > 0.5, "plain descent stops where it reaches the bottom"
    assert ends_at(0.3) < 0.05


def test_goes_together_with_a_monitor() -> None:
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor, sam = Monitor(model, optimizer, on_line=None), Sam(optimizer)
    x = torch.randn(256, 4)
    y = (x[:, 0] > 0).long()
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        losses.append(loss.item())
        if monitor.step(loss):
            sam.climb()
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            sam.descend()
            optimizer.step()
    report = monitor.report()
    assert losses[-1] < losses[0] / 3
    assert report.status == "healthy", report.text()


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf])
def test_refuses_a_radius_that_means_nothing(radius: float) -> None:
    with pytest.raises(InvalidError, match="radius"):
        Sam(torch.optim.SGD([_weight(1.0)], 0.1), radius)
