"""Faults of layers and data, and sound programs, in trainings of 400 steps under the monitor at its default budget."""

from __future__ import annotations

import math
from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from programs import (  # noqa: E402
    Adapted,
    Convolutional,
    Detached,
    Perceptron,
    Program,
    Transformer,
    adam,
    blobs,
    cross_entropy,
    images,
    sentences,
    waves,
)

F = torch.nn.functional
nn = torch.nn


def _changed(model: Any, change: Callable[[Any], None]) -> Any:
    with torch.no_grad():
        change(model)
    return model


def _without_head(model: Any) -> Any:
    return torch.optim.Adam([each for name, each in model.named_parameters() if "head" not in name], 2e-3)


def _of_one_class(step: int, x: Any, y: Any) -> tuple[Any, Any]:
    places = (y == step % 4).nonzero().flatten()
    places = places[torch.randint(0, len(places), (32,))] if len(places) else torch.arange(len(y))
    return x[places], y[places]


def _sgd(model: Any, rate: float, **options: Any) -> Any:
    return torch.optim.SGD(model.parameters(), rate, **options)


def _perceptron(**options: Any) -> Program:
    return Program(Perceptron(), blobs(), **options)


def _sick_perceptron(model: Any, **options: Any) -> Program:
    return Program(model, blobs(), **options)


def _decayed() -> Program:
    model = Perceptron()
    return Program(model, blobs(), _sgd(model, 0.05, weight_decay=5))


def _frozen_rate(rate: float) -> Program:
    model = Transformer()
    return Program(model, sentences(), adam(model, rate))


STUCK = {"loss-stuck-from-start", "updates-too-small", "learning-rate-zero", "loss-too-slow", "weights-frozen"}
SICK: dict[str, tuple[Callable[[], Program], set[str]]] = {
    "detached": (lambda: _sick_perceptron(Detached()), {"dead-layer", "silent-layer", "gradients-mostly-zero"}),
    "gradients never cleared": (lambda: _perceptron(clear=False), {"gradients-accumulating"}),
    "gradients never cleared, transformer": (
        lambda: Program(Transformer(), sentences(), clear=False),
        {"gradients-accumulating"},
    ),
    "a block that is not used": (
        lambda: Program(Transformer(blocks_used=1), sentences()),
        {"dead-layer", "silent-layer", "gradients-mostly-zero"},
    ),
    "head without optimizer": (
        lambda: (lambda model: Program(model, images(), _without_head(model)))(Convolutional()),
        {"parameters-not-optimized"},
    ),
    "evaluation mode": (lambda: Program(Convolutional(), images(), training_mode=False), {"eval-mode-in-training"}),
    "training mode in validation": (
        lambda: Program(Convolutional(), images(), validation_mode=True),
        {"train-mode-in-validation"},
    ),
    "graph in validation": (lambda: _perceptron(validation_graph=True), {"validation-builds-graph"}),
    "one class per batch": (lambda: _perceptron(spoil=_of_one_class), {"labels-invalid", "class-imbalance"}),
    "softmax twice": (
        lambda: _perceptron(loss=lambda out, y: F.cross_entropy(out.softmax(-1), y)),
        {"outputs-squashed-twice"},
    ),
    "dead units": (
        lambda: _sick_perceptron(_changed(Perceptron(), lambda model: model.layers[1].bias.fill_(-8))),
        {"dead-neurons"},
    ),
    "huge weights": (
        lambda: _sick_perceptron(_changed(Perceptron(), lambda model: model.layers[0].weight.normal_(0, 5))),
        {"poor-initialization", "initial-loss-wrong", "exploding-activations"},
    ),
    "weight decay of 5": (_decayed, {"weight-norm-collapsing"}),
    "constant input": (
        lambda: _perceptron(spoil=lambda step, x, y: (torch.ones_like(x), y)),
        {"batch-repeated", "loss-stuck-from-start", "batch-unnormalized"},
    ),
    "four batches only": (
        lambda: _perceptron(spoil=lambda step, x, y: tuple(each[step % 4 :: 50][:32] for each in blobs())),
        {"batch-repeated"},
    ),
    "no rate": (lambda: _frozen_rate(0.0), STUCK),
    "a rate of 1e-8": (lambda: _frozen_rate(1e-8), STUCK),
    "raw pixels": (
        lambda: Program(Convolutional(), images(), spoil=lambda step, x, y: (60 * x + 128, y)),
        {"batch-extreme", "batch-unnormalized"},
    ),
    "NaN in some batches": (
        lambda: _perceptron(spoil=lambda step, x, y: (x * (math.nan if step % 23 == 7 else 1), y)),
        {"batch-nonfinite", "loss-nonfinite-later"},
    ),
    "twelve sigmoids": (
        lambda: _sick_perceptron(Perceptron(depth=12, activation=nn.Sigmoid)),
        {"vanishing-by-depth", "vanishing-gradients", "loss-stuck-from-start", "collapsed-representation"},
    ),
    "ascent": (lambda: _perceptron(loss=lambda out, y: -F.cross_entropy(out, y)), {"loss-negative-unbounded"}),
    "shifted validation labels": (
        lambda: _perceptron(spoil_validation=lambda x, y: (x, (y + 1) % 4)),
        {"validation-below-chance", "overfitting"},
    ),
    "validation prepared otherwise": (
        lambda: _perceptron(spoil_validation=lambda x, y: (40 * x + 90, y)),
        {"validation-below-chance", "overfitting", "overconfidence"},
    ),
}


