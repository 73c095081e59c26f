"""Trace: the outputs of layers in one forward pass, seen through the functions that compute them."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from typing import Any, Optional, Union

import torch
from torch.overrides import TorchFunctionMode

from osler import _core
from osler.torch.wrappers import users_name

_LONGEST_ROW = 1 << 23  # elements; the sum of the rows takes memory of the training's device
_OUT_OF_MEMORY = getattr(torch.cuda, "OutOfMemoryError", MemoryError)  # of the device: what did not fit is passed over

# What they are made of is not looked at.
_WHOLE = {"weighted", "normalisation", "recurrent", "embedding", "activation", "softmax"}


def compiling() -> bool:
    """Whether torch.compile is looking on: then nothing may be done that it would have to break its graph for."""
    compiler = getattr(torch, "compiler", None)
    return compiler is not None and hasattr(compiler, "is_compiling") and bool(compiler.is_compiling())


def tensors_in(values: Any) -> Iterator[torch.Tensor]:
    """The tensors among arguments or results, those in lists and dicts too."""
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, dict):
        for each in values.values():
            yield from tensors_in(each)
    elif isinstance(values, (list, tuple)):
        for each in values:
            yield from tensors_in(each)


def storage_of(tensor: torch.Tensor) -> int:
    """Where a tensor's memory is known by: views share it with what they look at."""
    try:
        if hasattr(tensor, "untyped_storage"):
            return int(tensor.untyped_storage().data_ptr())
        return int(tensor.storage().data_ptr())
    except (RuntimeError, NotImplementedError):  # a tensor without memory of its own
        return 0


def fills_storage(tensor: torch.Tensor) -> bool:
    """Whether nothing else lies in a tensor's memory."""
    try:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        return bool(storage.nbytes() <= tensor.numel() * tensor.element_size())
    except (RuntimeError, NotImplementedError):
        return True


def _row_entropy(probabilities: torch.Tensor) -> Optional[torch.Tensor]:
    """The mean entropy of the rows of a softmax over the largest possible, ln(n)."""
    n = probabilities.shape[-1]
    if n < 2:
        return None
    return torch.special.entr(probabilities.detach().float()).sum(-1).mean() / math.log(n)


def _running_drift(x: torch.Tensor, mean: Any, variance: Any) -> Optional[torch.Tensor]:
    """How far running statistics are from the batch's, over the channels, in running standard deviations."""
    if not isinstance(mean, torch.Tensor) or not isinstance(variance, torch.Tensor) or x.dim() < 2:
        return None
    if mean.dim() != 1 or mean.numel() != x.shape[1] or variance.numel() != x.shape[1]:
        return None
    flat = x.detach().transpose(0, 1).reshape(x.shape[1], -1).float()
    if flat.shape[1] < 2:
        return None
    scale = variance.detach().float().clamp_min(1e-10).sqrt()
    shift = ((flat.mean(1) - mean.detach().float()).abs() / scale).mean()
    spread = ((flat.std(1, unbiased=False) - scale).abs() / scale).mean()
    return torch.maximum(shift, spread)


def _row_spread(x: torch.Tensor) -> Optional[torch.Tensor]:
    """The squared distances of the rows from the mean row over their squared norms: 0 where all samples look alike."""
    if x.dim() < 2 or x.shape[0] < 2 or x[0].numel() > _LONGEST_ROW:
        return None
    squares = torch.linalg.vector_norm(x, dtype=torch.float32).square()
    return (1 - x.sum(0, dtype=torch.float32).square().sum() / (x.shape[0] * squares)).clamp_min(0)


