"""What layers do in one forward pass: silent units, saturated ones, the size of signal and gradient."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

import torch

from osler.torch.training import Training

# Units of these can be silent for ever, and saturate.
_CAN_DIE = ("ReLU", "ReLU6", "Threshold", "Hardtanh")
_CAN_SATURATE = {"Sigmoid": (0.0, 1.0), "Tanh": (-1.0, 1.0), "Hardsigmoid": (0.0, 1.0)}
_SATURATED = 0.02  # of the range, from either end


@dataclass
class Seen:
    """One module's output in a forward pass."""

    name: str
    kind: str
    output: torch.Tensor
    gradients: list[float] = field(default_factory=list)


@contextlib.contextmanager
def watched(model: torch.nn.Module, gradients: bool = False) -> Iterator[list[Seen]]:
    """The outputs of every module without children, in the order in which they are computed; each module once."""
    seen: list[Seen] = []
    known: set[str] = set()
    handles = []

    def hook_for(name: str) -> Any:
        def hook(module: Any, inputs: Any, output: Any) -> None:
            if isinstance(output, (list, tuple)) and output:
                output = output[0]
            if name in known or not isinstance(output, torch.Tensor) or not output.is_floating_point():
                return
            known.add(name)
            layer = Seen(name, type(module).__name__, output.detach())
            seen.append(layer)
            if gradients and output.requires_grad:
                output.register_hook(
                    lambda gradient: layer.gradients.append(float(gradient.detach().double().square().mean().sqrt()))
                )

        return hook

    for name, module in model.named_modules():
        if not any(True for _ in module.children()) and not isinstance(module, torch.jit.ScriptModule):
            handles.append(module.register_forward_hook(hook_for(name or type(module).__name__)))
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def silent_layers(training: Training, batch: Any) -> list[tuple[str, int, int]]:
    """For every layer whose units can die: how many are zero for every sample, of how many."""
    with watched(training.model) as seen, torch.no_grad():
        training.loss_of(batch)
    found = []
    for layer in seen:
        if layer.kind not in _CAN_DIE or layer.output.dim() < 2:
            continue
        # A unit is a channel of a map, or a place of a vector; sequences have theirs last.
        units = layer.output.flatten(2).amax(2) if layer.output.dim() == 4 else layer.output.reshape(-1, layer.output.shape[-1])
        found.append((layer.name, int((units.amax(0) <= 0).sum()), int(units.shape[1])))
    return found


def saturated_layers(training: Training, batch: Any) -> list[tuple[str, float]]:
    """For every layer that can saturate: the share of its outputs that do."""
    with watched(training.model) as seen, torch.no_grad():
        training.loss_of(batch)
    found = []
    for layer in seen:
        ends = _CAN_SATURATE.get(layer.kind)
        if ends is None:
            continue
        margin = _SATURATED * (ends[1] - ends[0])
        inside = (layer.output > ends[0] + margin) & (layer.output < ends[1] - margin)
        found.append((layer.name, 1 - float(inside.double().mean())))
    return found


def spread_of(output: torch.Tensor) -> Optional[float]:
    """How far samples differ from their mean, relative to their size; None for a single sample."""
    if output.dim() < 2 or output.shape[0] < 2:
        return None
    rows = output.detach().double().flatten(1)
    size = float(rows.square().sum())
    return float((rows - rows.mean(0, keepdim=True)).square().sum()) / size if size > 0 else 0.0
