"""The loss scale of a training in half precision: gradients are looked at as they are, not as the backward pass made them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch


class Unscaled:
    """A `GradScaler` whose framework has unscaled the gradients already: it still tells the scale, and does no more."""

    def __init__(self, scaler: Any) -> None:
        self._scaler = scaler

    def is_enabled(self) -> bool:
        """Whether losses are scaled at all."""
        return bool(self._scaler.is_enabled())

    def get_scale(self) -> float:
        """By what losses are multiplied."""
        return float(self._scaler.get_scale())

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Has been done."""


def unscale(scaler: Any, optimizers: Iterable[torch.optim.Optimizer]) -> None:
    """Divides the gradients by the scale, unless that has been done in this step: for clipping, for instance."""
    for optimizer in optimizers:
        try:
            scaler.unscale_(optimizer)
        except RuntimeError as error:  # a scaler tells nothing of its state before it is asked
            if "already been called" not in str(error):
                raise


def scale_of(scaler: Any) -> float:
    """By what a scaler multiplies losses; 1 without one."""
    return float(scaler.get_scale()) if scaler is not None and scaler.is_enabled() else 1.0
