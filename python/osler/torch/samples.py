"""Samples compared one by one: what two splits share, and what two loads of one split differ in."""

from __future__ import annotations

import torch


def _prints(samples: torch.Tensor) -> list[int]:
    """A number for each sample along the first dimension; equal samples have equal numbers."""
    if samples.dim() == 0 or samples.shape[0] == 0:
        return []
    rows = samples.detach().cpu().contiguous().reshape(samples.shape[0], -1)
    return [hash(row.tobytes()) for row in rows.view(torch.uint8).numpy()]


def shared_samples(training: torch.Tensor, validation: torch.Tensor) -> float:
    """The share of `validation` samples that are in `training` too, for `Monitor.split_overlap`.

    Samples lie along the first dimension and count as equal when every bit is.
    """
    known = set(_prints(training))
    asked = _prints(validation)
    return sum(each in known for each in asked) / len(asked) if asked else 0.0


def changed_samples(first: torch.Tensor, second: torch.Tensor) -> float:
    """The share of samples that differ between two loads of the same data, for `Monitor.validation_changes`.

    1 when the loads are not of the same length: validation should give the same samples in the same order each time.
    """
    one, other = _prints(first), _prints(second)
    if len(one) != len(other):
        return 1.0
    return sum(a != b for a, b in zip(one, other)) / len(one) if one else 0.0
