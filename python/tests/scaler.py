"""PyTorch's GradScaler on the processor: its own where it has one, otherwise one that keeps the same rules."""

from __future__ import annotations

from typing import Any

import torch


class _HostScaler:
    """The rules of `torch.cuda.amp.GradScaler`, which before PyTorch 2.3 does nothing without a GPU: what is unscaled once
    must not be again before the update, a step with gradients that are not finite is left out, and the scale then halves.
    """

    def __init__(self, init_scale: float) -> None:
        self._scale = init_scale
        self._found: dict[int, bool] = {}

    def is_enabled(self) -> bool:
        return True

    def get_scale(self) -> float:
        return self._scale

    def scale(self, loss: Any) -> Any:
        return loss * torch.tensor(self._scale)

    def unscale_(self, optimizer: Any) -> None:
        if id(optimizer) in self._found:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        gradients = [each.grad for group in optimizer.param_groups for each in group["params"] if each.grad is not None]
        for gradient in gradients:
            gradient.mul_(1.0 / self._scale)
        self._found[id(optimizer)] = not all(bool(gradient.isfinite().all()) for gradient in gradients)

    def step(self, optimizer: Any, *rest: Any, **options: Any) -> Any:
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        return None if self._found[id(optimizer)] else optimizer.step(*rest, **options)

    def update(self, new_scale: Any = None) -> None:
        if any(self._found.values()):
            self._scale *= 0.5
        self._found.clear()

    def state_dict(self) -> dict[str, Any]:
        return {"scale": self._scale}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._scale = state["scale"]


def host_scaler(init_scale: float) -> Any:
    """A scaler that scales on the processor, and does not grow during a test."""
    if hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler("cpu", init_scale=init_scale, growth_interval=10_000)
    return _HostScaler(init_scale)
