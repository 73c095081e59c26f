"""Monitor: Osler inside a PyTorch training loop."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Callable, Optional, Union

import torch

from osler import _core, recorder
from osler.errors import InvalidError, NonfiniteError
from osler.experiment import Experiment
from osler.report import Layers, Report
from osler.torch import gpu as gpus
from osler.torch.blame import blamed
from osler.torch.clearing import Clearing
from osler.torch.late import LateSteps
from osler.torch.loss_graph import LossLook, Root, before_scaling
from osler.torch.batches import BatchReport, NewestBatch, batch_views
from osler.torch.model import (
    KeptBuffers,
    builds_graph,
    declared,
    depends_on_mode,
    inner,
    problems_now,
    show_inputs,
    take_off,
    tell_configuration,
)
from osler.torch.origin import Origin
from osler.torch.requirements import (
    optimizers_in,
    require_belonging,
    require_graph,
    require_limit,
    require_loss,
    require_model,
    require_shapes,
    require_whole_norm,
    require_whole_step,
    tensor_from,
)
from osler.torch.scaling import unscale
from osler.torch.trace import Trace, tensors_in
from osler.torch.wrappers import in_company, unseen

_TOGETHER = "Several processes train together: steps that are not finite are reported, not left out, so that all do the same."
_CLASSIFIES = ("NllLoss", "CrossEntropy", "BinaryCrossEntropyWithLogits")
_LOOKED_INTO = 20  # broken steps that are all looked into; later one in so many
_MANY = 1_000_000  # parameters from which on more than one thread measures


class Monitor(LateSteps):
    """Watches one model trained by one or several optimizers. For the thread that trains.

    Between `backward()` and `optimizer.step()`:

        if monitor.step(loss):
            optimizer.step()

    `step` says no when the loss or a gradient is not finite; then the gradients are cleared and running statistics are
    put back. Or leave the step to it, which lets it name the operation that made a NaN and tell where the time goes:

        monitor.train_step(lambda: loss_of(model(x), y))

    Options: `run_file` keeps the run for `osler diagnose`, `watch` and `serve`; `csv`, `jsonl`, `tensorboard` and `wandb`
    name further places. `budget` is the share of the training time that watching may take; `statistics_every`,
    `trace_every`, `batches_every`, `histograms_every` and `diagnose_every` set a fixed cadence in its place (-1: never).
    `clip_norm` clips the gradients. `raise_on_nonfinite` ends the training with a `NonfiniteError` at the first loss or
    gradient that is not finite. `line_every` tells `on_line` every so many steps how it goes. `classes` and `batch_size`
    let it check labels, the first loss and the gradient noise. `on_finding` is told of every finding when it is new or
    got worse, as (id, severity, summary); `on_line` gets lines of text, which go to standard error unless you say
    otherwise (None: nowhere).

    On a GPU the parameters are measured there, and nothing waits for the device: what is found is told a step or two
    later, and a step that is not finite is reported, not left out. `skip_nonfinite=True` waits on every step instead.
    The same where several processes train together, for they must all do the same: there it is for processes that each
    train a model of their own.

    Training is not changed: with the same seed the weights are the same, bit for bit.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: Union[torch.optim.Optimizer, Iterable[torch.optim.Optimizer]],
        *,
        run_file: Optional[Union[str, os.PathLike[str]]] = None,
        name: str = "training",
        csv: Optional[Union[str, os.PathLike[str]]] = None,
        jsonl: Optional[Union[str, os.PathLike[str]]] = None,
        tensorboard: Optional[Union[str, os.PathLike[str]]] = None,
        wandb: Optional[Union[str, os.PathLike[str]]] = None,
        first_step: int = 0,
        budget: float = 0.02,
        statistics_every: int = 0,
        trace_every: int = 0,
        batches_every: int = 0,
        diagnose_every: int = 0,
        histograms_every: int = 0,
        line_every: int = 0,
        check_every_gradient: bool = False,
        clip_norm: Optional[float] = None,
        skip_nonfinite: Optional[bool] = None,
        raise_on_nonfinite: bool = False,
        classes: Optional[int] = None,
        batch_size: Optional[int] = None,
        on_finding: Optional[Callable[[str, str, str], None]] = None,
        on_line: Optional[Callable[[str], None]] = lambda line: print(line, file=sys.stderr),
    ) -> None:
        require_model(model)
        self._outer = model
        self._model, self._compiled = inner(model)
        self._optimizers = optimizers_in(optimizer)
        require_shapes(self._model)
        named = list(self._model.named_parameters())
        self._parameters = [parameter for _, parameter in named]
        require_belonging(self._parameters, self._optimizers)
        require_limit("clip_norm", clip_norm)
        require_whole_norm(self._model, clip_norm)
        self._clip_norm = clip_norm
        device = None if skip_nonfinite else gpus.one_gpu(self._parameters)
        together = skip_nonfinite is None and in_company()
        self._skip = not together if skip_nonfinite is None else skip_nonfinite
        self._raise = raise_on_nonfinite
        self._broken: Optional[tuple[int, str]] = None
        self._on_finding = on_finding
        self._on_line = on_line
        count = sum(parameter.numel() for parameter in self._parameters)
        options: dict[str, Union[int, float, bool, None]] = {
            "first_step": first_step,
            "budget": budget,
            "statistics_every": statistics_every,
            "trace_every": -1 if self._compiled else trace_every,
            "batches_every": batches_every,
            "diagnose_every": diagnose_every,
            "histograms_every": histograms_every,
            "line_every": line_every,
            "check_every_gradient": check_every_gradient or (clip_norm is not None and device is None),
            "classes": classes,
            "batch_size": batch_size,
            "threads": min(torch.get_num_threads(), 8) - 1 if count >= _MANY else 0,
        }
        self._classes = classes
        self._watch = _core.StepWatch(
            options,
            os.fspath(run_file) if run_file is not None else "",
            name,
            recorder.destinations(csv=csv, jsonl=jsonl, tensorboard=tensorboard, wandb=wandb),
            declared(self._model),
        )
        recorder.close_at_exit(self)
        self._closed = False
        self._remarks: list[str] = []
        self._late = self._late_news(device)
        self._mode_matters = depends_on_mode(self._model)
        self._trace = Trace(self._model, self._watch, self._late)
        self._tracing = False
        self._buffers = KeptBuffers(self._model)
        self._inputs: Any = None
        self._random: Optional[torch.Tensor] = None
        self._replay: Optional[Callable[[], Any]] = None
        self._left = time.perf_counter()
        self.skipped = 0
        """Steps that were left out because they were not finite."""
        self.origin: Optional[Origin] = None
        """Where the newest non-finite value came from."""
        self.gradient_norm: Optional[float] = None
        """The global gradient norm of the newest step at which it was measured, before clipping."""
        tell_configuration(self._watch, self._optimizers, clip_norm)
        self._tell_parameters()
        self._watch.begin(self._parameters)  # which starts the run, so that it can be remarked on
        for words in [*unseen(self._model, self._compiled), *([_TOGETHER] if together else [])]:
            self._remarks.append(words)
            self._watch.note(words)
        self._clearing = Clearing(self._optimizers)
        self._loss_look = LossLook(self._watch, classes)
        self._newest_batch = NewestBatch()
        self._refused = 0
        # A monitor that is dropped must not live on in the model's hooks.
        self._hook = show_inputs(self._outer, self)
        weakref.finalize(self, take_off, self._hook, self._trace, self._clearing)
        self._keep()
        self._begin_next(self._watch.trace_due())

    def _tell_parameters(self) -> None:
        held = {id(each) for optimizer in self._optimizers for group in optimizer.param_groups for each in group["params"]}
        self._watch.tell_parameters(
            [parameter.requires_grad for parameter in self._parameters],
            [id(parameter) in held for parameter in self._parameters],
        )

    # A step.

    def remember_inputs(self, inputs: Any) -> None:
        """Keeps what went into the model until the step is over, as the graph does: then a broken step can be looked
        into. The model calls it.
        """
        began = time.perf_counter()
        self._inputs = inputs
        self._random = torch.get_rng_state()
        self._watch.used(time.perf_counter() - began)

    def _keep(self) -> None:
        """Keeps what the next step may change and a broken one is to leave as it was."""
        self._inputs = None
        self._random = None
        self._buffers.keep()

    def _leave(self) -> None:
        """The step is over. The watch is told last: what comes before is the monitor's own time."""
        self._keep()
        self._begin_next(self._watch.leave())

    def _begin_next(self, tracing: bool) -> None:
        self._tracing = tracing
        if tracing:
            self._trace.open()
        self._left = time.perf_counter()
        broken, self._broken = self._broken, None
        if broken is not None and self._raise:
            raise NonfiniteError(broken[1], "nonfinite", f"step {broken[0]}")

    def _finish_trace(self, root: Root) -> None:
        if not self._tracing:
            return
        self._trace.close()
        self._tracing = False
        node = root.grad_fn
        largest = self._trace.largest_output
        if node is not None and node.name().startswith(_CLASSIFIES) and largest is not None:
            if not isinstance(largest, torch.Tensor):
                self._watch.scalar("osler/logits/max", largest)
            elif self._late is not None:
                self._late.keep("osler/logits/max", largest)
        self._watch.traced(self._trace.seconds, self._trace.operations)

    def _require_loss(self, loss: Any) -> None:
        if self._closed:
            raise InvalidError("step() after close(); make a new Monitor to go on recording", "invalid-argument")
        require_loss(loss)

    def step(self, loss: torch.Tensor, *, scaler: Optional[Any] = None) -> bool:
        """To be called between `backward()` and `optimizer.step()`. True: go on with `optimizer.step()`.

        With a `GradScaler` give it as `scaler`, and the loss before it was scaled: the gradients are unscaled here, as
        `scaler.unscale_` does, unless you have done so, and steps that are not finite are left to the scaler.
        """
        self._require_loss(loss)
        return self._step(loss, loss, scaler)

    def framework_step(self, loss: torch.Tensor, value: torch.Tensor, scaler: Optional[Any], *, mean: bool = False) -> bool:
        """`step` under a framework that multiplies and divides the loss before its backward pass: `loss` is what that was
        called on, `value` the loss of the whole step as the user knows it. `mean`: numbers made a mean of a sum.
        """
        self._require_loss(loss)
        return self._step(value, before_scaling(loss, mean), scaler)

    def step_unseen(self) -> None:
        """A step whose loss nobody knows: it is counted, its rates are recorded, and gradients are not looked at."""
        self._watch.arrive()
        self._watch.tell_state(*self._state())
        self._leave()

    def _step(self, loss: torch.Tensor, root: Root, scaler: Optional[Any]) -> bool:
        if self._late is not None:
            return self._step_late(loss, root, scaler, self._late)
        value = float(loss.item())
        due = self._watch.arrive(not self._compiled and self._clearing.step(), self._tracing)
        self._finish_trace(root)
        go = self._examine(root, value, self._replay, scaler, due)
        self._leave()
        return go

    def train_step(self, compute_loss: Callable[[], torch.Tensor]) -> bool:
        """One whole step: clears gradients, computes the loss and its backward pass, checks, and lets the optimizers
        step. `compute_loss` must give the same loss when it is called again: when something is not finite, it is.
        """
        require_whole_step(compute_loss, self._optimizers)
        if self._late is not None:
            return self._train_step_late(compute_loss, self._late)
        began = time.perf_counter()
        data = began - self._left
        random = torch.get_rng_state()
        for optimizer in self._optimizers:
            optimizer.zero_grad()
        loss = compute_loss()
        self._require_loss(loss)
        require_graph(loss)
        value = float(loss.item())
        forward_done = time.perf_counter()
        due = self._watch.arrive(True, self._tracing)
        self._finish_trace(loss)
        self._random = random
        backward_began = time.perf_counter()
        loss.backward()
        backward_done = time.perf_counter()
        go = self._examine(loss, value, compute_loss, None, due)
        examined = time.perf_counter()
        del loss  # the graph goes before the optimizer comes, as without a monitor
        if go:
            for optimizer in self._optimizers:
                optimizer.step()
        stepped = time.perf_counter()
        self._keep()
        took = (data, forward_done - began, backward_done - backward_began, stepped - examined)
        self._begin_next(self._watch.leave_run(*took))
        return go

    def replay_with(self, compute_loss: Optional[Callable[[], torch.Tensor]]) -> None:
        """For `step`: how to compute the loss of the current batch again, so that the operation that made a NaN can be
        named. It must not draw a new batch.
        """
        self._replay = compute_loss

    def _examine(
        self, root: Root, value: float, replay: Optional[Callable[[], Any]], scaler: Optional[Any], due: int
    ) -> bool:
        watch = self._watch
        scaled = scaler is not None and scaler.is_enabled()
        if scaled and scaler is not None:
            watch.scalar("loss_scale", float(scaler.get_scale()))
            unscale(scaler, self._optimizers)
        if due:
            self._loss_look.take(root)
            if due & _core.DUE_STATISTICS:
                self._tell_parameters()
        self._loss_look.targets = None
        finite, first_bad, norm = watch.examine(value, self._parameters, *self._state())
        if norm is not None:
            self.gradient_norm = norm
        go = True
        if finite:
            self._clip(norm)
        elif not (scaled and math.isfinite(value)):  # a scaler expects overflows, and leaves such steps out itself
            go = self._refuse(value, first_bad, replay)
        self._tell_news()
        return go

    def _state(self) -> tuple[list[float], Optional[bool]]:
        """The rates of the parameter groups, and the model's mode where it matters."""
        rates = [float(group["lr"]) for optimizer in self._optimizers for group in optimizer.param_groups if "lr" in group]
        return rates, self._model.training if self._mode_matters else None

    def _clip(self, norm: Optional[float]) -> None:
        if self._clip_norm is None or norm is None:
            return
        factor = self._clip_norm / (norm + 1e-6) if norm > self._clip_norm else 1.0
        self._watch.tell_clipping(factor)
        if factor == 1.0:
            return
        with torch.no_grad():
            for parameter in self._parameters:
                if parameter.grad is not None:
                    parameter.grad.mul_(factor)

    def _refuse(self, value: float, first_bad: str, replay: Optional[Callable[[], Any]]) -> bool:
        text = "The loss is not finite." if not math.isfinite(value) else f"The gradient of {first_bad} is not finite."
        self._buffers.put_back()
        self._refused += 1
        # Where hardly a step is finite, looking into each would cost many times the training.
        if self._refused <= _LOOKED_INTO or self._refused % _LOOKED_INTO == 0:
            self.origin = blamed(
                self._outer,
                self._model,
                value,
                first_bad,
                inputs=self._inputs,
                random=self._random,
                replay=replay,
                compiled=self._compiled,
            )
            text += f" {self.origin.text}"
            self._watch.scalar(f"osler/origin/{self.origin.cause}", 1.0)
        if self._skip:
            for optimizer in self._optimizers:
                optimizer.zero_grad()
            self.skipped += 1
            text += " The step was left out."
        self._watch.note(text)
        self._say(text)
        self._broken = (self._watch.steps(), text)
        return not self._skip

    def _say(self, text: str) -> None:
        if self._on_line is not None:
            self._on_line(f"osler: step {self._watch.steps()}: {text}")

    def _tell_news(self) -> None:
        if not self._watch.has_news(self._on_finding is not None or self._on_line is not None):
            return
        line = self._watch.take_line()
        if line is not None and self._on_line is not None:
            self._on_line(f"osler: {line}")
        self._tell_findings(of_validation=False)

    def _tell_findings(self, of_validation: bool) -> None:
        if self._on_finding is None and self._on_line is None:
            return
        for finding, severity, summary, _confidence, _since in self._watch.news(of_validation):
            if self._on_finding is not None:
                self._on_finding(finding, severity, summary)
            if severity != "note":
                self._say(f"{severity}: {summary} [{finding}]")

    @contextlib.contextmanager
    def _paused(self) -> Iterator[None]:
        """Looks away while a probe uses the model."""
        kept = (self._inputs, self._random)
        if self._tracing:
            self._trace.close()
        try:
            yield
        finally:
            self._inputs, self._random = kept
            if self._tracing:
                self._trace.open()

    # What else the loop can tell.

    def batch(self, inputs: torch.Tensor, labels: Optional[torch.Tensor] = None) -> Optional[BatchReport]:
        """Shows a batch before it is used. It is looked at, or passed over where the budget is spent: then None."""
        inputs = tensor_from(inputs, "inputs")
        labels = tensor_from(labels, "labels") if labels is not None else None
        self._loss_look.targets = tuple(labels.shape) if labels is not None else None
        kept = self._newest_batch.is_again(inputs)
        if not self._watch.batch_due():
            return None
        shown = batch_views(inputs, labels, self._classes)
        told = self._watch.batch(*shown, kept)
        return BatchReport(**told)

    def log(self, name: str, value: float) -> None:
        """A number of your own: `train/accuracy`."""
        self._watch.scalar(name, float(value))

    def config(self, key: str, value: Any) -> None:
        """A setting of the training."""
        self._watch.config(key, str(value))

    def experiment(self, found: Experiment) -> None:
        """Writes what a probe found to the run, where the diagnosis takes it as evidence."""
        told = replace(found, step=self.steps)
        self._watch.config(_core.experiment_key(told.probe), told.to_json())

    def validation_batch(
        self, output: Any = None, inputs: Optional[torch.Tensor] = None, labels: Optional[torch.Tensor] = None
    ) -> Optional[BatchReport]:
        """The output of a validation batch: checks the model's mode and that no graph is built. With `inputs`, and `labels`,
        the first batches are looked at as those of training are: then what they are like is returned.
        """
        if self._mode_matters:
            self._watch.check("train-mode-in-validation", 1.0 if self._model.training else 0.0)
        outputs = list(tensors_in(getattr(output, "logits", output)))
        if outputs:
            self._watch.check("validation-builds-graph", 1.0 if builds_graph(self._model, outputs) else 0.0)
        if inputs is None or not self._watch.validation_batch_due():
            return None
        shown = batch_views(tensor_from(inputs, "inputs"), labels, self._classes)
        return BatchReport(**self._watch.batch(*shown, of_validation=True))

    def validation(self, loss: Optional[float] = None, **metrics: float) -> None:
        """The result of a validation: `monitor.validation(0.31, accuracy=0.9)`."""
        if loss is not None:
            self._watch.validation("validation/loss", float(loss))
        for name, value in metrics.items():
            self._watch.validation(f"validation/{name}", float(value))
        self._tell_findings(of_validation=True)
        self._left = time.perf_counter()

    def epoch(self, number: int) -> None:
        """The end of an epoch: its mean training loss is recorded as well."""
        self._watch.epoch(float(number))

    def note(self, text: str) -> None:
        """A remark of your own at this step; reports and charts show it, as those of `osler note` do."""
        self._watch.note(str(text))

    def checkpoint(self, *, with_scheduler: bool) -> None:
        """A checkpoint was written; `with_scheduler`: the state of the learning rate schedule is in it."""
        self._watch.check("scheduler-not-checkpointed", 0.0 if with_scheduler else 1.0)

    def split_overlap(self, share: float) -> None:
        """The share of validation samples that are in the training set: see `shared_samples`."""
        self._watch.check("split-overlap", float(share))

    def validation_changes(self, share: float) -> None:
        """The share of validation samples that differ when they are loaded twice: see `changed_samples`."""
        self._watch.check("validation-augmented", float(share))

    # What it knows.

    @property
    def steps(self) -> int:
        """The number of the next step."""
        return self._watch.steps()

    @property
    def share(self) -> float:
        """What watching took, as a share of the training time."""
        return self._watch.share()

    @property
    def early_seconds(self) -> float:
        """What the close looks at the first steps took, and the diagnoses that tell what they saw."""
        return self._watch.early_seconds()

    @property
    def copies(self) -> int:
        """How many tensors had to be copied to be measured: those on a GPU that is not used for it, and those whose
        memory has gaps.
        """
        return self._watch.copies()

    @property
    def gpu_memory(self) -> int:
        """The bytes that measuring takes on the GPU; 0 where nothing is measured there."""
        return self._watch.gpu_memory()[0]

    def report(self, **options: Any) -> Report:
        """The diagnosis of the run so far; options as for `osler.diagnose`."""
        roles = dict(options.get("roles") or {})
        settings = dict(options.get("settings") or {})
        only = list(options.get("only") or ())
        return Report(self._watch.report(roles, settings, only, bool(options.get("layers"))))

    def layers(self) -> Layers:
        """Every layer from input to output: gradient, weight, update, dead and saturated units, and whether it is well.
        Printing it gives a table.
        """
        return self.report(layers=True).layers

    @property
    def hopeless(self) -> Optional[str]:
        """Why it is of no use to go on, or None. It takes a critical finding that is at least 90 % sure (or
        80 %, and lasts), a training that has got worse and not merely no better, 30 points of the loss, and later data
        that show it still: the rule of `osler watch --stop-on critical`. Known only while `on_finding` or `on_line` is set.
        """
        return self._watch.hopeless()

    def ends(self, why: str) -> None:
        """Tells and records that the training is ended, and why."""
        self._watch.note(f"ended by Osler: {why}")
        self._say(f"ends the training: {why}")

    def remark(self, text: str) -> None:
        """Tells and records once what cannot be seen from here on; the summary repeats it."""
        if text in self._remarks:
            return
        self._remarks.append(text)
        self._watch.note(text)
        self._say(text)

    def quick_check(self) -> list[str]:
        """What is wrong right now with parameters, gradients, optimizer and mode, one sentence each."""
        return problems_now(self._model, self._optimizers, self._mode_matters)

    def summary(self) -> str:
        """A few lines on the run so far."""
        report = self.report()
        text = f"{self.steps} steps, {self.skipped} left out"
        if self.gradient_norm is not None:
            text += f", gradient norm {self.gradient_norm:.4g}"
        text += f"; watching took {100 * self.share:.1f} % of the time.\n"
        for remark in self._remarks:
            text += remark + "\n"
        text += report.headline + "\n"
        for finding in report.findings:
            text += f"  {finding.severity}: {finding.summary} [{finding.id}]\n"
        if self.origin is not None:
            text += f"  {self.origin.text}\n"
        return text

    def flush(self) -> None:
        """Writes what waits, on the GPU too."""
        self._settle()
        self._watch.flush()

    def close(self) -> None:
        """Takes the hooks off the model, writes what waits and closes the run. Fine to call twice."""
        if self._closed:
            return
        self._closed = True
        take_off(self._hook, self._trace, self._clearing)
        if self._watch.here():
            self._settle()
            self._watch.finished("training ended")
            self._watch.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
