"""The layers of a log that has nothing but their gradient norms."""

from __future__ import annotations

import random
from typing import Any

import osler


def _log(**ill: float) -> dict[str, Any]:
    """A run that does not learn: twenty-one layers, some of them ill."""
    dice = random.Random(3)
    norms = {f"layer{number}": ill.get(f"layer{number}", 0.3) for number in range(21)}
    log: dict[str, Any] = {"loss": [2.3 + dice.gauss(0, 0.02) for _ in range(400)]}
    for name, norm in norms.items():
        log[f"grad_norm/{name}"] = [norm * dice.lognormvariate(0, 0.2) for _ in range(400)]
    return log


def test_one_exploding_one_silent_and_one_dead_layer_are_named() -> None:
    report = osler.diagnose(_log(layer5=80.0, layer11=1e-9, layer16=0.0), layers=True)
    assert [(layer.name, layer.status) for layer in report.layers.sick] == [
        ("layer5", "exploding"),
        ("layer11", "silent"),
        ("layer16", "dead"),
    ]
    assert {"exploding-layer", "silent-layer", "dead-layer"} <= {finding.id for finding in report.findings}
    assert report.layers.spans["gradient_norm"]["highest_layer"] == "layer5"
    assert "the middle of 19 others" in str(report.layers)


def test_equal_layers_are_well() -> None:
    report = osler.diagnose(_log(), layers=True)
    assert len(report.layers) == 21 and not report.layers.sick
    assert not [each for each in report.findings if each.id.endswith("-layer")]


def test_layers_that_were_not_asked_for_say_how_to_ask() -> None:
    layers = osler.diagnose(_log()).layers
    assert not layers and "layers=True" in str(layers)
    assert "has no statistics of layers" in str(osler.diagnose({"loss": [1.0, 0.5, 0.4]}, layers=True).layers)
