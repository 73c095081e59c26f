"""What a monitor asks of a model, its optimizers and its batches."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, Callable, Optional, Union

import torch

from osler import _core
from osler.torch.clearing import Clearing
from osler.torch.origin import bad_facts, counted
from osler.torch.trace import Trace, compiling
from osler.torch.wrappers import users_name

_SMALL_BUFFER = 4096


def inner(model: torch.nn.Module) -> tuple[torch.nn.Module, bool]:
    """The model inside wrappers, whose layers have the names the user gave them, and whether it is compiled."""
    compiled = False
    while True:
        original = getattr(model, "_orig_mod", None)
        if isinstance(original, torch.nn.Module):
            model, compiled = original, True
        elif type(model).__name__ in ("DistributedDataParallel", "DataParallel"):
            model = model.module
        else:
            return model, compiled


def depends_on_mode(model: torch.nn.Module) -> bool:
    """Whether training and evaluation mode make a difference."""
    names = {type(module).__name__ for module in model.modules()}
    return any("Dropout" in name or "BatchNorm" in name for name in names)


def builds_graph(model: torch.nn.Module, outputs: Sequence[torch.Tensor]) -> bool:
    """Whether one of the outputs of validation hangs on a graph that could have been done without: TorchScript builds one even where
    gradients are switched off.
    """
    return any(each.requires_grad for each in outputs) and (torch.is_grad_enabled() or not isinstance(model, torch.jit.ScriptModule))


class KeptBuffers:
    """The buffers that a forward pass may change: running statistics and their like, not large constant tables."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._buffers = [
            buffer for name, buffer in model.named_buffers() if "running_" in name or buffer.numel() <= _SMALL_BUFFER
        ]
        self._kept = [buffer.detach().clone() for buffer in self._buffers]

    def keep(self) -> None:
        """Keeps them as they are."""
        if self._buffers:
            with torch.no_grad():
                for kept, buffer in zip(self._kept, self._buffers):
                    kept.copy_(buffer)

    def put_back(self) -> None:
        """Makes them what they were when they were kept."""
        with torch.no_grad():
            for kept, buffer in zip(self._kept, self._buffers):
                buffer.copy_(kept)


def weakly(monitor: Any) -> Callable[[Any, Any], None]:
    """A hook that shows the model's inputs to a monitor as long as that lives."""
    reference = weakref.ref(monitor)

    def hook(module: Any, inputs: Any) -> None:
        if compiling() or not torch.is_grad_enabled():
            return
        alive = reference()
        if alive is not None:
            alive.remember_inputs(inputs)

    return hook


def show_inputs(model: torch.nn.Module, monitor: Any) -> Any:
    """Shows the inputs of each forward pass to a monitor; TorchScript takes no hooks, and shows none."""
    return model.register_forward_pre_hook(weakly(monitor)) if not isinstance(model, torch.jit.ScriptModule) else None


def take_off(hook: Any, trace: Trace, clearing: Clearing) -> None:
    """Takes everything off the model that a monitor has put there."""
    if hook is not None:
        hook.remove()
    trace.close()
    clearing.remove()


def declared(model: torch.nn.Module) -> list[tuple[str, list[int], bool]]:
    """The parameters: name, shape, and whether they are the table of an embedding."""
    tables = {
        id(module.weight) for module in model.modules() if isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag))
    }
    return [(users_name(name), list(parameter.shape), id(parameter) in tables) for name, parameter in model.named_parameters()]


def tell_configuration(
    watch: _core.StepWatch, optimizers: Sequence[torch.optim.Optimizer], clip_norm: Optional[float]
) -> None:
    """Tells a watch the settings of a training that its optimizers know."""
    watch.config("optimizer", ", ".join(type(each).__name__ for each in optimizers))
    groups = [group for each in optimizers for group in each.param_groups]
    watch.config("parameter_groups", str(len(groups)))
    for key in ("weight_decay", "momentum", "betas"):
        if groups and key in groups[0]:
            watch.config(key, str(groups[0][key]))
    watch.config("framework", f"torch {torch.__version__}")
    if clip_norm is not None:
        watch.config("max_grad_norm", str(clip_norm))


def problems_now(model: torch.nn.Module, optimizers: Sequence[torch.optim.Optimizer], mode_matters: bool) -> list[str]:
    """What is wrong right now with parameters, gradients, optimizers and mode, one sentence each."""
    problems = []
    held = {id(each) for optimizer in optimizers for group in optimizer.param_groups for each in group["params"]}
    any_gradient = any(parameter.grad is not None for parameter in model.parameters())
    for name, parameter in model.named_parameters():
        for words, tensor in (("", parameter), ("The gradient of ", parameter.grad)):
            facts = bad_facts(tensor)
            if facts is not None:
                problems.append(f"{words}{name} holds {counted(facts)}.")
        if not parameter.requires_grad:
            continue
        if id(parameter) not in held:
            problems.append(f"{name} is in no group of the optimizer.")
        if any_gradient and parameter.grad is None:
            problems.append(f"{name} has received no gradient: it is not part of the graph.")
    if mode_matters and not model.training:
        problems.append("The model is in evaluation mode.")
    return problems


def optimizers_of(optimizers: Union[Any, Sequence[Any]]) -> list[torch.optim.Optimizer]:
    """PyTorch's optimizers behind what a framework wraps around them."""
    listed = list(optimizers) if isinstance(optimizers, (list, tuple)) else [optimizers]
    plain = [getattr(each, "optimizer", each) for each in listed]
    return [each for each in plain if isinstance(each, torch.optim.Optimizer)]
