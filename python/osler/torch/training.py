"""Training: a model, its optimizer, its loss and its batches, as probes see them; Preserved puts it back."""

from __future__ import annotations

import copy
import itertools
import math
import random
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any, Callable, Optional, Union

import torch

from osler import _core
from osler.errors import InvalidError
from osler.experiment import Experiment

Progress = Union[bool, Callable[[str, int, int], None], None]

# What PyTorch itself counts on an optimizer beside its state: schedulers warn by it.
_COUNTERS = ("_step_count", "_opt_called")


class _Kept:
    """A value of any shape of lists and dicts, with the tensors in it as they were."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._copy: Any = None
        if isinstance(value, torch.Tensor):
            self._copy = value.detach().clone()
        elif isinstance(value, dict):
            self._copy = {key: _Kept(each) for key, each in value.items()}
        elif isinstance(value, (list, tuple)):
            self._copy = [_Kept(each) for each in value]
        else:
            self._copy = copy.deepcopy(value)

    def restore(self) -> Any:
        """The same objects with what they held."""
        value = self._value
        if isinstance(value, torch.Tensor):
            with torch.no_grad():
                value.detach().copy_(self._copy)
            return value
        if isinstance(value, dict):
            held = {key: each.restore() for key, each in self._copy.items()}
            value.clear()
            value.update(held)
            return value
        if isinstance(value, list):
            value[:] = [each.restore() for each in self._copy]
            return value
        if isinstance(value, tuple):
            for each in self._copy:
                each.restore()
            return value
        return copy.deepcopy(self._copy)


class RandomState:
    """The random number generators of PyTorch (every device), of Python and of NumPy."""

    def __init__(self) -> None:
        self._torch = torch.get_rng_state()
        self._devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        self._python = random.getstate()
        numpy = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if numpy is not None else None

    def restore(self) -> None:
        """Puts them back."""
        torch.set_rng_state(self._torch)
        if self._devices:
            torch.cuda.set_rng_state_all(self._devices)
        random.setstate(self._python)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)


class Preserved:
    """A training as it was: parameters, buffers, gradients, which of them want gradients, the mode of every module, the
    optimizer's state and options, and the random number generators. Put back bit for bit, in the same tensors, at the
    end of a `with` block, however it ended.
    """

    def __init__(self, model: torch.nn.Module, optimizer: Optional[torch.optim.Optimizer]) -> None:
        self._modules = [(module, module.training) for module in model.modules()]
        self._registered = [(module, dict(module._parameters), dict(module._buffers)) for module, _ in self._modules]
        # An optimizer may hold parameters beside the model's, such as those of a loss.
        held = [each for group in (optimizer.param_groups if optimizer is not None else []) for each in group["params"]]
        everything = {id(each): each for each in [*model.parameters(), *held]}
        self._parameters = [
            (parameter, parameter.detach().clone(), parameter.requires_grad, parameter.grad, _Kept(parameter.grad))
            for parameter in everything.values()
        ]
        self._buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
        self._optimizer = optimizer
        if optimizer is not None:
            # By parameter, which must not be copied itself.
            self._state = {parameter: _Kept(state) for parameter, state in optimizer.state.items()}
            self._groups = [
                (group, {key: _Kept(value) for key, value in group.items() if key != "params"})
                for group in optimizer.param_groups
            ]
            self._counters = {name: getattr(optimizer, name) for name in _COUNTERS if hasattr(optimizer, name)}
        self._random = RandomState()

    def restore(self) -> None:
        """Puts everything back now, for a second experiment from the same start."""
        for module, parameters, buffers in self._registered:
            module._parameters.update(parameters)
            module._buffers.update(buffers)
        with torch.no_grad():
            for parameter, value, wants, gradient, kept in self._parameters:
                parameter.detach().copy_(value)
                parameter.requires_grad_(wants)
                kept.restore()
                parameter.grad = gradient
            for buffer, value in self._buffers:
                buffer.detach().copy_(value)
        for module, mode in self._modules:
            module.training = mode
        self._restore_optimizer()
        self._random.restore()

    def _restore_optimizer(self) -> None:
        optimizer = self._optimizer
        if optimizer is None:
            return
        held = {parameter: state.restore() for parameter, state in self._state.items()}
        optimizer.state.clear()
        optimizer.state.update(held)
        for group, options in self._groups:
            for key in [key for key in group if key != "params" and key not in options]:
                del group[key]
            for key, kept in options.items():
                group[key] = kept.restore()
        for name, value in self._counters.items():
            setattr(optimizer, name, value)

    def __enter__(self) -> Preserved:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.restore()


def _cycled(loader: Iterable[Any]) -> Iterator[Any]:
    """A loader's batches without end."""
    before = False
    while True:
        empty = True
        for batch in loader:
            empty = False
            yield batch
        if empty and before:
            words = "the loader gives its batches only once, and they are used up: give a DataLoader, or a list of batches"
            raise InvalidError(words, "invalid-argument")
        if empty:
            raise InvalidError("the loader gives no batches", "invalid-argument")
        before = True