class _Functions(TorchFunctionMode):
    """Shows every function of PyTorch that Python calls to a trace."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = kwargs or {}
        plain = _core.plain_name(getattr(func, "__name__", ""))
        drift = self._trace.before(plain, args)
        result = func(*args, **keywords)
        self._trace.after(plain, args, keywords, result, drift)
        return result


class Trace:
    """Measures the layers of a model in the forward passes between `open` and `close`, without a change to it."""

    def __init__(self, model: torch.nn.Module, watch: _core.StepWatch, late: Any = None) -> None:
        self._model = model
        self._watch = watch
        self.late = late
        """Brings the news of a model on a GPU, which is measured there; None: on the host."""
        self._book = _core.NameBook()
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            self._book.declare(users_name(name), storage_of(tensor))
        self._handles: list[Any] = []
        self._mode: Optional[_Functions] = None
        self._depth = 0
        self.seconds = 0.0
        self.operations = 0
        self.largest_output: Union[float, torch.Tensor, None] = None

    def open(self) -> None:
        """Measures from here on."""
        self.close()
        self._book.forget()
        self.seconds = 0.0
        self.operations = 0
        self.largest_output = None
        self._depth = 0

        # Plain functions: torch.compile of PyTorch 2.3 cannot look into methods.
        def enter(module: Any, inputs: Any) -> None:
            if not compiling():
                self._enter(module, inputs)

        def leave(module: Any, inputs: Any, output: Any) -> None:
            if not compiling():
                self._leave(module, inputs, output)

        for module in self._model.modules():
            if isinstance(module, torch.jit.ScriptModule):
                continue
            self._handles.append(module.register_forward_pre_hook(enter))
            try:
                self._handles.append(module.register_forward_hook(leave, always_call=True))
            except TypeError:  # before PyTorch 2.0
                self._handles.append(module.register_forward_hook(leave))

    def close(self) -> None:
        """Measures no more."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        self._depth += 1
        # The passes of a validation in between build no graph, and are none of the training's.
        if self._depth == 1 and torch.is_grad_enabled():
            self._mode = _Functions(self)
            self._mode.__enter__()

    def _leave(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        if self._depth == 0:
            return
        self._depth -= 1
        if self._depth > 0 or self._mode is None:
            return
        self._mode.__exit__(None, None, None)
        self._mode = None
        if module is self._model:
            self._note_output(output)

    def _note_output(self, output: Any) -> None:
        began = time.perf_counter()
        logits = getattr(output, "logits", output)
        if isinstance(logits, torch.Tensor) and logits.dim() >= 2 and logits.is_floating_point():
            with contextlib.suppress(_OUT_OF_MEMORY):
                self._note_logits(logits.detach())
        self.seconds += time.perf_counter() - began

    def _note_logits(self, logits: torch.Tensor) -> None:
        if self._late_for(logits) is not None:
            low, high = torch.aminmax(logits)
            self.largest_output = torch.maximum(low.abs(), high.abs())
        elif facts := _core.tensor_facts(logits):
            self.largest_output = max(abs(facts["min"]), abs(facts["max"]))

    def _late_for(self, tensor: torch.Tensor) -> Any:
        """What brings the news of a tensor that is measured on its GPU."""
        return self.late if self.late is not None and self.late.sees(tensor) else None

    def before(self, plain: str, args: Any) -> Optional[torch.Tensor]:
        """A function is about to run; returns what has to be measured now."""
        if plain != "batch_norm" or len(args) < 3:
            return None
        began = time.perf_counter()
        drift = None
        with torch.no_grad(), contextlib.suppress(_OUT_OF_MEMORY):
            drift = _running_drift(args[0], args[1], args[2])
        self.seconds += time.perf_counter() - began
        return drift

    def after(self, plain: str, args: Any, keywords: Any, result: Any, drift: Optional[torch.Tensor]) -> None:
        """A function has run."""
        began = time.perf_counter()
        outputs = list(tensors_in(result)) if not isinstance(result, (int, float, bool, str)) else []
        if outputs:
            self.operations += 1
            self._observe(plain, args, keywords, outputs, drift)
        self.seconds += time.perf_counter() - began

    def _observe(
        self, plain: str, args: Any, keywords: Any, outputs: list[torch.Tensor], drift: Optional[torch.Tensor]
    ) -> None:
        inputs = [*tensors_in(args), *tensors_in(keywords)]
        name = self._book.result(plain, [(id(each), storage_of(each)) for each in inputs])
        for output in outputs:
            self._book.name(id(output), name)
        if not name or _core.part_of(plain) not in _WHOLE:
            return
        with torch.no_grad(), contextlib.suppress(_OUT_OF_MEMORY):
            first = outputs[0]
            entropy = _row_entropy(first) if plain == "softmax" and first.dim() >= 3 else None
            late = self._late_for(first)
            if late is None:
                told = [None if each is None else float(each.item()) for each in (entropy, drift)]
                self._watch.activation(name, plain, first.detach(), *told)
                return
            if not self._watch.activation_later(name, plain, first.detach(), late.stream):
                return
            spread = _row_spread(first.detach()) if _core.part_of(plain) != "softmax" else None
            for what, number in (("entropy", entropy), ("drift", drift), ("spread", spread)):
                if number is not None:
                    late.keep(f"activations/{name}#{what}", number)
