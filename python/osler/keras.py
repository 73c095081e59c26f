"""Osler for Keras 3, on any of its back ends: one callback.

    from osler.keras import OslerCallback
    model.fit(x, y, validation_split=0.2, callbacks=[OslerCallback()])

It records losses, metrics, learning rate and weight norms, and says what is wrong.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from osler import _core
from osler.recorder import Recorder
from osler.report import Report

if TYPE_CHECKING:
    Callback = Any
else:
    from keras.callbacks import Callback


def _classes_of(model: Any) -> Optional[int]:
    """How many classes a model chooses among, where its one loss is a cross-entropy."""
    loss = getattr(model, "loss", None)
    name = loss if isinstance(loss, str) else getattr(loss, "name", "")
    shape = getattr(model, "output_shape", None)
    if not isinstance(name, str) or not isinstance(shape, tuple) or not shape or not isinstance(shape[-1], int):
        return None
    if name == "binary_crossentropy":
        return 2 if shape[-1] == 1 else None
    return shape[-1] if name in ("sparse_categorical_crossentropy", "categorical_crossentropy") and shape[-1] > 1 else None


class OslerCallback(Callback):
    """Osler in a Keras training. The run is diagnosed after each epoch: what is new goes to `on_line` (standard error
    unless you say otherwise). `stop_on_critical` ends the training when it is hopeless: a critical finding that is at
    least 90 % sure (or 80 %, and lasts), a training that has got worse and not merely no better, 30 batches, and later
    epochs that show it still. `classes` is found out where the loss is a cross-entropy, unless you give it;
    `batch_size` Keras tells nobody. After the training `report` holds the diagnosis.
    """

    def __init__(
        self,
        run_file: Optional[Union[str, os.PathLike[str]]] = None,
        *,
        stop_on_critical: bool = False,
        weights: bool = True,
        classes: Optional[int] = None,
        batch_size: Optional[int] = None,
        on_line: Optional[Callable[[str], None]] = lambda line: print(line, file=sys.stderr),
    ) -> None:
        super().__init__()
        self._run_file = run_file
        self._judge = _core.StopJudge(30) if stop_on_critical else None
        self._weights = weights
        self._classes = classes
        self._batch_size = batch_size
        self._on_line = on_line
        self._told: set[tuple[str, str]] = set()
        self._step = 0
        self.recorder: Optional[Recorder] = None
        self.report: Optional[Report] = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Takes from the model what it knows."""
        self.recorder = Recorder(self._run_file, name=getattr(self.model, "name", "") or "training")
        optimizer = getattr(self.model, "optimizer", None)
        settings: dict[str, Any] = {"optimizer": type(optimizer).__name__, **(self.params or {})}
        for key in ("clipnorm", "global_clipnorm", "weight_decay"):
            value = getattr(optimizer, key, None)
            if value is not None:
                settings[key] = value
        classes = self._classes if self._classes is not None else _classes_of(self.model)
        for key, value in (("num_classes", classes), ("batch_size", self._batch_size)):
            if value is not None:
                settings[key] = value
        self.recorder.config(settings)

    def _rate(self) -> Optional[float]:
        from keras import ops

        rate = getattr(getattr(self.model, "optimizer", None), "learning_rate", None)
        try:
            return float(ops.convert_to_numpy(rate))  # a variable of some back ends is no number by itself
        except (AttributeError, TypeError, ValueError):
            return None

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Records the running means that Keras gives."""
        if self.recorder is None:
            return
        values = {f"train/running_{name}": value for name, value in (logs or {}).items()}
        rate = self._rate()
        if rate is not None:
            values["lr"] = rate
        self.recorder.log(values, step=self._step)
        self._step += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Records the epoch and looks at the run."""
        if self.recorder is None:
            return
        step = max(self._step - 1, 0)
        values: dict[str, float] = {"epoch": float(epoch)}
        for name, value in (logs or {}).items():
            values[f"validation/{name[4:]}" if name.startswith("val_") else f"train/{name}"] = float(value)
        if self._weights:
            values.update(self._weight_norms())
        self.recorder.log(values, step=step)
        self._look(epoch)

    def _weight_norms(self) -> dict[str, float]:
        from keras import ops

        norms = {}
        for weight in self.model.trainable_variables:
            name = getattr(weight, "path", weight.name).replace("/", ".")
            norms[f"weights/{name}#norm"] = float(ops.norm(ops.reshape(weight, (-1,))))
        return norms

    def _look(self, epoch: int) -> None:
        if self.recorder is None:
            return
        self.report = self.recorder.report()
        for finding in self.report.findings:
            if finding.severity == "note" or (finding.id, finding.severity) in self._told:
                continue
            self._told.add((finding.id, finding.severity))
            if self._on_line is not None:
                self._on_line(f"osler: epoch {epoch + 1}: {finding.severity}: {finding.summary} [{finding.id}]")
        why = self.recorder._hopeless(self._judge, self.report) if self._judge is not None else None
        if why is not None and not self.model.stop_training:
            self.model.stop_training = True
            self.recorder.note(f"ended by Osler: {why}")
            if self._on_line is not None:
                self._on_line(f"osler: epoch {epoch + 1}: ends the training: {why}")

    def on_train_end(self, logs: Any = None) -> None:
        """Ends the run."""
        if self.recorder is not None:
            self.report = self.recorder.report()
            self.recorder.close()
