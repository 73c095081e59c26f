"""Which learning rate: the range test, and short trainings from fresh weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Callable, Optional, Union

import torch

from osler import _core
from osler.errors import InvalidError
from osler.experiment import Experiment
from osler.torch.training import Clock, Preserved, Progress, RandomState, Training, run_probe, switch_to_training, training_of

_START_BATCHES = 8

Model = Union[Training, torch.nn.Module]


def class_labels(batch: Any) -> list[int]:
    """The labels of a batch when they are class numbers, one per sample; empty when they are not."""
    if not isinstance(batch, (list, tuple)) or len(batch) < 2 or not isinstance(batch[1], torch.Tensor):
        return []
    labels = batch[1]
    if labels.dim() != 1 or labels.is_floating_point():
        return []
    return [int(each) for each in labels.tolist()]


class _GroupRates:
    """The rates of an optimizer's groups, raised together."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._groups = optimizer.param_groups
        rates = [float(group["lr"]) for group in self._groups]
        self.present = max(rates)
        # Rates that are all zero, as before a warm-up, say nothing about their ratios.
        self._ratios = [rate / self.present if self.present > 0 else 1.0 for rate in rates]

    def set(self, rate: float) -> None:
        for group, ratio in zip(self._groups, self._ratios):
            group["lr"] = rate * ratio


def lr_range_test(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    loader: Optional[Iterable[Any]] = None,
    *,
    start: float = 1e-7,
    end: float = 10.0,
    steps: int = 100,
    linear: bool = False,
    repeats: int = 3,
    accumulate: int = 1,
    smoothing: float = 0.25,
    divergence: float = 4.0,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """Raises the learning rate step by step and suggests one from where the loss falls (Smith 2017), three times from the
    same start over different batches. `experiment["suggestion"]` is the rate; the outcome is `failed` when the present
    one is more than ten times off, and `undecided`, with the reason, when the curve does not carry an answer.
    """
    for right, words in (
        (start > 0, "start must be above 0"),
        (math.isfinite(end) and end > start, "end must be above start"),
        (steps >= 20, "steps must be at least 20: fewer cannot be read"),
        (repeats >= 1 and accumulate >= 1, "repeats and accumulate must be at least 1"),
        (0 < smoothing <= 1, "smoothing must be above 0 and at most 1"),
        (divergence > 1, "divergence must be above 1"),
    ):
        if not right:
            raise InvalidError(f"lr_range_test: {words}", "invalid-argument")
    training = training_of(model, optimizer, loss, loader, about)
    stepping = training.own_optimizer("lr_range_test")

    def body(preserved: Preserved, clock: Clock) -> Experiment:
        rates = _core.range_rates(start, end, steps, linear)
        groups = _GroupRates(stepping)
        skew = _core.ClassSkew(training.classes)
        clock.expected = steps * repeats
        passes = []
        for number in range(repeats):
            if number > 0:
                # The same start, but the random numbers go on: otherwise batches drawn by them would come again.
                random = RandomState()
                preserved.restore()
                random.restore()
            switch_to_training(training.model)
            watch = _core.Divergence(smoothing, divergence)
            losses: list[float] = []
            for rate in rates:
                clock.check()
                batches = [training.next_batch() for _ in range(accumulate)]
                for batch in batches:
                    labels = class_labels(batch)
                    if labels:
                        skew.add(labels)
                groups.set(rate)
                value = training.step(stepping, batches)
                if watch.add(value):
                    break
                losses.append(value)
            passes.append(losses)
        told = _core.judge_range(rates, passes, groups.present, smoothing, divergence, skew.problem())
        return Experiment.from_json(told)

    return run_probe("lr-range-test", training, body, seconds=seconds, progress=progress, record=record)


def redraw(model: torch.nn.Module) -> list[str]:
    """Lets every layer draw its weights anew, frozen ones left alone; gives back the parameters that nobody can draw."""
    drawn: set[int] = set()
    frozen = [(each, each.detach().clone()) for each in model.parameters() if not each.requires_grad]
    with torch.no_grad():
        for module in model.modules():
            reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
            if callable(reset):
                reset()
                drawn.update(id(each) for each in module.parameters())
        for parameter, value in frozen:
            parameter.copy_(value)
    return [name for name, each in model.named_parameters() if each.requires_grad and id(each) not in drawn]


def _drop_regularisation(training: Training, optimizer: torch.optim.Optimizer) -> bool:
    """Takes weight decay and dropout away; False where there was neither."""
    found = False
    for group in optimizer.param_groups:
        if group.get("weight_decay", 0) > 0:
            group["weight_decay"] = 0.0
            found = True
    for module in training.model.modules():
        if "Dropout" in type(module).__name__ and module.training:
            module.eval()
            found = True
    return found


def some_of(names: list[str]) -> str:
    """`a, b, c and 5 more`."""
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:4])} and {len(names) - 4} more"


def fresh_start(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    loader: Optional[Iterable[Any]] = None,
    *,
    steps: int = 150,
    largest: float = 1e4,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """Trains several times from fresh weights for a few steps: at a tenth of the rate, at the rate itself, at higher
    multiples, and without weight decay and dropout. Fails when something else gets clearly further.
    """
    if steps < 10 or not largest >= 10:
        raise InvalidError("fresh_start: steps and largest must be at least 10", "invalid-argument")
    training = training_of(model, optimizer, loss, loader, about)
    stepping = training.own_optimizer("fresh_start")

    def body(preserved: Preserved, clock: Clock) -> Experiment:
        def level() -> list[float]:
            found = []
            for _ in range(_START_BATCHES):
                clock.check()
                found.append(training.value_of(training.next_batch()))
            return found

        clock.expected = 4 * steps + 2 * _START_BATCHES
        switch_to_training(training.model)
        now = level()
        left: list[str] = []
        if training.restart is not None:
            training.restart()
        else:
            left = redraw(training.model)
        if left:
            words = f"How {some_of(left)} began is not known: give restart=, and the test can be run."
            return Experiment("fresh-start", "undecided", words)
        weights = [each.detach().clone() for each in training.model.parameters()]
        rates = [float(group["lr"]) for group in stepping.param_groups]
        first = level()
        if not all(math.isfinite(each) for each in first):
            words = "Fresh weights have no finite loss: there is nothing to begin with."
            return Experiment("fresh-start", "undecided", words)
        trial = _core.FreshStart(now, first, rates[0], steps, largest, training.classes is not None)
        while True:
            arm = trial.next()
            if arm is None:
                return Experiment.from_json(trial.told())
            factor, regularised = arm
            preserved.restore()
            with torch.no_grad():
                for parameter, value in zip(training.model.parameters(), weights):
                    parameter.copy_(value)
            stepping.state.clear()
            switch_to_training(training.model)
            for group, rate in zip(stepping.param_groups, rates):
                group["lr"] = rate * factor
            if not regularised and not _drop_regularisation(training, stepping):
                trial.nothing_to_drop()
                continue
            losses: list[float] = []
            while len(losses) < steps and (not losses or math.isfinite(losses[-1])):
                clock.check()
                losses.append(training.step(stepping, [training.next_batch()]))
            trial.trained(losses)

    return run_probe("fresh-start", training, body, seconds=seconds, progress=progress, record=record)
