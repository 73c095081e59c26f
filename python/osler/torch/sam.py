"""Sam: sharpness-aware minimisation around any optimizer."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch

from osler.errors import InvalidError


class Sam:
    """Sharpness-aware minimisation (Foret et al. 2021): the gradient is taken not where the weights are but a little way
    uphill, and the optimizer steps with it from where they were. That lowers the worst loss nearby, which leads to flat
    places. A step costs two forward and two backward passes.

        sam = Sam(optimizer)
        ...
        loss.backward()
        if monitor.step(loss):
            sam.climb()
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            sam.descend()
            optimizer.step()

    `radius` is the length of the way uphill, over all weights together. Layers with running statistics see both passes.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, radius: float = 0.05) -> None:
        if not (radius > 0 and math.isfinite(radius)):
            raise InvalidError(f"radius is {radius}: write a length above 0, such as 0.05", "invalid-argument")
        self._optimizer = optimizer
        self._radius = radius
        self._before: list[tuple[torch.Tensor, torch.Tensor]] = []

    def _with_gradients(self) -> list[Any]:
        every = (parameter for group in self._optimizer.param_groups for parameter in group["params"])
        return [each for each in every if each.grad is not None and not each.grad.is_sparse]

    def climb(self) -> bool:
        """Moves the weights uphill along their gradients. False, and nothing is moved, when all are zero or one is not
        finite: there is no direction.
        """
        self.descend()
        parameters = self._with_gradients()
        with torch.no_grad():
            norm = math.sqrt(sum(float(parameter.grad.double().pow(2).sum()) for parameter in parameters))
            if not math.isfinite(norm) or norm == 0:
                return False
            for parameter in parameters:
                self._before.append((parameter, parameter.detach().clone()))
                parameter.add_(parameter.grad, alpha=self._radius / norm)
        return True

    def descend(self) -> None:
        """Puts the weights back, bit for bit."""
        with torch.no_grad():
            for parameter, before in self._before:
                parameter.copy_(before)
        self._before.clear()

    def step(self, compute_loss: Callable[[], torch.Tensor]) -> torch.Tensor:
        """A whole step, with the optimizer's: `compute_loss` is called twice, and gradients are cleared before each.
        Returns the loss where the weights were.
        """
        self._optimizer.zero_grad()
        loss = compute_loss()
        loss.backward()
        if self.climb():
            try:
                self._optimizer.zero_grad()
                compute_loss().backward()
            finally:
                self.descend()
        self._optimizer.step()
        return loss.detach()


__all__ = ["Sam"]
