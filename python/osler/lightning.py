"""Osler for Lightning: one callback.

    from osler.lightning import OslerCallback
    trainer = Trainer(callbacks=[OslerCallback()])

It watches the layers, the batches and the modes, records what the module logs, and says what is wrong as it is seen.
Losses and gradients are those of the module: what is scaled for half precision or divided for accumulation is told as it was.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional, Union

from osler.report import Report
from osler.torch.batches import pair_of, samples_in_step
from osler.torch.model import optimizers_of
from osler.torch.monitor import Monitor
from osler.torch.scaling import Unscaled, scale_of, unscale

if TYPE_CHECKING:
    Callback = Any
else:
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback


class OslerCallback(Callback):
    """Osler in a Lightning training. `stop_on_critical` ends the training when it is hopeless (`Monitor.hopeless`); every
    other option is one of `osler.torch.Monitor`; `batch_size` and `classes` are found out unless you give them. After
    the training `report` holds the diagnosis.
    """

    def __init__(
        self,
        run_file: Optional[Union[str, os.PathLike[str]]] = None,
        *,
        stop_on_critical: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        self._run_file = run_file
        self._stop = stop_on_critical
        self._options = options
        self._loss: Any = None
        self.monitor: Optional[Monitor] = None
        self.report: Optional[Report] = None

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """Takes from the trainer what it knows. Of several processes the first one watches."""
        if not trainer.is_global_zero:
            return
        options = dict(self._options)
        steps_together = trainer.accumulate_grad_batches * trainer.world_size
        options.setdefault("batch_size", samples_in_step(trainer.train_dataloader, steps_together))
        # The monitor looks at the run only when somebody wants to know.
        options.setdefault("on_finding", lambda finding, severity, summary: None)
        self.monitor = Monitor(
            module,
            trainer.optimizers,
            run_file=self._run_file,
            skip_nonfinite=False,
            first_step=int(trainer.global_step),
            **options,
        )
        for key, value in {
            "precision": trainer.precision,
            "accumulate_grad_batches": trainer.accumulate_grad_batches,
            "max_grad_norm": trainer.gradient_clip_val,
            "max_epochs": trainer.max_epochs,
        }.items():
            if value is not None:
                self.monitor.config(key, value)

    def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int) -> None:
        """Shows the batch."""
        inputs, labels = pair_of(batch)
        if self.monitor is not None and inputs is not None:
            self.monitor.batch(inputs, labels)

    def on_before_backward(self, trainer: Any, module: Any, loss: Any) -> None:
        """Keeps the loss until the step."""
        self._loss = loss

    def on_before_optimizer_step(self, trainer: Any, module: Any, optimizer: Any, *rest: Any) -> None:
        """Looks at the step: gradients are there, unscaled but for optimizers that do so themselves."""
        loss, self._loss = self._loss, None  # the graph goes before the next one comes
        if self.monitor is not None and loss is not None:
            scaler = getattr(trainer.precision_plugin, "scaler", None)
            if scaler is not None and getattr(optimizer, "_step_supports_amp_scaling", False):
                unscale(scaler, optimizers_of(optimizer))
            whole = loss.detach() * (trainer.accumulate_grad_batches / scale_of(scaler))
            self.monitor.framework_step(loss, whole, Unscaled(scaler) if scaler is not None else None)
            why = self.monitor.hopeless if self._stop else None
            if why is not None and not trainer.should_stop:
                trainer.should_stop = True
                self.monitor.ends(why)

    def on_validation_batch_start(
        self, trainer: Any, module: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Shows a batch of validation."""
        if self.monitor is not None and not trainer.sanity_checking:
            self.monitor.validation_batch(None, *pair_of(batch))

    def on_validation_epoch_end(self, trainer: Any, module: Any) -> None:
        """Records what validation found."""
        if self.monitor is None or trainer.sanity_checking:
            return
        for name, value in trainer.callback_metrics.items():
            plain = name.replace("val_", "", 1).replace("val/", "", 1)
            if name.startswith("val"):
                self.monitor.validation(**{plain: float(value)})

    def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
        """Records the epoch."""
        if self.monitor is not None:
            self.monitor.epoch(int(trainer.current_epoch))

    def on_fit_end(self, trainer: Any, module: Any) -> None:
        """Ends the run."""
        if self.monitor is not None:
            self.report = self.monitor.report()
            self.monitor.close()

    def on_exception(self, trainer: Any, module: Any, exception: BaseException) -> None:
        """Keeps what was recorded before the training broke."""
        self.on_fit_end(trainer, module)
