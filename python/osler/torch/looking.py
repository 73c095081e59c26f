"""look: the activations of chosen inputs, layer by layer, in evaluation mode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional

import torch

from osler.errors import InvalidError
from osler.torch.layers import watched


@dataclass(frozen=True)
class Activations:
    """What one layer says of the inputs it was shown."""

    layer: str
    kind: str
    """The module's class."""
    mean: float
    deviation: float
    lowest: float
    highest: float
    zero_share: float
    """Of all values, how many are exactly zero."""
    dead_share: Optional[float]
    """Of the units, how many are exactly zero for every sample; None for an output without units."""
    edges: list[float]
    """Of the histogram: one more than `counts`, in equal steps from the lowest to the highest finite value."""
    counts: list[int]
    nonfinite: int


class Look(list[Activations]):
    """All layers in the order of the forward pass. Printing it gives a table."""

    def __str__(self) -> str:
        width = max([len(each.layer) for each in self], default=5)
        lines = [f"{'layer':{width}}  {'mean':>10}  {'deviation':>10}  {'lowest':>10}  {'highest':>10}  {'zero':>6}  {'dead':>6}"]
        for each in self:
            dead = "-" if each.dead_share is None else f"{each.dead_share:.0%}"
            figures = (each.mean, each.deviation, each.lowest, each.highest)
            lines.append(
                f"{each.layer:{width}}  {'  '.join(f'{figure:10.4g}' for figure in figures)}  {each.zero_share:6.0%}  {dead:>6}"
            )
        return "\n".join(lines)


def _dead_share(output: torch.Tensor) -> Optional[float]:
    if output.dim() < 2:
        return None
    axis = 1 if output.dim() == 4 else output.dim() - 1  # a channel of a map, or a place of a vector
    units = output.transpose(0, axis).flatten(1)
    return float((units == 0).all(1).double().mean())


def _activations(layer: str, kind: str, output: torch.Tensor, bins: int) -> Activations:
    values = output.detach().to(device="cpu", dtype=torch.float64)
    finite = values[torch.isfinite(values)]
    nothing = finite.numel() == 0
    lowest, highest = (math.nan, math.nan) if nothing else (float(finite.min()), float(finite.max()))
    span = highest - lowest if not nothing and highest > lowest else 0.0
    counts = torch.histc(finite, bins, lowest, highest) if span > 0 else torch.tensor([float(finite.numel())])
    steps = len(counts)
    return Activations(
        layer,
        kind,
        mean=float(finite.mean()) if not nothing else math.nan,
        deviation=float(finite.std(unbiased=False)) if not nothing else math.nan,
        lowest=lowest,
        highest=highest,
        zero_share=float((values == 0).double().mean()) if values.numel() else 0.0,
        dead_share=_dead_share(values),
        edges=[lowest + span * step / steps for step in range(steps + 1)],
        counts=[int(count) for count in counts],
        nonfinite=values.numel() - finite.numel(),
    )


def look(model: torch.nn.Module, *inputs: Any, bins: int = 40) -> Look:
    """The activations of every layer for these inputs, in evaluation mode and without a graph.

        print(osler.torch.look(model, x))

    Layers are modules without children, each in its first call. Modes are put back; weights, running statistics and
    random numbers are not touched.
    """
    if not inputs:
        raise InvalidError("look(model) was given no inputs; give it what the model is called with", "invalid-argument")
    modes = [(module, module.training) for module in model.modules()]
    try:
        model.eval()
        with watched(model) as seen, torch.no_grad():
            model(*inputs)
            return Look(_activations(each.name, each.kind, each.output, bins) for each in seen)
    finally:
        for module, training in modes:
            module.training = training


__all__ = ["Activations", "Look", "look"]
