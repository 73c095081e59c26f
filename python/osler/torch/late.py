"""Steps of a model that is measured on its GPU: queued as they come, and told when they have landed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Callable, Optional

import torch

from osler import _core
from osler.errors import OslerError
from osler.torch import gpu as gpus
from osler.torch.loss_graph import LossLook, Root
from osler.torch.requirements import require_graph
from osler.torch.scaling import unscale
from osler.torch.trace import Trace


class LateSteps:
    """The steps of a `Monitor` whose parameters are measured where they lie; nothing waits for the device."""

    gradient_norm: Optional[float]
    _watch: _core.StepWatch
    _optimizers: list[torch.optim.Optimizer]
    _parameters: list[torch.nn.Parameter]
    _clip_norm: Optional[float]
    _tracing: bool
    _left: float
    _broken: Optional[tuple[int, str]]
    _loss_look: LossLook
    _skip: bool
    _trace: Trace
    _late: Optional[gpus.LateNews]

    def _late_news(self, device: Optional[int]) -> Optional[gpus.LateNews]:
        """What brings the news of a model on a GPU; None where it is watched through copies on the host."""
        if device is None:
            return None
        try:
            self._watch.use_gpu(device, gpus.cache_folder(), gpus.compilers())
        except OslerError as error:
            self.remark(f"The model is on a GPU and is measured through copies on the host, which is slow: {error}.")
            return None
        self._skip = False
        return gpus.LateNews(self._watch, device)

    def _step_late(self, loss: torch.Tensor, root: Root, scaler: Optional[Any], late: gpus.LateNews) -> bool:
        due = self._watch.arrive(False, self._tracing)
        self._finish_trace(root)
        self._examine_late(loss, root, scaler, late, due)
        self._leave()
        return True

    def _train_step_late(self, compute_loss: Callable[[], torch.Tensor], late: gpus.LateNews) -> bool:
        late.time_begins(time.perf_counter() - self._left)
        for optimizer in self._optimizers:
            optimizer.zero_grad()
        loss = compute_loss()
        self._require_loss(loss)
        require_graph(loss)
        late.time_passes("forward")
        loss.backward()
        late.time_passes("backward")
        due = self._watch.arrive(True, self._tracing)
        self._finish_trace(loss)
        self._examine_late(loss, loss, None, late, due)
        del loss
        self._keep()
        tracing = self._watch.leave()
        for optimizer in self._optimizers:
            optimizer.step()
        late.time_passes("optimizer")
        self._begin_next(tracing)
        return True

    def _examine_late(self, loss: torch.Tensor, root: Root, scaler: Optional[Any], late: gpus.LateNews, due: int) -> None:
        """Queues what is to be known of this step, and tells what has come of earlier ones."""
        watch = self._watch
        if scaler is not None and scaler.is_enabled():
            watch.scalar("loss_scale", float(scaler.get_scale()))
            unscale(scaler, self._optimizers)
        if due:
            self._loss_look.take(root)
            if due & _core.DUE_STATISTICS:
                self._tell_parameters()
        self._loss_look.targets = None
        try:
            looks = late.exchange(loss, self._parameters, watch.steps())
        except OslerError as error:
            self.remark(f"The GPU measures no more, and later steps are watched through copies on the host: {error}.")
            self._late = self._trace.late = None
            return
        self._tell_late(looks, scaler is not None)
        watch.tell_state(*self._state())
        if self._clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self._parameters, self._clip_norm)
        self._tell_news()

    def _tell_late(self, looks: Iterable[gpus.Look], scaled: bool = False) -> None:
        for look in looks:
            if look.norm is not None:
                self.gradient_norm = look.norm
            if look.finite or (scaled and not look.of_loss):  # a scaler expects overflows of gradients
                continue
            what = "The loss" if look.of_loss else f"The gradient of {look.first_bad}"
            text = f"{what} was not finite at step {look.step}. The step was done; skip_nonfinite=True leaves such steps out."
            self._watch.note(text)
            self._say(text)
            self._broken = (look.step, text)

    def _settle(self) -> None:
        """Waits for what the GPU still has to tell."""
        if self._late is None:
            return
        try:
            self._tell_late(self._late.settle())
        except OslerError as error:
            self._say(f"The newest samples are lost: {error}.")

    # What the monitor does with every step, wherever it is measured.

    def remark(self, text: str) -> None:
        raise NotImplementedError

    def _require_loss(self, loss: Any) -> None:
        raise NotImplementedError

    def _finish_trace(self, root: Root) -> None:
        raise NotImplementedError

    def _tell_parameters(self) -> None:
        raise NotImplementedError

    def _state(self) -> tuple[list[float], Optional[bool]]:
        raise NotImplementedError

    def _tell_news(self) -> None:
        raise NotImplementedError

    def _say(self, text: str) -> None:
        raise NotImplementedError

    def _keep(self) -> None:
        raise NotImplementedError

    def _leave(self) -> None:
        raise NotImplementedError

    def _begin_next(self, tracing: bool) -> None:
        raise NotImplementedError
