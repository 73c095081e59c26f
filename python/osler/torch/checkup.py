"""A checkup before training: how the model starts, whether a signal passes it, and every point of a list."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional, Union

import torch

from osler import _core
from osler.errors import InvalidError
from osler.experiment import Check, Experiment, Value
from osler.torch.layers import saturated_layers, silent_layers, spread_of, watched
from osler.torch.overfit import gradient_reach, invalid_labels, overfit_one_batch, parameter_use
from osler.torch.rates import class_labels, some_of
from osler.torch.training import (
    Clock,
    Ended,
    Preserved,
    Progress,
    RandomState,
    Training,
    recorded,
    run_probe,
    switch_to_training,
    training_of,
)

Model = Union[Training, torch.nn.Module]

_FAR = 1000.0  # times: a layer's signal against that of the layer it is measured by
_COLLAPSED = 1e-9  # spread of samples around their mean: they are all the same
# Seeds: mean near 0, deviation near 1.
_FAR_MEAN, _LARGEST_STD, _SMALLEST_STD, _FEATURES = 3.0, 10.0, 0.05, 1000.0


def _start_of(name: str, parameter: torch.Tensor, owner: torch.nn.Module) -> dict[str, Any]:
    weight = parameter.detach().cpu().double()
    vector = weight.dim() < 2
    rows = math.nan
    if not vector and weight.shape[0] > 1:
        flat = weight.reshape(weight.shape[0], -1)
        size = float(flat.square().sum())
        rows = float((flat - flat.mean(0, keepdim=True)).square().sum()) / size if size > 0 else 0.0
    first, second = (1, 1) if vector else (weight.shape[0], weight.shape[1])
    kernel = weight.numel() / (first * second)
    transposed = "ConvTranspose" in type(owner).__name__  # keeps its inputs along the first dimension
    return {
        "name": name,
        "size": float(weight.square().mean().sqrt()),
        "largest": float(weight.abs().max()),
        "rows": rows,
        "units": int(first),
        "inputs": float(first if transposed else second) * kernel,
        "outputs": float(second if transposed else first) * kernel,
        "recurrent": "_ih" in name or "_hh" in name,
        "embedding": isinstance(owner, (torch.nn.Embedding, torch.nn.EmbeddingBag)),
        "vector": vector,
    }


def check_initialisation(model: Model, *, record: Any = None) -> Experiment:
    """Holds every weight against He's and Xavier's rule for its number of inputs, and looks for large biases and rows that
    are all equal. A layer of zeros is reported as undecided: right at the end of a residual branch, wrong elsewhere.
    """
    network = model.model if isinstance(model, Training) else model
    if not isinstance(network, torch.nn.Module):
        words = f"check_initialisation: {type(model).__name__} is neither a model nor a Training"
        raise InvalidError(words, "invalid-argument")
    starts = []
    for prefix, module in network.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.is_floating_point() and parameter.numel() > 0:
                starts.append(_start_of(f"{prefix}.{name}" if prefix else name, parameter, module))
    if not starts:
        raise InvalidError("check_initialisation: the model has no parameters", "invalid-argument")
    return recorded(Experiment.from_json(_core.judge_starts(starts)), record)


def _random_like(like: torch.Tensor) -> torch.Tensor:
    if like.is_floating_point():
        return torch.randn_like(like)
    if like.numel() == 0 or like.dtype == torch.bool:
        return like
    return torch.randint(int(like.min()), int(like.max()) + 1, like.shape, dtype=like.dtype, device=like.device)


def _layer_words(forward: float, backward: float, spread: Optional[float], first: float, last: float) -> list[str]:
    wrong = []
    if not math.isfinite(forward):
        wrong.append("values are not finite")
    if forward == 0:
        wrong.append("all values are the same")
    if spread is not None and spread < _COLLAPSED:
        wrong.append("every sample gives the same")
    for what, ratio in (("signal", forward / first if first else 0.0), ("gradient", backward / last if last else 0.0)):
        if 0 < ratio < 1 / _FAR:
            wrong.append(f"the {what} has shrunk to {ratio:.2g} of what it was")
        if ratio > _FAR:
            wrong.append(f"the {what} has grown {ratio:.2g} times")
    if backward == 0:
        wrong.append("no gradient comes back")
    return wrong


def signal_propagation(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    loader: Optional[Iterable[Any]] = None,
    *,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """Sends random inputs forward and a random signal backward and measures both at every layer."""
    training = training_of(model, optimizer, loss, loader, about)

    def body(_: Preserved, clock: Clock) -> Experiment:
        switch_to_training(training.model)
        inputs, _targets = training.pair(training.next_batch())
        with watched(training.model, gradients=True) as seen:
            outputs = training.forward(_random_like(inputs))
            clock.check()
            if isinstance(outputs, torch.Tensor) and outputs.requires_grad:
                outputs.backward(torch.randn_like(outputs))
        layers = [each for each in seen if "Softmax" not in each.kind and "Dropout" not in each.kind]
        if not layers:
            return Experiment("signal-propagation", "undecided", "No layer of the model was seen at work.")
        forward = [float(each.output.double().std(unbiased=False)) for each in layers]
        backward = [each.gradients[0] if each.gradients else math.nan for each in layers]
        first = next((each for each in forward if each > 0), 0.0)
        last = next((each for each in reversed(backward) if each > 0), 0.0)
        checks = []
        for layer, size, gradient in zip(layers, forward, backward):
            wrong = _layer_words(size, gradient, spread_of(layer.output), first, last)
            text = f"Activations have a standard deviation of {size:.3g}"
            text += f", gradients a size of {gradient:.3g}" if math.isfinite(gradient) else ""
            checks.append(Check(layer.name, "failed" if wrong else "passed", ": ".join([text, *wrong]) + "."))
        return _propagation_verdict(checks, forward, backward, first, last)

    return run_probe("signal-propagation", training, body, seconds=seconds, progress=progress, record=record)


def _propagation_verdict(
    checks: list[Check], forward: list[float], backward: list[float], first: float, last: float
) -> Experiment:
    steps = max(len(checks) - 1, 1)
    to = next((each for each in reversed(forward) if each > 0), first)
    back = next((each for each in backward if each > 0), last)
    ahead = (to / first) ** (1 / steps) if first else math.nan
    behind = (back / last) ** (1 / steps) if last else math.nan
    bad = [each.id for each in checks if each.outcome == "failed"]
    factors = f"{ahead:.2g} times per layer forward and {behind:.2g} times backward"
    verdict = (
        f"A random signal does not pass well: it changes {factors}; {len(bad)} of {len(checks)} layers are off "
        f"({some_of(bad)})."
        if bad
        else f"A random signal passes all {len(checks)} layers: it changes {factors}."
    )
    return Experiment(
        "signal-propagation",
        "failed" if bad else "passed",
        verdict,
        {"layers": Value(float(len(checks))), "forward-factor": Value(ahead), "backward-factor": Value(behind)},
        {"depth": [float(each) for each in range(len(checks))], "activation-std": forward, "gradient-std": backward},
        checks,
    )


class _Examined(NamedTuple):
    """A training under examination. Before every point it is as it was, but in training mode."""

    training: Training
    preserved: Preserved
    clock: Clock
    was_training: bool
    batches: list[Any]
    validation: list[Any]
    overfit_steps: int

    def pairs(self, validation: bool = False) -> list[tuple[Any, Any]]:
        return [self.training.pair(each) for each in (self.validation if validation else self.batches)]


_Result = tuple[str, str]


def _good(text: str) -> _Result:
    return "passed", text


def _bad(text: str) -> _Result:
    return "failed", text


def _open(text: str) -> _Result:
    return "undecided", text


def _output_shape(examined: _Examined) -> _Result:
    inputs, targets = examined.pairs()[0]
    outputs = examined.training.forward(inputs)
    shape, classes = list(outputs.shape), examined.training.classes
    if classes is not None:
        if outputs.dim() > 1 and classes in (shape[1], shape[-1]):
            return _good(f"Outputs are {shape}, for {classes} classes.")
        return _bad(f"Outputs are {shape}; no dimension holds the {classes} classes.")
    if outputs.shape == targets.shape:
        return _good(f"Outputs are {shape}, as the targets.")
    if not targets.is_floating_point():
        return _good(f"Outputs are {shape}, for whole numbers as targets.")
    return _bad(f"Outputs are {shape} and targets {list(targets.shape)}: a loss that takes both spreads one over the other.")


def _first_loss(examined: _Examined) -> _Result:
    classes = examined.training.classes
    if classes is None:
        return _open("Not a classifier, or classes= is not given.")
    mean = sum(examined.training.value_of(batch) for batch in examined.batches) / len(examined.batches)
    chance = math.log(classes)
    text = f"The first loss is {mean:.4g}; guessing among {classes} classes gives {chance:.4g}."
    return _good(text) if abs(mean - chance) <= max(0.3 * chance, 0.5) else _bad(text)


def _loss_falls(examined: _Examined) -> _Result:
    training, batch = examined.training, examined.batches[0]
    random = RandomState()  # the same numbers before and after, so that dropout is the same
    before = training.value_of(batch)
    random.restore()
    training.step(training.own_optimizer("checkup"), [batch])
    random.restore()
    after = training.value_of(batch)
    text = f"One step takes the loss of its own batch from {before:.6g} to {after:.6g}."
    return _good(text) if after < before else _bad(text)


def _from(found: Experiment) -> _Result:
    return ("undecided" if found.outcome == "stopped" else found.outcome), found.verdict


def _overfit(examined: _Examined) -> _Result:
    found = overfit_one_batch(
        examined.training, steps=examined.overfit_steps, seconds=examined.clock.left(), progress=False
    )
    examined.clock.check()
    return _from(found)


def _train_mode(examined: _Examined) -> _Result:
    model = examined.training.model
    if not examined.was_training:
        return _bad("The model is in evaluation mode: call train() before training.")
    examined.training.value_of(examined.batches[0])
    if not model.training:
        return _bad("The forward pass switches the model to evaluation mode.")
    still = [name for name, module in model.named_modules() if not module.training]
    return _bad(f"In evaluation mode are {some_of(still)}.") if still else _good("Every module is in training mode.")


def _zero_input(examined: _Examined) -> _Result:
    training, batch = examined.training, examined.batches[0]
    inputs, targets = training.pair(batch)
    first = training.value_of(batch)
    optimizer = training.own_optimizer("checkup")
    for _ in range(examined.overfit_steps):
        examined.clock.check()
        last = training.step(optimizer, [batch])
        if not math.isfinite(last) or last < 0.02 * abs(first):
            break
    real, blind = training.value_of(batch), training.value_of((torch.zeros_like(inputs), targets))
    text = f"After training on one batch its loss is {real:.4g}, and {blind:.4g} with all inputs zero."
    if math.isfinite(real) and blind - real > 0.02 * abs(first):
        return _good(text)
    return _bad(text + (" The model does not look at its inputs." if math.isfinite(real) else ""))


def _every_parameter_learns(examined: _Examined) -> _Result:
    trained, frozen, missing = parameter_use(examined.training)
    if missing:
        return _bad(f"Not in the optimizer are {some_of(missing)}.")
    reach = gradient_reach(examined.training, examined.batches[0])
    if reach.nonfinite:
        return _bad(f"The gradient of {some_of(reach.nonfinite)} is not finite.")
    if reach.none:
        return _bad(f"No gradient reaches {some_of(reach.none)}.")
    if reach.zero:
        return _bad(f"The gradient of {some_of(reach.zero)} is zero everywhere.")
    if not trained:
        return _bad("Every parameter is frozen.")
    if not frozen:
        return _good(f"All {len(trained)} parameters receive a gradient.")
    return _good(f"All {len(trained)} parameters that are not frozen receive a gradient; frozen are {some_of(frozen)}.")


def _samples_independent(examined: _Examined) -> _Result:
    inputs, _ = examined.pairs()[0]
    samples = int(inputs.shape[0]) if inputs.dim() else 0
    if samples < 2:
        return _open("A batch holds a single sample.")
    if not inputs.is_floating_point():
        return _open("Inputs are whole numbers, which have no gradient.")
    examined.training.model.eval()  # batch statistics mix samples on purpose
    chosen = samples // 2
    leaf = inputs.detach().clone().requires_grad_(True)
    outputs = examined.training.forward(leaf)
    if outputs.numel() % samples:
        return _open("The outputs cannot be told apart by sample.")
    if not outputs.requires_grad:
        return _bad("The outputs do not depend on the inputs in a way that can be differentiated.")
    (gradient,) = torch.autograd.grad(outputs.reshape(samples, -1)[chosen].sum(), leaf, allow_unused=True)
    if gradient is None:
        return _bad("The outputs do not depend on the inputs.")
    touched = gradient.abs().reshape(samples, -1).amax(1)
    touched[chosen] = 0
    if not bool((touched > 0).any()):
        return _good("The output of a sample depends on no other sample.")
    return _bad(
        "The output of a sample depends on other samples of its batch: a dimension is mixed up (view instead of "
        "transpose, a mean over the batch)."
    )


def _units_alive(examined: _Examined) -> _Result:
    silent = silent_layers(examined.training, examined.batches[0])
    dead = [name for name, dead, units in silent if 2 * dead > units]
    if dead:
        return _bad(f"More than half of the units are dead in {some_of(dead)}.")
    flat = saturated_layers(examined.training, examined.batches[0])
    full = [name for name, share in flat if share > 0.5]
    if full:
        return _bad(f"More than half of the outputs are saturated in {some_of(full)}.")
    if not silent and not flat:
        return _good("No activation of the model can die or saturate.")
    return _good(f"In all {len(silent) + len(flat)} activations most units work.")


def _initialisation(examined: _Examined) -> _Result:
    return _from(check_initialisation(examined.training.model))


def _propagation(examined: _Examined) -> _Result:
    return _from(signal_propagation(examined.training, seconds=examined.clock.left(), progress=False))


def _inputs_finite(examined: _Examined) -> _Result:
    looked = 0
    for validation in (False, True):
        for inputs, _ in examined.pairs(validation):
            bad = int((~torch.isfinite(inputs)).sum()) if inputs.is_floating_point() else 0
            if bad:
                kind = "validation" if validation else "training"
                return _bad(f"{bad} of {inputs.numel()} values of a {kind} batch are NaN or infinite.")
            looked += 1
    return _good(f"The inputs of {looked} batches are finite.")


def _normalisation(examined: _Examined) -> _Result:
    pairs = examined.pairs()
    if not pairs[0][0].is_floating_point():
        return _good("Inputs are whole numbers: nothing to normalise.")
    inputs = torch.cat([each[0].detach().cpu().double() for each in pairs])
    mean, std = float(inputs.mean()), float(inputs.std(unbiased=False))
    text = f"Inputs have mean {mean:.3g} and standard deviation {std:.3g}"
    if abs(mean) > _FAR_MEAN or std > _LARGEST_STD or std < _SMALLEST_STD:
        return _bad(text + ": they are not normalised.")
    if inputs.dim() == 2 and inputs.shape[1] > 1:
        features = inputs.std(0, unbiased=False)
        alive = features[features > 0]
        if alive.numel() and float(alive.max()) > _FEATURES * float(alive.min()):
            return _bad(f"{text}; single features range from {float(alive.min()):.2g} to {float(alive.max()):.2g}.")
    if not examined.validation:
        return _good(text + ".")
    other = torch.cat([each[0].detach().cpu().double() for each in examined.pairs(True)])
    far, wide = float(other.mean()), float(other.std(unbiased=False))
    if abs(far - mean) < 0.5 * std and 0.5 * std < wide < 2 * std:
        return _good(text + "; validation inputs are alike.")
    return _bad(f"{text}, but {far:.3g} and {wide:.3g} for validation: it is prepared differently.")


def _labels(examined: _Examined) -> _Result:
    constant, pairs = 0, examined.pairs() + examined.pairs(True)
    for _, targets in pairs:
        wrong, count, same = invalid_labels(targets, examined.training.classes)
        if wrong:
            return _bad(f"{wrong} of {count} labels of a batch are NaN, fractional, negative or beyond the classes.")
        constant += same
    if 2 * constant > len(pairs):
        return _bad(f"In {constant} of {len(pairs)} batches all labels are the same.")
    return _good(f"The labels of {len(pairs)} batches are valid.")


def _batches_shuffled(examined: _Examined) -> _Result:
    skew = _core.ClassSkew(examined.training.classes)
    seen: list[torch.Tensor] = []
    for batch in examined.batches:
        inputs = examined.training.pair(batch)[0]
        if inputs.dim() and inputs.shape[0] > 1 and bool((inputs == inputs[:1]).all()):
            return _bad("All samples of a batch are the same.")
        if any(torch.equal(inputs, each) for each in seen):
            return _bad("The same batch comes again and again.")
        seen.append(inputs)
        labels = class_labels(batch)
        if labels:
            skew.add(labels)
    problem = skew.problem()
    if problem is not None:
        return _bad(problem)
    return _good(f"{len(examined.batches)} batches differ, and their classes as chance would have it.")


def _disjoint_splits(examined: _Examined) -> _Result:
    if not examined.validation:
        return _open("validation= is not given.")

    def samples(validation: bool) -> list[bytes]:
        return [repr(row.tolist()).encode() for inputs, _ in examined.pairs(validation) for row in inputs.detach().cpu()]

    known, held_out = set(samples(False)), samples(True)
    shared = sum(each in known for each in held_out)
    if shared:
        return _bad(f"{100 * shared / len(held_out):.3g} % of the validation samples are among the training samples.")
    return _good(f"None of {len(held_out)} validation samples is among {len(known)} training samples.")


_POINTS: tuple[tuple[str, Callable[[_Examined], _Result]], ...] = (
    ("output-shape", _output_shape),
    ("first-loss", _first_loss),
    ("loss-falls", _loss_falls),
    ("overfit-one-batch", _overfit),
    ("train-mode", _train_mode),
    ("zero-input", _zero_input),
    ("every-parameter-learns", _every_parameter_learns),
    ("samples-independent", _samples_independent),
    ("units-alive", _units_alive),
    ("initialisation", _initialisation),
    ("signal-propagation", _propagation),
    ("inputs-finite", _inputs_finite),
    ("normalisation", _normalisation),
    ("labels", _labels),
    ("batches-shuffled", _batches_shuffled),
    ("disjoint-splits", _disjoint_splits),
)


def checkup(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    loader: Optional[Iterable[Any]] = None,
    *,
    batches: int = 8,
    overfit_steps: int = 500,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """Everything that can be checked before training, one line each: shapes, the first loss, that a batch can be
    memorised, modes, dead units, initialisation, normalisation, labels, the order of the batches, shared samples. Needs
    pairs of inputs and targets, and `loss(outputs, targets)`.
    """
    if batches < 1:
        raise InvalidError("checkup: batches must be at least 1", "invalid-argument")
    training = training_of(model, optimizer, loss, loader, about)
    if not training.takes_apart:
        raise InvalidError("checkup looks at outputs and targets: give loss(outputs, targets) and a loader", "invalid-argument")
    training.own_optimizer("checkup")
    was_training = training.model.training

    def body(preserved: Preserved, clock: Clock) -> Experiment:
        drawn = [training.next_batch() for _ in range(batches)]
        held_out = training.validation_batches(batches)
        examined = _Examined(training, preserved, clock, was_training, drawn, held_out, overfit_steps)
        clock.expected = overfit_steps
        checks = []
        for name, look in _POINTS:
            clock.check()
            preserved.restore()
            switch_to_training(training.model)
            try:
                outcome, text = look(examined)
            except (Ended, InvalidError):
                raise
            except Exception as error:
                words = (str(error).splitlines() or [type(error).__name__])[0]
                outcome, text = _bad(f"The training threw an exception: {words}")
            checks.append(Check(name, outcome, text))
        told = Experiment("checkup", "undecided", "", checks=checks)
        return Experiment.from_json(_core.conclude_checkup(told.to_json()))

    return run_probe("checkup", training, body, seconds=seconds, progress=progress, record=record)
