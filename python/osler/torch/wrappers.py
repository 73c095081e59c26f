"""What wraps a model or its parameters (compilers, shards, checkpoints): the names inside, and what it hides."""

from __future__ import annotations

from collections.abc import Sequence

import torch

# What wrappers put into the names of what they wrap.
_WRAPPERS = {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}
_MEASURED = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def users_name(name: str) -> str:
    """The name of a parameter or module as the user gave it."""
    return ".".join(part for part in name.split(".") if part not in _WRAPPERS)


def _some(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _is_compiled(module: torch.nn.Module) -> bool:
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def is_sharded(model: torch.nn.Module) -> bool:
    """Whether this process holds only a share of each parameter."""
    wrapped = any(type(module).__name__ == "FullyShardedDataParallel" for module in model.modules())
    return wrapped or any(hasattr(each, "to_local") for each in model.parameters())


def in_company() -> bool:
    """Whether other processes train together with this one."""
    group = torch.distributed
    return bool(group.is_available() and group.is_initialized() and group.get_world_size() > 1)


def _hidden_layers(model: torch.nn.Module, compiled: bool) -> list[str]:
    words = []
    inside = [users_name(name) for name, module in model.named_modules() if _is_compiled(module)]
    if compiled or "" in inside:
        words.append("The model is compiled: its activations cannot be seen.")
    elif inside:
        words.append(f"Compiled: the activations of {_some(inside)} cannot be seen.")
    scripted = [users_name(name) for name, module in model.named_modules() if isinstance(module, torch.jit.ScriptModule)]
    if scripted:
        words.append(f"TorchScript: the activations of {_some(scripted) if '' not in scripted else 'the model'} cannot be seen.")
    return words


def unseen(model: torch.nn.Module, compiled: bool) -> list[str]:
    """What a monitor of this model cannot see, or sees otherwise than one might think, one sentence each."""
    words = _hidden_layers(model, compiled)
    named = [(users_name(name), parameter) for name, parameter in model.named_parameters()]
    strange = {name: str(each.dtype).replace("torch.", "") for name, each in named if each.dtype not in _MEASURED}
    if strange:
        kinds = ", ".join(sorted(set(strange.values())))
        words.append(f"Parameters of type {kinds} are not measured: {_some(list(strange))}.")
    empty = [name for name, each in named if each.device.type == "meta"]
    if empty:
        words.append(f"Parameters on the meta device hold no numbers that could be measured: {_some(empty)}.")
    if is_sharded(model):
        words.append("The parameters are sharded: norms and statistics are those of the shard of this process.")
    devices = sorted({str(each.device) for _, each in named if each.device.type not in ("cpu", "meta")})
    if len(devices) > 1 or any(not each.startswith("cuda") for each in devices):
        words.append(f"Parameters on {', '.join(devices)} are measured through copies on the host, which is slow.")
    return words
