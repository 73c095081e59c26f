"""settle and treat: which cause it is, and what measurably helps."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Union

import torch

from osler import _core
from osler.errors import InvalidError
from osler.experiment import Experiment
from osler.report import Report
from osler.run import Run
from osler.torch.checkup import checkup, signal_propagation
from osler.torch.monitor import Monitor
from osler.torch.overfit import overfit_one_batch
from osler.torch.rates import fresh_start, lr_range_test
from osler.torch.surface import curvature, noise_scale, sharpness
from osler.torch.training import Training, recorded, training_of


@dataclass(frozen=True)
class Shift:
    """How the odds of a cause moved."""

    cause: str
    before: float
    after: float


@dataclass(frozen=True)
class Tested:
    """One experiment that was run to settle the question."""

    experiment: Experiment
    between: list[str]
    cost: int
    shifts: list[Shift]


@dataclass(frozen=True)
class Settled:
    """What was tested and what is known now. Printing it gives a table."""

    before: Report
    report: Report
    tests: list[Tested]
    budget: int
    cost: int
    ended: str
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


def _between(low: int, value: float, high: int) -> int:
    return max(low, min(int(value), high))


def _run_within(probe: str, training: Training, passes: int, seconds: float) -> Experiment:
    """A probe cut to what may be spent on it, in passes forward and backward."""
    common: dict[str, Any] = {"seconds": seconds, "progress": False}
    if probe == "lr-range-test":
        repeats = 3 if passes >= 240 else 2 if passes >= 120 else 1
        return lr_range_test(training, repeats=repeats, steps=_between(40, passes // repeats, 100), **common)
    if probe == "overfit-one-batch":
        return overfit_one_batch(training, steps=_between(60, passes // 8, 500), patience=7, **common)
    if probe == "sharpness":
        plenty = passes >= 120
        return sharpness(
            training, batches=4 if plenty else 2, repeats=20 if plenty else 10, ascents=2 if plenty else 0, **common
        )
    if probe == "curvature":
        products = _between(6, passes // 8, 40)
        return curvature(training, trace_samples=0, products_per_layer=0, most_products=products, **common)
    if probe == "gradient-noise-scale":
        return noise_scale(training, batches=_between(8, passes, 16), most=_between(8, passes, 48), **common)
    if probe == "signal-propagation":
        return signal_propagation(training, **common)
    if probe == "checkup":
        return checkup(training, batches=4, overfit_steps=_between(5, passes // 15, 50), **common)
    return fresh_start(training, steps=_between(40, (passes - 6) // 6, 150), **common)


def settle(
    run: Union[Monitor, Run],
    model: Union[Training, torch.nn.Module],
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    loader: Optional[Iterable[Any]] = None,
    *,
    share: float = 0.2,
    passes: Optional[int] = None,
    lead: float = 3.0,
    seconds: float = math.inf,
    **about: Any,
) -> Settled:
    """Tests the causes that lead a run's report against each other, the most telling experiment first, writes each result
    to the run and weighs again, until one leads clearly or the budget is spent: `share` of the run's steps, or `passes`.
    Model, optimizer, random numbers and modes are as before afterwards.
    """
    training = training_of(model, optimizer, loss, loader, about)
    end = time.monotonic() + seconds
    steps = run.steps if isinstance(run, Monitor) else run.steps.points

    def carry_out(probe: str, wanted: int, left: int) -> tuple[str, int]:
        before = training.passes
        training.most_passes = before + left
        try:
            with _pausing(run):
                found = _run_within(probe, training, wanted, end - time.monotonic())
        finally:
            training.most_passes = math.inf
        return found.to_json(), math.ceil(training.passes - before)

    def record(told: str) -> None:
        recorded(Experiment.from_json(told), run)

    def weigh() -> _core.Report:
        report: Report = run.report() if isinstance(run, Monitor) else run.diagnose()
        return report._core

    def ended() -> str:
        return "The time is up." if time.monotonic() >= end else ""

    told = _core.settle(carry_out, record, weigh, ended, int(steps), share, passes, lead)
    tests = [
        Tested(Experiment.from_json(experiment), between, cost, [Shift(*shift) for shift in shifts])
        for experiment, between, cost, shifts in told["tests"]
    ]
    core = run._core if isinstance(run, Run) else None
    before, after = Report(told["before"], core), Report(told["report"], core)
    return Settled(before, after, tests, told["budget"], told["cost"], told["ended"], told["text"])


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        return None


def _pausing(run: Any) -> Any:
    pause = getattr(run, "_paused", None)
    return pause() if pause is not None else _Nothing()


@dataclass(frozen=True)
class Change:
    """A setting and what it is changed to."""

    name: str
    before: str
    after: str

    @property
    def value(self) -> float:
        """The new value as a number; NaN where it is none."""
        try:
            return float(self.after)
        except ValueError:
            return math.nan


@dataclass(frozen=True)
class Trial:
    """One remedy and what it did."""

    cause: str
    remedy: str
    change: Change
    before: float
    after: float
    kept: bool
    why: str


@dataclass(frozen=True)
class Cure:
    """What was tried and what measurably helped. Printing it gives a table."""

    untreated: float
    treated: float
    kept: list[Change]
    trials: list[Trial]
    for_a_person: list[str]

    def __str__(self) -> str:
        lines = [f"Loss of a short training: {self.untreated:.4g} as it is, {self.treated:.4g} with what was kept."]
        for each in self.trials:
            mark = "kept   " if each.kept else "dropped"
            lines.append(f"  {mark} {each.remedy} [{each.cause}] {each.before:.4g} -> {each.after:.4g}: {each.why}")
        if not self.trials:
            lines.append("  No remedy of the report can be tried by machine here.")
        lines += [f"  for you {each}" for each in self.for_a_person]
        return "\n".join(lines)


Factory = Callable[[list[Change]], Training]


def treat(
    report: Report,
    factory: Factory,
    *,
    can_change: Sequence[str] = (),
    steps: int = 200,
    seed: int = 1,
    validation_batches: int = 4,
    causes: int = 3,
    trials: int = 10,
    improvement: float = 0.05,
) -> Cure:
    """Tries the remedies of a report on your own training in short forks from the same start, and keeps what measurably
    helps. `factory(changes)` builds the training anew: its own model and optimizer, with those changes of settings that
    it knows and that `can_change` names. The learning rate (`lr`) and clipping (`clip_norm`) are seen to here.
    """
    if steps < 10:
        raise InvalidError("treat: steps must be at least 10", "invalid-argument")

    def can_apply(change: tuple[str, str, str]) -> bool:
        made = Change(*change)
        return made.name in can_change or (made.name in ("lr", "clip_norm") and math.isfinite(made.value))

    def fork(changes: list[tuple[str, str, str]]) -> tuple[float, Optional[_core.Report]]:
        try:
            return _fork(factory, [Change(*each) for each in changes], steps, seed, validation_batches)
        except InvalidError:
            raise
        except Exception:  # a training that cannot be built or finished helps nobody
            return math.nan, None

    told = _core.treat(report._core, can_apply, fork, causes, trials, improvement)
    tried = [
        Trial(cause, remedy, Change(*change), before, after, kept, why)
        for cause, remedy, change, before, after, kept, why in told["trials"]
    ]
    kept = [Change(*each) for each in told["kept"]]
    return Cure(told["untreated"], told["treated"], kept, tried, told["for_a_person"])


def _newest(changes: list[Change], name: str) -> Optional[float]:
    found = [each.value for each in changes if each.name == name and math.isfinite(each.value)]
    return found[-1] if found else None


def _fork(
    factory: Factory, changes: list[Change], steps: int, seed: int, validation_batches: int
) -> tuple[float, _core.Report]:
    torch.manual_seed(seed)
    training = factory(changes)
    optimizer = training.own_optimizer("treat")
    rate = _newest(changes, "lr")
    if rate is not None:
        for group in optimizer.param_groups:
            group["lr"] = rate
    look = max(1, steps // 50)
    monitor = Monitor(
        training.model,
        optimizer,
        statistics_every=look,
        trace_every=look,
        diagnose_every=-1,
        classes=training.classes,
        clip_norm=_newest(changes, "clip_norm"),
        on_line=None,
    )
    training.model.train()
    losses: list[float] = []
    with monitor:
        for _ in range(steps):
            batch = training.next_batch()
            value: list[float] = []

            def compute_loss() -> torch.Tensor:
                loss = training.loss_of(batch)  # noqa: B023
                value.append(float(loss.item()))  # noqa: B023
                return loss

            monitor.train_step(compute_loss)
            losses.append(value[0])
        tail = losses[-max(1, steps // 10) :]
        held_out = training.validation_batches(validation_batches)
        if held_out:
            training.model.eval()
            tail = [training.value_of(batch) for batch in held_out]
        return sum(tail) / len(tail), monitor.report()._core