class Training:
    """What belongs together in a training.

        Training(model, optimizer, torch.nn.CrossEntropyLoss(), loader, classes=10)

    `loss` is a criterion of outputs and targets, and `loader` gives pairs of inputs and targets; a list of batches is a
    loader too. Batches of another kind work with `compute_loss(batch)`. Without a loader `compute_loss()` gives the loss
    of a step; every probe but `lr_range_test` and `fresh_start` takes it for the loss of one and the same batch.

    `validation` is a loader as well. `restart()` puts weights and learning rate back to where the training began, for
    models whose layers do not know how to draw their weights anew.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: Optional[torch.optim.Optimizer],
        loss: Optional[Callable[..., torch.Tensor]] = None,
        loader: Optional[Iterable[Any]] = None,
        *,
        compute_loss: Optional[Callable[..., torch.Tensor]] = None,
        validation: Optional[Iterable[Any]] = None,
        classes: Optional[int] = None,
        restart: Optional[Callable[[], None]] = None,
    ) -> None:
        if not any(True for _ in model.parameters()):
            raise InvalidError("the model has no parameters; assign its layers to attributes of the module", "invalid-argument")
        if compute_loss is None and (loss is None or loader is None):
            raise InvalidError(
                "give loss(outputs, targets) and a loader of (inputs, targets), or compute_loss", "invalid-argument"
            )
        if compute_loss is not None and loss is not None:
            raise InvalidError("give either loss or compute_loss, not both", "invalid-argument")
        self.model = model
        self.optimizer = optimizer
        self.loss = loss
        self.loader = loader
        self.validation = validation
        self.classes = classes
        self.restart = restart
        self._compute = compute_loss
        self._batches: Optional[Iterator[Any]] = None
        self._validation: Optional[Iterator[Any]] = None
        self.passes = 0.0
        """Passes forward and backward that probes made; a pass forward alone counts as a third."""
        self.most_passes = math.inf

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(iter(self.model.parameters())).device

    def next_batch(self) -> Any:
        """The next batch for training."""
        if self.loader is None:
            return None
        if self._batches is None:
            self._batches = _cycled(self.loader)
        return next(self._batches)

    def validation_batches(self, count: int) -> list[Any]:
        """Some batches for validation; none where there are none."""
        if self.validation is None:
            return []
        if self._validation is None:
            self._validation = _cycled(self.validation)
        return list(itertools.islice(self._validation, count))

    def pair(self, batch: Any) -> tuple[Any, Any]:
        """Inputs and targets of a batch, where it is a pair; on the model's device."""
        if not isinstance(batch, (list, tuple)) or len(batch) < 2:
            raise InvalidError("a batch is no pair of inputs and targets; use compute_loss(batch)", "invalid-argument")
        device = self.device
        return tuple(each.to(device) if isinstance(each, torch.Tensor) else each for each in batch[:2])  # type: ignore[return-value]

    def forward(self, inputs: Any) -> Any:
        """The model's outputs, counted."""
        self.passes += 1.0 if torch.is_grad_enabled() else 1 / 3
        if self.passes > self.most_passes:
            raise Ended("A stop was asked for before the test had an answer.")
        return self.model(inputs)

    def loss_of(self, batch: Any) -> torch.Tensor:
        """The loss of a batch: a single number."""
        if self._compute is None:
            inputs, targets = self.pair(batch)
            loss: torch.Tensor = self.loss(self.forward(inputs), targets)  # type: ignore[misc]
        else:
            self.passes += 1.0 if torch.is_grad_enabled() else 1 / 3
            if self.passes > self.most_passes:
                raise Ended("A stop was asked for before the test had an answer.")
            loss = self._compute() if self.loader is None else self._compute(batch)
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise InvalidError("the loss must be a single number; reduce it with mean() or sum() first", "invalid-argument")
        return loss

    def value_of(self, batch: Any) -> float:
        """The loss of a batch, without a graph."""
        with torch.no_grad():
            return float(self.loss_of(batch).item())

    @property
    def takes_apart(self) -> bool:
        """Whether forward pass and loss can be looked at each by itself."""
        return self._compute is None

    def own_optimizer(self, probe: str) -> torch.optim.Optimizer:
        """The optimizer, for a probe that steps."""
        if self.optimizer is None:
            raise InvalidError(f"{probe} takes steps: give the optimizer", "invalid-argument")
        return self.optimizer

    def step(self, optimizer: torch.optim.Optimizer, batches: list[Any]) -> float:
        """One step on batches whose gradients are averaged; gives back their mean loss before the step."""
        before: list[float] = []

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            total = torch.zeros((), dtype=torch.float64)
            for batch in batches:
                loss = self.loss_of(batch) / len(batches)
                loss.backward()
                total += loss.detach().cpu().double()
            before.append(float(total))
            return total

        optimizer.step(closure)
        return before[0] if before else math.nan


