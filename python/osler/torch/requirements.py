"""What the monitor asks of its arguments; errors say what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Optional

import torch

from osler.errors import InvalidError
from osler.torch.wrappers import is_sharded


def _require(right: bool, words: str) -> None:
    if not right:
        raise InvalidError(words, "invalid-argument")


def optimizers_in(given: Any) -> list[torch.optim.Optimizer]:
    """One optimizer, or those of a list, as a list."""
    several = isinstance(given, Iterable) and not isinstance(given, (str, dict))
    listed = list(given) if several else [given]
    for each in listed:
        _require(
            isinstance(each, torch.optim.Optimizer),
            f"{type(each).__name__} is no torch.optim.Optimizer; give the optimizer, or a list of them",
        )
    return listed


def require_model(model: Any) -> None:
    """A module, and not what belongs beside it."""
    _require(
        isinstance(model, torch.nn.Module),
        f"{type(model).__name__} is no torch.nn.Module; give the model first, then its optimizer",
    )


def require_shapes(model: torch.nn.Module) -> None:
    """A model whose layers know how large they are."""
    lazy = [name for name, each in model.named_parameters() if isinstance(each, torch.nn.parameter.UninitializedTensorMixin)]
    _require(
        not lazy,
        f"{lazy[0] if lazy else ''} has no shape yet: run one batch through the model before the optimizer and the monitor are made",
    )


def tensor_from(given: Any, what: str) -> torch.Tensor:
    """A tensor, or what numbers can be read as one: an array, a list of numbers."""
    if isinstance(given, torch.Tensor):
        return given
    try:
        return torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError):
        words = f"batch() takes {what} as one tensor, not as {type(given).__name__}: give the one that matters, such as"
        raise InvalidError(f"{words} batch['input_ids']", "invalid-argument") from None


def require_belonging(parameters: Sequence[torch.nn.Parameter], optimizers: Sequence[Any]) -> None:
    """A model with parameters, and optimizers that hold some of them."""
    _require(len(parameters) > 0, "the model has no parameters; assign its layers to attributes of the module")
    _require(len(optimizers) > 0, "no optimizer was given")
    own = {id(parameter) for parameter in parameters}
    for optimizer in optimizers:
        held = any(id(each) in own for group in optimizer.param_groups for each in group["params"])
        _require(held, "the optimizer holds no parameter of this model; was it made for another one?")


def require_limit(name: str, limit: Optional[float]) -> None:
    """A norm to clip to."""
    _require(
        limit is None or (math.isfinite(limit) and limit > 0),
        f"{name} is {limit}: write a limit above 0, such as 1, or leave it out for no clipping",
    )


def require_whole_norm(model: torch.nn.Module, limit: Optional[float]) -> None:
    """A norm to clip to is that of all gradients, which a process that holds shards does not know."""
    _require(
        limit is None or not is_sharded(model),
        "clip_norm clips by the gradients of this process, and the model is sharded: clip with the model's own "
        "clip_grad_norm_ or torch.nn.utils.clip_grad_norm_ before step()",
    )


def require_loss(loss: Any) -> None:
    """One number."""
    _require(
        isinstance(loss, torch.Tensor) and loss.numel() == 1,
        "the loss must be a single number; reduce it with mean() or sum() first",
    )


def require_graph(loss: torch.Tensor) -> None:
    """A loss whose backward pass has something to reach."""
    _require(
        loss.requires_grad,
        "the loss depends on no parameter, so that nothing can be learned from it; was it computed under no_grad(), or "
        "from detached tensors?",
    )


def require_whole_step(compute_loss: Any, optimizers: Sequence[torch.optim.Optimizer]) -> None:
    """What `train_step` can carry out."""
    _require(callable(compute_loss), "train_step() was given no function; give it one that returns the loss")
    _require(
        not any(isinstance(each, torch.optim.LBFGS) for each in optimizers),
        "LBFGS computes the loss several times in one step, which train_step() cannot watch; call "
        "optimizer.step(closure) yourself and monitor.step(loss) after it",
    )
