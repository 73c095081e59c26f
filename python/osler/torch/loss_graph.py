"""What the graph of a loss tells, also after the backward pass, when the tensors that it kept are gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Optional, Union

import torch

from osler import _core

_COMPARE = {"mse_loss", "smooth_l1loss", "huber_loss", "l1loss"}  # as nodes are named
_REDUCE = {"mean", "sum"}
_MEASURE = {"pow", "abs", "square"}
_TAKE_APART = {"sub", "rsub"}
_NEGATIVE_LIKELIHOOD = ("nll_loss", "nll_loss2d")
_SCALE = {"mul", "div"}
_OF_SAMPLES = {0, -2, 2**64 - 2}  # the first of two dimensions; nodes keep it without a sign


class _Node(NamedTuple):
    """A node of a graph in the place of the tensor that it made."""

    grad_fn: Any
    mean: bool = False  # of samples, though its node gives their sum


Root = Union[torch.Tensor, _Node]
"""Where a graph ends: a loss, or what stands for it."""


def graph_of(loss: Root, most: int = 64) -> list[tuple[str, list[int]]]:
    """The nodes behind a loss, its own first: the forward operation of each, and the numbers of those that it used."""
    numbers: dict[Any, int] = {loss.grad_fn: 0} if loss.grad_fn is not None else {}
    nodes = list(numbers)
    shown: list[tuple[str, list[int]]] = []
    for node in nodes:  # grows meanwhile
        used = []
        for each, _ in node.next_functions:
            if each is None or (each not in numbers and len(nodes) >= most):
                continue
            if each not in numbers:
                numbers[each] = len(nodes)
                nodes.append(each)
            used.append(numbers[each])
        shown.append((_core.plain_node_name(node.name()), used))
    return shown


def _nodes(loss: Root, most: int) -> Iterator[Any]:
    """The nodes behind a loss, the nearest first."""
    nodes = [loss.grad_fn] if loss.grad_fn is not None else []
    known = set(nodes)
    for node in nodes:  # grows meanwhile
        yield node
        for each, _ in node.next_functions:
            if each is not None and each not in known and len(nodes) < most:
                known.add(each)
                nodes.append(each)


def kind_of(loss: Root) -> int:
    """A number that is the same for losses that are computed alike, from the same outputs: by the last operations and the
    parameters nearest to the loss.
    """
    names: list[str] = []
    nearest: list[int] = []
    for node in _nodes(loss, 24):
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            nearest.append(id(variable))
        elif len(names) < 3:
            names.append(node.name())
        if len(nearest) == 2:
            break
    return hash((tuple(names), tuple(nearest))) & (2**63 - 1)


def _name(node: Any) -> str:
    return _core.plain_node_name(node.name()) if node is not None else ""


def _sizes(node: Any) -> Optional[tuple[int, ...]]:
    """The sizes of what went into an operation, where its node keeps them."""
    for attribute in ("_saved_self_sym_sizes", "_saved_self_sizes"):
        kept = getattr(node, attribute, None)
        if kept is not None:
            return tuple(int(each) for each in kept)
    return None


def _below(node: Any) -> Any:
    return node.next_functions[0][0] if node is not None and node.next_functions else None


def _below_scaling(node: Any) -> Any:
    while _name(node) in _SCALE:
        used = [each for each, _ in node.next_functions if each is not None]
        if len(used) != 1:
            break
        node = used[0]
    return node


def before_scaling(loss: torch.Tensor, mean: bool = False) -> Root:
    """The loss as it was before a framework multiplied or divided it by numbers; `mean`: those made a mean of its sum."""
    return _Node(_below_scaling(loss.grad_fn), mean)


def is_share_of_step(loss: torch.Tensor) -> bool:
    """Whether the loss is the sum over a batch, divided by a count: of all that goes into the step, by several batches."""
    node = _below_scaling(loss.grad_fn)
    return node is not loss.grad_fn and _name(node) in _NEGATIVE_LIKELIHOOD and getattr(node, "_saved_reduction", 0) == 2


def classes_of(loss: Root) -> Optional[int]:
    """How many classes a plain mean cross-entropy chooses among; None for any other loss, or where the graph does not tell."""
    node = loss.grad_fn
    if node is None or _name(node) not in _NEGATIVE_LIKELIHOOD:
        return None
    if getattr(node, "_saved_reduction", 0) != (2 if getattr(loss, "mean", False) is True else 1):
        return None
    scores = _below(node)
    before = _below(scores)
    while _name(before) == "to_copy":  # from half precision
        before = _below(before)
    if _name(scores) != "log_softmax" or before is None:
        return None
    sizes = _sizes(before) if _name(before) in ("view", "reshape", "reshape_alias", "unsafe_view") else None
    for attribute in ("_saved_mat2_sym_sizes", "_saved_mat2_sizes"):
        sizes = sizes or getattr(before, attribute, None)
    count = int(sizes[-1]) if sizes and _name(node) == "nll_loss" else 0
    return count if count >= 2 else None


def softmax_over_samples(loss: Root) -> bool:
    """Whether the loss of class indices, which takes [samples, classes], was given a softmax along the samples."""
    for node in _nodes(loss, 24):
        if _name(node) != "nll_loss":
            continue
        scores = _below(node)
        if _name(scores) == "log":
            scores = _below(scores)
        if _name(scores) in ("log_softmax", "softmax") and getattr(scores, "_saved_dim", 1) in _OF_SAMPLES:
            return True
    return False


def compares_all_with_all(loss: Root, targets: Optional[tuple[int, ...]]) -> bool:
    """Whether outputs of [N, 1] are compared with targets of [N], or the other way round, which gives N x N differences.
    `targets` are the sizes of the batch's labels.
    """
    if targets is None or len(targets) not in (1, 2) or targets[0] < 2 or targets[1:] not in ((), (1,)):
        return False
    count = targets[0]
    outputs = (count, 1) if len(targets) == 1 else (count,)
    for node in _nodes(loss, 24):
        name, below = _name(node), _below(node)
        if name in _COMPARE and _name(below) == "expand" and _sizes(below) == outputs:
            return True
        difference = _below(below)
        if name in _REDUCE and _sizes(node) == (count, count) and _name(below) in _MEASURE:
            # Of outputs and something else: a loss over all pairs of outputs has them on both sides.
            sides = [each for each, _ in difference.next_functions if each is not None] if difference is not None else []
            if _name(difference) in _TAKE_APART and len(sides) == 1:
                return True
    return False


class LossLook:
    """Tells a watch how the losses of the first steps were computed."""

    def __init__(self, watch: _core.StepWatch, classes: Optional[int]) -> None:
        self._watch = watch
        self._classes = classes
        self.targets: Optional[tuple[int, ...]] = None
        """The sizes of the labels that were shown for the step."""

    def take(self, loss: Root) -> None:
        """Once in each step where it is due."""
        if self._watch.loss_kind_due():
            self._watch.tell_loss_kind(kind_of(loss))
        if self._watch.loss_due():
            self._watch.tell_loss(graph_of(loss), compares_all_with_all(loss, self.targets), softmax_over_samples(loss))
            if self._classes is None:
                self._classes = classes_of(loss)
                if self._classes is not None:
                    self._watch.config("num_classes", str(self._classes))