class Ended(Exception):
    """The time of a probe is up; never leaves it."""


class Clock:
    """Watches the limits of a probe and shows how far it is."""

    def __init__(self, probe: str, seconds: float, progress: Progress) -> None:
        self._probe = probe
        self._end = time.monotonic() + seconds
        self._done = 0
        self._shown = 0.0
        self._line = False
        self.expected = 0
        if progress is None:
            progress = sys.stderr.isatty()
        self._progress = progress

    def check(self) -> None:
        """To be called at least once in each pass."""
        self._done += 1
        if time.monotonic() > self._end:
            raise Ended("The time was up before the test had an answer.")
        if callable(self._progress):
            self._progress(self._probe, self._done, max(self.expected, self._done))
        elif self._progress and time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            self._line = True
            of = f" of about {self.expected}" if self.expected >= self._done else ""
            print(f"\r{self._probe}: pass {self._done}{of} ", end="", file=sys.stderr, flush=True)

    def left(self) -> float:
        """Seconds left, for a probe that another one runs."""
        return self._end - time.monotonic()

    def close(self) -> None:
        """Takes the line of progress away."""
        if self._line:
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)


def training_of(
    model: Union[Training, torch.nn.Module],
    optimizer: Optional[torch.optim.Optimizer],
    loss: Optional[Callable[..., torch.Tensor]],
    loader: Optional[Iterable[Any]],
    about: dict[str, Any],
) -> Training:
    """The training that a probe was given, whole or in parts."""
    if isinstance(model, Training):
        return model
    if loss is not None and loader is None:  # a callable that gives the loss
        return Training(model, optimizer, compute_loss=loss, **about)
    return Training(model, optimizer, loss, loader, **about)


def recorded(experiment: Experiment, record: Any) -> Experiment:
    """Writes an experiment to a run, a recorder or a monitor, where it is evidence from then on."""
    if record is None:
        return experiment
    steps = getattr(record, "steps", 0)
    at = steps if isinstance(steps, int) else getattr(steps, "last", 0)
    told = replace(experiment, step=int(at))
    key = _core.experiment_key(told.probe)
    core = getattr(record, "_core", None)
    if isinstance(core, _core.Run):
        core.config(key, told.to_json())
    elif isinstance(core, _core.Recorder):
        record.config({key: told.to_json()})
    else:
        record.config(key, told.to_json())
    return told


def run_probe(
    probe: str,
    training: Training,
    body: Callable[[Preserved, Clock], Experiment],
    *,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
) -> Experiment:
    """Runs `body` with gradients on and puts the training back when it has ended, however it ended. What the training's
    own functions throw ends the experiment as `stopped`; wrong use and Ctrl-C are passed on.
    """
    clock = Clock(probe, seconds, progress)
    pause = getattr(record, "_paused", None)
    waiting = pause() if pause is not None else None
    try:
        with Preserved(training.model, training.optimizer) as preserved, torch.enable_grad():
            if waiting is not None:
                waiting.__enter__()
            try:
                clock.check()
                experiment = body(preserved, clock)
            except Ended as ended:
                experiment = Experiment(probe, "stopped", str(ended))
            except InvalidError:
                raise
            except Exception as error:
                words = (str(error).splitlines() or [type(error).__name__])[0]
                experiment = Experiment(probe, "stopped", f"The training threw an exception: {words}")
    finally:
        if waiting is not None:
            waiting.__exit__(None, None, None)
        clock.close()
    return recorded(experiment, record)


def switch_to_training(model: torch.nn.Module) -> None:
    """The training as a loop would have it. Single modules that are kept in evaluation mode on purpose stay there."""
    if not model.training:
        model.train()
