"""Osler for the Hugging Face Trainer, and so for TRL: one callback.

    from osler.transformers import OslerCallback
    trainer = Trainer(..., callbacks=[OslerCallback()])

It records what the trainer logs, looks at the layers' gradients, weights and activations, and says what is wrong.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

import torch

from osler.report import Report
from osler.torch.batches import pair_of
from osler.torch.loss_graph import is_share_of_step
from osler.torch.model import optimizers_of
from osler.torch.monitor import Monitor

if TYPE_CHECKING:
    TrainerCallback = Any
else:
    from transformers import TrainerCallback

_SETTINGS = (
    "learning_rate",
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "max_grad_norm",
    "weight_decay",
    "warmup_steps",
    "warmup_ratio",
    "lr_scheduler_type",
    "num_train_epochs",
    "max_steps",
    "fp16",
    "bf16",
    "seed",
)


def _show_inputs(model: Any, show: Callable[[tuple[Any, ...], dict[str, Any]], None]) -> Callable[[], None]:
    """Shows what goes into the model; what it returns ends that."""
    try:
        handle = model.register_forward_pre_hook(lambda module, given, named: show(given, named), with_kwargs=True)
        remove: Callable[[], None] = handle.remove
        return remove
    except TypeError:  # before PyTorch 2.0 hooks are not told what is given by name
        forward = model.forward
        own = "forward" in vars(model)

        @functools.wraps(forward)
        def shown(*given: Any, **named: Any) -> Any:
            show(given, named)
            return forward(*given, **named)

        model.forward = shown
        return lambda: setattr(model, "forward", forward) if own else delattr(model, "forward")


class OslerCallback(TrainerCallback):
    """Osler in a Hugging Face training. `stop_on_critical` ends the training when it is hopeless (`Monitor.hopeless`);
    every other option is one of `osler.torch.Monitor`; `batch_size` and `classes` are found out unless you give them.
    After the training `report` holds the diagnosis.

    The trainer tells a callback no loss, so it is taken from the model's output. Where the model gives none, as where the
    trainer computes it, only what the trainer logs is recorded, and one line says so.
    """

    def __init__(
        self,
        run_file: Optional[Union[str, os.PathLike[str]]] = None,
        *,
        stop_on_critical: bool = False,
        **options: Any,
    ) -> None:
        self._run_file = run_file
        self._stop = stop_on_critical
        self._options = options
        self._loss: Any = None
        self._shares: Any = None
        self._scaler: Any = None
        self._logs_loss = False
        self.monitor: Optional[Monitor] = None
        self.report: Optional[Report] = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **seen: Any) -> None:
        """Takes from the trainer what it knows."""
        model, optimizer = seen.get("model"), seen.get("optimizer")
        if model is None or optimizer is None or not state.is_world_process_zero:
            return
        options = dict(self._options)
        batches = max(1, args.gradient_accumulation_steps) * max(1, args.world_size)
        options.setdefault("batch_size", (state.train_batch_size or args.train_batch_size) * batches)
        self._scaler = getattr(optimizer, "scaler", None)
        # The monitor looks at the run only when somebody wants to know.
        options.setdefault("on_finding", lambda finding, severity, summary: None)
        self.monitor = Monitor(
            model,
            optimizers_of(optimizer),
            run_file=self._run_file,
            skip_nonfinite=False,
            first_step=int(state.global_step),
            **options,
        )
        for name in _SETTINGS:
            if hasattr(args, name):
                self.monitor.config(name, getattr(args, name))

        def remember(module: Any, inputs: Any, output: Any) -> None:
            loss = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
            if loss is not None and module.training and getattr(loss, "requires_grad", False):
                self._take(loss)

        self._handle = model.register_forward_hook(remember)
        self._show_no_more = _show_inputs(model, self._show)

    def _show(self, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A batch on its way into the model; in evaluation the trainer lets no graph be built."""
        if self.monitor is None:
            return
        inputs, labels = pair_of(named or given)
        if inputs is None:
            return
        if torch.is_grad_enabled():
            self.monitor.batch(inputs, labels)
        else:
            self.monitor.validation_batch(None, inputs, labels)

    def _take(self, loss: Any) -> None:
        if is_share_of_step(loss):
            share = loss.detach()
            self._shares = share if self._shares is None else self._shares + share
        self._loss = loss

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **seen: Any) -> None:
        """Looks at the step: gradients are there and clipped. The loss is that of the newest batch, or that of the step
        where its batches share it out.
        """
        loss, whole = self._loss, self._shares
        self._loss = self._shares = None  # the graph goes before the next one comes
        if self.monitor is None:
            return
        if loss is None or loss.numel() != 1:
            self._logs_loss = True
            self.monitor.remark("The model gives no loss of its own: the loss is that of the log, and gradients are not looked at.")
            self.monitor.step_unseen()
            return
        if whole is None:
            self.monitor.step(loss, scaler=self._scaler)
        else:
            self.monitor.framework_step(loss, whole, self._scaler, mean=True)
        why = self.monitor.hopeless if self._stop else None
        if why is not None and not control.should_training_stop:
            control.should_training_stop = True
            self.monitor.ends(why)

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[dict[str, Any]] = None, **seen: Any) -> None:
        """Records what the trainer logs beside what is known already."""
        if self.monitor is None:
            return
        for name, value in (logs or {}).items():
            if not isinstance(value, (int, float)):
                continue
            if name.startswith("eval_"):
                self.monitor.validation(**{name[len("eval_") :]: float(value)})
            elif name == "loss" and self._logs_loss:
                self.monitor.log("train/loss", float(value))
            elif name not in ("loss", "grad_norm", "learning_rate", "epoch"):
                self.monitor.log(name, float(value))

    def on_train_end(self, args: Any, state: Any, control: Any, **seen: Any) -> None:
        """Ends the run."""
        if self.monitor is not None:
            self._handle.remove()
            self._show_no_more()
            self.report = self.monitor.report()
            self.monitor.close()
