"""Samples compared one by one: what two splits share, and what two loads of one split differ in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Union

import torch

from osler.errors import InvalidError

Samples = Union[torch.Tensor, "torch.utils.data.Dataset[Any]", "torch.utils.data.DataLoader[Any]"]


def _inputs_of(item: Any) -> Any:
    """The inputs among what a data set or loader gives: the first of several things."""
    while not isinstance(item, torch.Tensor):
        if isinstance(item, Mapping) and item:
            item = next(iter(item.values()))
        elif isinstance(item, (list, tuple)) and len(item) > 0:
            item = item[0]
        elif hasattr(item, "__array__") or isinstance(item, (int, float)):
            return torch.as_tensor(item)
        else:
            raise InvalidError(f"samples of type {type(item).__name__} cannot be compared: give tensors", "invalid-argument")
    return item


def _items(data: Any) -> Iterator[Any]:
    """What a data set gives one by one; one with a length need not know by itself when to stop."""
    counted = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    yield from (data[i] for i in range(len(data))) if counted else data


def _prints(samples: Samples) -> list[int]:
    """A number for each sample; equal samples have equal numbers."""
    if isinstance(samples, torch.utils.data.DataLoader):
        return [each for batch in samples for each in _prints(_inputs_of(batch))]
    if isinstance(samples, torch.utils.data.Dataset):
        return [_prints(_inputs_of(item)[None])[0] for item in _items(samples)]
    if not isinstance(samples, torch.Tensor):
        words = f"samples are {type(samples).__name__}: give a tensor, a Dataset or a DataLoader"
        raise InvalidError(words, "invalid-argument")
    if samples.dim() == 0 or samples.shape[0] == 0:
        return []
    rows = samples.detach().cpu().contiguous().reshape(samples.shape[0], -1)
    return [hash(row.tobytes()) for row in rows.view(torch.uint8).numpy()]


def shared_samples(training: Samples, validation: Samples) -> float:
    """The share of `validation` samples that are in `training` too, for `Monitor.split_overlap`.

    Both are tensors with the samples along the first dimension, or data sets or loaders, of whose items the first part
    (the inputs) is compared. Samples count as equal when every bit is: switch random augmentation off before.
    """
    known = set(_prints(training))
    asked = _prints(validation)
    return sum(each in known for each in asked) / len(asked) if asked else 0.0


def changed_samples(first: Samples, second: Samples) -> float:
    """The share of samples that differ between two loads of the same data, for `Monitor.validation_changes`.

    1 when the loads are not of the same length: validation should give the same samples in the same order each time.
    """
    one, other = _prints(first), _prints(second)
    if len(one) != len(other):
        return 1.0
    return sum(a != b for a, b in zip(one, other)) / len(one) if one else 0.0
