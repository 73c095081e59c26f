"""Overfit one batch: a sound model can memorise a few samples; one that cannot is broken, and this says where."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Callable, NamedTuple, Optional, Union

import torch

from osler import _core
from osler.errors import InvalidError
from osler.experiment import Check, Experiment
from osler.torch.layers import silent_layers
from osler.torch.rates import some_of
from osler.torch.training import Clock, Preserved, Progress, Training, run_probe, switch_to_training, training_of

_BATCHES_TRIED = 4
_FREE_STEPS = 150  # of the free outputs, by either method
_PLAIN_RATE = 1e-3  # Adam's default
_RATE_FACTORS = (10.0, 100.0, 1000.0)
_USUAL_RATES = (1e-3, 1e-2, 1e-1)  # of Adam, and of gradient descent
_FAINT = 1e-6  # of the largest gradient
_LEFT_OUT = -100  # the label that PyTorch's losses pass over


class Attempt(NamedTuple):
    """What an attempt changes; the training as it is by default."""

    rate_factor: float = 1.0
    mode: str = "as-is"
    plain_optimizer: bool = False


class Tried(NamedTuple):
    """The losses of an attempt, up to where it ended."""

    losses: list[float]
    memorised: bool


class GradientReach(NamedTuple):
    """The names of parameters by what a backward pass brought them."""

    well: list[str]
    none: list[str]
    zero: list[str]
    faint: list[str]
    nonfinite: list[str]


def gradient_reach(training: Training, batch: Any) -> GradientReach:
    """One forward and backward pass, which leaves its gradients behind."""
    for parameter in training.model.parameters():
        parameter.grad = None
    training.loss_of(batch).backward()
    reach = GradientReach([], [], [], [], [])
    sizes = []
    for name, parameter in training.model.named_parameters():
        if not parameter.requires_grad:
            continue
        if parameter.grad is None:
            reach.none.append(name)
            continue
        size = float(parameter.grad.detach().double().square().mean().sqrt())
        if not math.isfinite(size):
            reach.nonfinite.append(name)
        elif size == 0:
            reach.zero.append(name)
        else:
            sizes.append((name, size))
    largest = max((size for _, size in sizes), default=0.0)
    for name, size in sizes:
        (reach.faint if size < _FAINT * largest else reach.well).append(name)
    return reach


def parameter_use(training: Training) -> tuple[list[str], list[str], list[str]]:
    """The names of trained parameters, of frozen ones, and of those that are not in the optimizer."""
    groups = training.optimizer.param_groups if training.optimizer is not None else []
    held = {id(each) for group in groups for each in group["params"]}
    trained: list[str] = []
    frozen: list[str] = []
    missing: list[str] = []
    for name, parameter in training.model.named_parameters():
        (frozen if not parameter.requires_grad else trained if id(parameter) in held else missing).append(name)
    return trained, frozen, missing


def invalid_labels(targets: Any, classes: Optional[int]) -> tuple[int, int, bool]:
    """How many labels are not valid, of how many, and whether all are the same."""
    if not isinstance(targets, torch.Tensor) or targets.numel() == 0:
        return 0, 0, False
    flat = targets.detach().reshape(-1)
    if targets.is_floating_point():
        return int((~torch.isfinite(flat)).sum()), flat.numel(), flat.numel() > 1 and bool((flat == flat[0]).all())
    flat = flat[flat != _LEFT_OUT]
    if flat.numel() == 0:
        return 0, 0, False
    wrong = flat < 0
    if classes is not None:
        wrong = wrong | (flat >= classes)
    return int(wrong.sum()), flat.numel(), flat.numel() > 1 and bool((flat == flat[0]).all())


class _Case:
    """One training on one batch, and everything the search for a reason needs to try it again."""

    def __init__(self, training: Training, steps: int, patience: int, preserved: Preserved, clock: Clock) -> None:
        self.training = training
        self.optimizer = training.own_optimizer("overfit_one_batch")
        self.steps = steps
        self.patience = patience
        self.preserved = preserved
        self.clock = clock
        self.made: dict[Attempt, Tried] = {}
        self.goal = _core.MemoryGoal(0.0, 0.0, 0.0)
        self.first = math.nan
        self.floor = 0.0
        self.unbounded = False
        self.batch = training.next_batch()
        for _ in range(_BATCHES_TRIED - 1):
            if not self.takes_apart or not invalid_labels(self.targets, None)[2]:
                break
            self.batch = training.next_batch()

    @property
    def takes_apart(self) -> bool:
        return self.training.takes_apart

    @property
    def inputs(self) -> Any:
        return self.training.pair(self.batch)[0]

    @property
    def targets(self) -> Any:
        return self.training.pair(self.batch)[1]

    def afresh(self) -> None:
        self.preserved.restore()
        switch_to_training(self.training.model)

    def loss_of_outputs(self, outputs: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = self.training.loss(outputs, self.targets)  # type: ignore[misc]
        return loss

    def aim(self, target: Optional[float]) -> bool:
        """The first loss, the lowest that outputs could have, and the target; False when there is nothing to aim at."""
        self.afresh()
        blank = math.nan
        if not self.takes_apart:
            self.first = float(self.training.loss_of(self.batch).item())
            self.floor = min(0.0, self.first)
        else:
            outputs = self.training.forward(self.inputs)
            self.first = float(self.loss_of_outputs(outputs).item())
            if not math.isfinite(self.first) or not outputs.is_floating_point():
                return False
            lowest, self.unbounded = self._free_outputs(outputs)
            self.floor = min(lowest, self.first)
            blank = float(self._free_loss(outputs, torch.zeros_like(outputs)).item())
        self.goal = _core.MemoryGoal(self.first, self.floor, blank)
        if target is not None:
            self.goal.target = target
        return math.isfinite(self.first)

    def _free_loss(self, outputs: torch.Tensor, free: torch.Tensor) -> torch.Tensor:
        """The loss of free outputs; those of a model that gives logarithms of probabilities remain such."""
        logs = outputs.dim() >= 2 and outputs.shape[1] >= 2
        logs = logs and float(torch.logsumexp(outputs.detach(), 1).abs().max()) < 1e-3
        return self.loss_of_outputs(torch.log_softmax(free, 1) if logs else free)

    def _free_outputs(self, outputs: torch.Tensor) -> tuple[float, bool]:
        """How low free outputs bring the loss, without a model behind them; whether it falls without end."""
        lowest, unbounded = math.inf, False
        scale = max(1.0, float(outputs.detach().abs().max()))

        def newton(free: torch.Tensor) -> torch.optim.Optimizer:
            return torch.optim.LBFGS([free], lr=1, max_iter=1, line_search_fn="strong_wolfe")

        def adam(free: torch.Tensor) -> torch.optim.Optimizer:
            return torch.optim.Adam([free], lr=0.1 * scale)

        # Newton's way suits smooth losses of any scale, Adam those with corners.
        for make in (newton, adam):
            free = outputs.detach().clone().requires_grad_(True)
            optimizer = make(free)
            losses: list[float] = []

            def closure() -> torch.Tensor:
                optimizer.zero_grad()  # noqa: B023
                loss = self._free_loss(outputs, free)  # noqa: B023
                loss.backward()
                return loss

            for _ in range(_FREE_STEPS):
                self.clock.check()
                value = float(optimizer.step(closure))
                if not math.isfinite(value):
                    break
                losses.append(value)
                lowest = min(lowest, value)
            unbounded = unbounded or _core.falls_without_end(losses)
        return lowest, unbounded

    def attempt(self, attempt: Attempt = Attempt()) -> Tried:
        """Trains from the start; every attempt is made once."""
        if attempt in self.made:
            return self.made[attempt]
        self.afresh()
        model = self.training.model
        if attempt.mode != "as-is":
            model.train(attempt.mode == "training")
        optimizer = self.optimizer
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * attempt.rate_factor
        if attempt.plain_optimizer:
            everything = [each for each in model.parameters() if each.is_floating_point()]
            for parameter in everything:
                parameter.requires_grad_(True)
            optimizer = torch.optim.Adam(everything, lr=_PLAIN_RATE * attempt.rate_factor)
        losses: list[float] = []
        memorised, most = False, self.steps
        while not memorised:
            if len(losses) == most:
                more = attempt == Attempt() and most < self.patience * self.steps
                if not more or not self.goal.still_falls(losses, self.steps):
                    break
                most += self.steps
            self.clock.check()
            losses.append(self.training.step(optimizer, [self.batch]))
            if not math.isfinite(losses[-1]):
                break
            memorised = self.goal.reached(losses[-3:])
        self.made[attempt] = Tried(losses, memorised)
        return self.made[attempt]


# What can keep a batch from being memorised, and how each shows itself: the evidence, or None.


def _inputs(case: _Case) -> Optional[str]:
    inputs = case.inputs
    if not isinstance(inputs, torch.Tensor) or not inputs.is_floating_point():
        return None
    bad = int((~torch.isfinite(inputs)).sum())
    return f"{bad} of {inputs.numel()} input values are NaN or infinite." if bad else None


def _labels(case: _Case) -> Optional[str]:
    wrong, count, constant = invalid_labels(case.targets, case.training.classes)
    if wrong:
        return f"{wrong} of {count} labels are NaN, fractional, negative or beyond the classes."
    return "All labels of every batch drawn are the same: there is nothing to memorise." if constant else None


def _loss_without_gradient(case: _Case) -> Optional[str]:
    outputs = case.training.forward(case.inputs)
    if not outputs.is_floating_point():
        return "The outputs are whole numbers: nothing can flow back through them."
    free = outputs.detach().clone().requires_grad_(True)
    loss = case.loss_of_outputs(free)
    if not math.isfinite(float(loss.item())):
        return f"The first loss is {float(loss.item())}."
    if not loss.requires_grad:
        return "The loss does not depend on the outputs in a way that can be differentiated (argmax, rounding, detach)."
    (gradient,) = torch.autograd.grad(loss, free, allow_unused=True)
    if gradient is None or float(gradient.abs().max()) == 0:
        return f"The loss is {float(loss.item()):.4g} and its gradient with respect to the outputs is zero everywhere."
    return None


def _nothing_trained(case: _Case) -> Optional[str]:
    trained, frozen, missing = parameter_use(case.training)
    if trained:
        return None
    return f"No parameter is trained: {len(frozen)} want no gradient, {len(missing)} are not in the optimizer."


def _cut_off(case: _Case) -> Optional[str]:
    if case.training.loss_of(case.batch).requires_grad:
        return None
    return "The outputs are cut off from every parameter (detach, no-grad guard or a new tensor made from values)."


def _loss_floor(case: _Case) -> Optional[str]:
    if case.training.classes is not None and case.floor < -1e-6:
        return (
            "The loss of a classifier cannot be negative, and this one falls to "
            f"{case.floor:.4g}: its sign is wrong."
        )
    if case.unbounded:
        return "The loss has no lowest value: it falls faster and faster. Its sign is wrong."
    if case.first - case.floor > 0.01 * abs(case.first):
        return None
    return (
        f"Even free outputs bring the loss from {case.first:.4g} only to {case.floor:.4g}: it is not a loss of these "
        "targets."
    )


def _softmax_twice(case: _Case) -> Optional[str]:
    classes = case.training.classes
    if classes is None or not isinstance(case.targets, torch.Tensor) or case.targets.is_floating_point():
        return None
    end = math.log(math.e + classes - 1) - 1
    if abs(case.floor - end) > 0.02 * end:  # the search for the floor does not reach it exactly
        return None
    return (
        f"Even free outputs bring the loss only to {case.floor:.4g}, which is where a softmax that is applied twice ends."
    )


def _probabilities(case: _Case) -> Optional[str]:
    classes = case.training.classes
    if classes is None:
        return None
    outputs = case.training.forward(case.inputs).detach()
    if outputs.dim() < 2 or outputs.shape[1] != classes:
        return None
    if float((outputs.sum(1) - 1).abs().max()) >= 1e-3 or float(outputs.min()) < 0:
        return None
    reachable = math.log(math.e + classes - 1) - 1
    last = case.attempt().losses[-1]
    if last < 0.5 * reachable:
        return None
    return (
        "The outputs are probabilities already, and the loss applies softmax once more: it cannot fall below "
        f"{reachable:.3g} and stopped at {last:.3g}."
    )


def _dead_units(case: _Case) -> Optional[str]:
    dead = [layer for layer, silent, units in silent_layers(case.training, case.batch) if silent == units]
    return f"Every unit of {', '.join(dead)} is zero for every sample: no gradient passes." if dead else None


def _mode(case: _Case) -> Optional[str]:
    model = case.training.model
    still = [name or type(module).__name__ for name, module in model.named_modules() if not module.training]
    case.training.value_of(case.batch)
    switched = not model.training
    if not still and not switched:
        return None
    if not case.attempt(Attempt(mode="training")).memorised:
        return "The forward pass itself switches the model to evaluation mode." if switched else None
    return f"It is memorised when every module is in training mode; in evaluation mode are {some_of(still)}."


def _dropout(case: _Case) -> Optional[str]:
    tried = case.attempt(Attempt(mode="evaluation"))
    if not tried.memorised:
        return None
    return (
        f"It is memorised in evaluation mode within {len(tried.losses)} steps: dropout is too strong, or batch "
        "statistics of so few samples are too noisy."
    )


def _other_rate(case: _Case, higher: bool) -> Optional[str]:
    factors = list(_RATE_FACTORS)
    rate = float(case.optimizer.param_groups[0]["lr"])
    if higher and rate > 0:  # a rate far below the usual ones is led there
        factors += [usual / rate for usual in _USUAL_RATES if usual / rate > 2 * factors[-1]]
    for factor in factors:
        tried = case.attempt(Attempt(factor if higher else 1 / factor))
        if tried.memorised:
            words = f"{factor:.0f} times" if higher else f"1/{factor:.0f} of"
            return f"It is memorised in {len(tried.losses)} steps at {words} the learning rate."
    return None


def _rate_too_low(case: _Case) -> Optional[str]:
    return None if case.goal.went_wild(case.attempt().losses) else _other_rate(case, True)


def _rate_too_high(case: _Case) -> Optional[str]:
    return _other_rate(case, False)


def _plain_adam_memorises(case: _Case) -> bool:
    return any(case.attempt(Attempt(factor, plain_optimizer=True)).memorised for factor in (1.0, 10.0))


def _frozen(case: _Case) -> Optional[str]:
    _, frozen, missing = parameter_use(case.training)
    if not frozen + missing or not _plain_adam_memorises(case):
        return None
    return f"It is memorised when all parameters are trained; left out are {some_of(frozen + missing)}."


def _conflicting_labels(case: _Case) -> Optional[str]:
    inputs, targets = case.inputs, case.targets
    if not isinstance(inputs, torch.Tensor) or not isinstance(targets, torch.Tensor):
        return None
    if inputs.dim() == 0 or targets.dim() == 0 or inputs.shape[0] != targets.shape[0]:
        return None
    first: dict[bytes, bytes] = {}
    torn = set()
    for sample, answer in zip(inputs.detach().cpu(), targets.detach().cpu()):
        key, told = repr(sample.tolist()).encode(), repr(answer.tolist()).encode()
        if first.setdefault(key, told) != told:
            torn.add(key)
    if not torn:
        return None
    return f"{len(torn)} of {len(first)} different inputs come several times with different labels."


def _gradient(case: _Case) -> Optional[str]:
    reach = gradient_reach(case.training, case.batch)
    if reach.none:
        return f"No gradient reaches {some_of(reach.none)}: they are not part of the loss's graph."
    if reach.zero:
        return f"The gradient of {some_of(reach.zero)} is exactly zero."
    if reach.faint:
        return (
            f"The gradient of {some_of(reach.faint)} is a million times smaller than that of other layers, for its size."
        )
    return None


def _optimizer(case: _Case) -> Optional[str]:
    if not _plain_adam_memorises(case):
        return None
    return (
        "It is memorised by Adam at a usual rate: look at this optimizer's weight decay, momentum and other options."
    )


def _capacity(case: _Case) -> Optional[str]:
    return (
        "No change of mode, learning rate or optimizer helps: the model is too small for this batch, or its outputs "
        "cannot take the values that the loss wants."
    )


class _Suspect(NamedTuple):
    id: str
    look: Callable[[_Case], Optional[str]]
    apart: bool = False  # needs to see inputs, outputs and targets


_PLAIN = (
    _Suspect("inputs", _inputs, True),
    _Suspect("labels", _labels, True),
    _Suspect("loss", _loss_without_gradient, True),
    _Suspect("frozen", _nothing_trained),
    _Suspect("gradient", _cut_off),
)
# What can be seen comes before what must be tried, what an attempt has shown before what is only suspicious.
_SUSPECTS = (
    _Suspect("loss", _loss_floor, True),
    _Suspect("loss", _softmax_twice, True),
    _Suspect("loss", _probabilities, True),
    _Suspect("dead-units", _dead_units),
    _Suspect("mode", _mode),
    _Suspect("dropout", _dropout),
    _Suspect("learning-rate-too-low", _rate_too_low),
    _Suspect("learning-rate-too-high", _rate_too_high),
    _Suspect("frozen", _frozen),
    _Suspect("labels", _conflicting_labels, True),
    _Suspect("gradient", _gradient),
    _Suspect("optimizer", _optimizer),
    _Suspect("capacity", _capacity),
)


def _find_reason(suspects: tuple[_Suspect, ...], case: _Case, checks: list[Check]) -> Optional[str]:
    """Looks at suspects until one confesses; those before it are noted as cleared."""
    for suspect in suspects:
        if suspect.apart and not case.takes_apart:
            continue
        case.afresh()
        evidence = suspect.look(case)
        if evidence is not None:
            checks[:] = [each for each in checks if each.id != suspect.id]
            checks.append(Check(suspect.id, "failed", evidence))
            return evidence
        if not checks or checks[-1].id != suspect.id:
            checks.append(Check(suspect.id, "passed", "This is not the reason."))
    return None


def _searched(case: _Case, target: Optional[float]) -> Experiment:
    probe = "overfit-one-batch"
    checks: list[Check] = []
    reason = _find_reason(_PLAIN, case, checks)
    if reason is not None:
        return Experiment(probe, "failed", f"The batch cannot be memorised. {reason}", checks=checks)
    if not case.aim(target):
        words = f"The first loss is {case.first}: there is nothing to begin with."
        return Experiment(probe, "undecided", words, checks=checks)
    tried = case.attempt()
    told = Experiment.from_json(case.goal.written(tried.losses))
    sound = not (case.training.classes is not None and case.floor < -1e-6) and not case.unbounded
    sound = sound and not (case.takes_apart and _softmax_twice(case))
    if tried.memorised and sound:
        case.afresh()
        reach = gradient_reach(case.training, case.batch)
        without = reach.none + reach.zero
        text = f"No gradient reaches {some_of(without)}." if without else ""
        verdict = (
            f"The batch is memorised in {len(tried.losses)} steps: the loss fell from {case.first:.4g} to "
            f"{tried.losses[-1]:.3g}."
        )
        if without:
            verdict += f" But it was memorised by a part of the model alone: {text}"
        line = Check("gradient", "failed" if without else "passed", text or "Every parameter that wants a gradient receives one.")
        return replace(told, outcome="passed", verdict=verdict, checks=[line])
    reason = _find_reason(_SUSPECTS, case, checks)
    verdict = (
        f"The batch is not memorised: the loss went from {case.first:.4g} to {tried.losses[-1]:.4g} in "
        f"{len(tried.losses)} steps, {case.goal.target:.3g} was the target. {reason or ''}"
    )
    return replace(told, outcome="failed", verdict=verdict.strip(), checks=checks)


def overfit_one_batch(
    model: Union[Training, torch.nn.Module],
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    loader: Optional[Iterable[Any]] = None,
    *,
    steps: int = 500,
    target: Optional[float] = None,
    patience: int = 4,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """Trains on one batch until it is memorised. When it is not, further attempts, each with one thing changed, find out
    why: then the one failed check is the reason (`inputs`, `labels`, `loss`, `frozen`, `gradient`, `dead-units`, `mode`,
    `dropout`, `learning-rate-too-low`, `learning-rate-too-high`, `optimizer`, or `capacity` when nothing helped).
    `patience` is how many times as many steps it may take while the loss still falls: slow is not broken.
    """
    if steps < 3 or (target is not None and not math.isfinite(target)):
        raise InvalidError("overfit_one_batch: at least 3 steps and a finite target are needed", "invalid-argument")
    training = training_of(model, optimizer, loss, loader, about)
    training.own_optimizer("overfit_one_batch")

    def body(preserved: Preserved, clock: Clock) -> Experiment:
        clock.expected = steps
        return _searched(_Case(training, steps, patience, preserved, clock), target)

    return run_probe("overfit-one-batch", training, body, seconds=seconds, progress=progress, record=record)