@pytest.mark.parametrize("name", SICK)
def test_a_fault_is_found_within_400_steps(name: str) -> None:
    make, expected = SICK[name]
    torch.manual_seed(5)
    report = make().run()
    told = {each.id for each in report.findings if each.severity != "note"}
    assert told & expected, f"{report.headline} {told}"


def _adapted() -> Any:
    model = Perceptron()
    for i in range(2):
        model.layers[i] = Adapted(model.layers[i])
    return model


def _thawed(later: bool) -> Program:
    """Layers that are frozen at first; in a group that the optimizer is given later, or in its own from the start."""
    model = Perceptron()
    model.layers.requires_grad_(False)
    optimizer = torch.optim.Adam(model.head.parameters() if later else model.parameters(), 2e-3)

    def before(step: int) -> None:
        if step == 100:
            model.layers.requires_grad_(True)
            if later:
                optimizer.add_param_group({"params": list(model.layers.parameters())})

    return Program(model, blobs(), optimizer, before=before)


def _ignoring() -> Program:
    x, y = sentences()
    y = y.clone()
    y[:, :4] = -100
    return Program(Transformer(), (x, y), loss=lambda out, t: cross_entropy(out, t), options={"classes": 16})


SOUND: dict[str, Callable[[], Program]] = {
    "perceptron": _perceptron,
    "regression": lambda: Program(Perceptron(6, 1), waves(), loss=F.mse_loss),
    "full batch": lambda: Program(Perceptron(6, 1, activation=nn.Tanh), waves(600), loss=F.mse_loss, batch=480),
    "convolutional": lambda: Program(Convolutional(), images()),
    "transformer with a mask as buffer": lambda: Program(Transformer(), sentences()),
    "ignored labels": _ignoring,
    "adapters": lambda: (lambda model: Program(model, blobs(), adam(model, 5e-3)))(_adapted()),
    "thawed": lambda: _thawed(later=False),
    "thawed, group added later": lambda: _thawed(later=True),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_program_ends_without_a_warning(name: str) -> None:
    torch.manual_seed(5)
    report = SOUND[name]().run()
    # How long steps take depends on what else the machine does.
    told = [each for each in report.findings if each.severity != "note" and not each.id.startswith("step-time")]
    assert [each.summary for each in told] == []
