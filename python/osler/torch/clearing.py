"""Whether gradients are cleared between two steps, as seen when the first share of a new one arrives."""

from __future__ import annotations

import weakref
from typing import Any, Callable

import torch

_STEPS = 50  # after which it is known, or will not be


def _plain(tensor: Any) -> bool:
    """On the processor, dense, and not a shard: looking at it costs next to nothing, and talks to nobody."""
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.device.type == "cpu" and not tensor.is_sparse


class Clearing:
    """Looks at one small parameter of each optimizer. When a gradient arrives and finds none before it, or zeros, the one
    before has been cleared. Parameters that no optimizer holds are nobody's to clear.
    """

    def __init__(self, optimizers: list[torch.optim.Optimizer]) -> None:
        self._optimizers = optimizers
        self._cleared: dict[int, bool] = {}
        self._handles: list[Any] = []
        self._steps = 0
        self._certain = False

    def step(self) -> bool:
        """To be called at each step while its gradients are there. Whether those before it had been cleared; once they
        were, they are not summed up for ever.
        """
        self._steps += 1
        if self._certain or self._steps > _STEPS:
            return self._certain
        self._certain = len(self._cleared) == len(self._optimizers) and all(self._cleared.values())
        if self._certain or self._steps == _STEPS:
            self.remove()
        elif len(self._cleared) < len(self._optimizers):
            self._choose()
        return self._certain

    def _choose(self) -> None:
        for number, optimizer in enumerate(self._optimizers):
            if number in self._cleared:
                continue
            held = [each for group in optimizer.param_groups for each in group["params"]]
            pulled = [each for each in held if _plain(each) and _plain(each.grad) and bool(each.grad.any())]
            if pulled:
                chosen = min(pulled, key=lambda each: int(each.numel()))
                self._cleared[number] = False
                self._handles.append(chosen.register_hook(self._arriving(number, chosen)))

    def _arriving(self, number: int, parameter: torch.Tensor) -> Callable[[torch.Tensor], None]:
        seen, weak = self._cleared, weakref.ref(parameter)

        def arrives(gradient: torch.Tensor) -> None:
            alive = weak()
            if alive is not None and (alive.grad is None or not bool(alive.grad.any())):
                seen[number] = True

        return arrives

    def remove(self) -> None:
        """Takes the hooks off."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
