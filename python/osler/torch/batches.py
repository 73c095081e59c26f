"""What a monitor asks of the batches that it is shown."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

import torch


@dataclass(frozen=True)
class BatchReport:
    """What a batch is like."""

    inputs: int
    nonfinite: int
    mean: float
    std: float
    abs_max: float
    identical_samples: bool
    repeated: bool
    labels: int
    invalid_labels: int
    constant_label: bool
    largest_class_share: float
    problems: list[str] = field(default_factory=list)
    """One sentence each; empty for a healthy batch."""


_INPUTS = ("input_ids", "pixel_values", "input_values", "input_features", "inputs", "x")
_LABELS = ("labels", "label", "targets", "y")


def pair_of(batch: Any) -> tuple[Optional[torch.Tensor], Optional[torch.Tensor]]:
    """Inputs and labels of what a loader gives, as far as they can be told: of a tensor, a list, a dict. Labels of tokens
    are none: no class of theirs need be as frequent as another.
    """
    inputs: Any = batch
    labels: Any = None
    if isinstance(batch, (list, tuple)):
        inputs, labels = (batch[0] if batch else None), (batch[1] if len(batch) > 1 else None)
    elif isinstance(batch, Mapping):
        inputs = next((batch[name] for name in _INPUTS if isinstance(batch.get(name), torch.Tensor)), None)
        labels = next((batch[name] for name in _LABELS if isinstance(batch.get(name), torch.Tensor)), None)
    if not isinstance(inputs, torch.Tensor):
        return None, None
    of_tokens = isinstance(labels, torch.Tensor) and labels.dim() > 1 and not labels.is_floating_point()
    return inputs, labels if isinstance(labels, torch.Tensor) and not of_tokens else None


class NewestBatch:
    """Knows a tensor again that the program holds and shows at every step: all of its data, or a batch on purpose. A loader
    that gives the same numbers again makes a new tensor of them.
    """

    def __init__(self) -> None:
        self._tensor: Optional[weakref.ref[torch.Tensor]] = None
        self._version = 0

    def is_again(self, inputs: torch.Tensor) -> bool:
        """Whether these are the inputs of the call before, unchanged."""
        before = self._tensor() if self._tensor is not None else None
        version = int(inputs._version)
        again = before is inputs and version == self._version
        self._tensor, self._version = weakref.ref(inputs), version
        return again


def samples_in_step(loader: Any, batches: int) -> Optional[int]:
    """How many samples the gradient of a step is of, where the loader tells how many it gives at once."""
    sizes = [getattr(each, "batch_size", None) for each in (loader, getattr(loader, "batch_sampler", None))]
    known = [size for size in sizes if isinstance(size, int) and size > 0]
    return known[0] * batches if known else None


def batch_views(
    inputs: torch.Tensor, labels: Optional[torch.Tensor], classes: Optional[int]
) -> tuple[Any, Any, int, bool, Any, bool]:
    """What the core looks at: values, the numbers as they are, samples, whether they are indices, labels, whether those are
    classes. Of sparse inputs the numbers that they hold, which are not told apart by samples.
    """
    with torch.no_grad():
        held = inputs.detach()
        samples = int(held.shape[0]) if held.dim() > 0 and not held.is_sparse else 0
        raw = (held.coalesce().values() if held.is_sparse else held).cpu().contiguous()
        values = raw if raw.is_floating_point() else raw.float()
        indices = raw.dtype in (torch.int64, torch.int32)
        if labels is None:
            return values, raw, samples, indices, None, False
        numbers = labels.detach().reshape(-1).to(device="cpu", dtype=torch.float64).contiguous()
        return values, raw, samples, indices, numbers, not labels.is_floating_point() or classes is not None
