"""The origin of a NaN: the first operation that made a non-finite value which reached the loss or a gradient."""

from __future__ import annotations

import bisect
import contextlib
import math
import os
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable, Optional

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from osler import _core
from osler.torch.trace import storage_of, tensors_in

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TORCH = os.path.dirname(os.path.abspath(torch.__file__))


@dataclass(frozen=True)
class Origin:
    """Where a non-finite value came from."""

    place: str
    """`batch`, `weights`, `forward`, `loss` or `backward`."""
    cause: str
    """The id of a cause of the catalogue, such as `log-of-zero`; `unknown` where none fits."""
    text: str
    """One sentence for a person."""
    operation: str = ""
    """`log`; in the backward pass the operation whose gradient it was."""
    layer: str = ""
    """The path of the module that computed it."""
    line: str = ""
    """The line of the user's program that called it: `model.py:42`."""
    detail: str = ""
    """What about the inputs explains it."""

    def __str__(self) -> str:
        return self.text


@dataclass
class _Suspect:
    operation: str
    node: str
    backward: bool
    layer: str
    line: str
    made: str
    first: str
    cause: str
    detail: str

    def origin(self) -> Origin:
        name = self.node or self.operation
        text = name + (" (backward)" if self.backward else "")
        if self.layer:
            text += f" at {self.layer}"
        text += f" made {self.made}{self.first}: {self.detail}"
        if self.line:
            text += f" ({self.line})"
        place = "backward" if self.backward else "forward"
        return Origin(place, self.cause, text + ".", name, self.layer, self.line, self.detail)


_ASKED = -1  # the mark of infinities that the program asked for, such as a mask of -inf
_OUTSIDE = -2  # the mark of values that came from outside of the step


def counted(facts: dict[str, Any]) -> str:
    """`3 NaN and 1 infinite of 10 values`."""
    parts = [f"{facts['nan']} NaN"] if facts["nan"] else []
    parts += [f"{facts['inf']} infinite"] if facts["inf"] else []
    return " and ".join(parts) + f" of {facts['count']} values"


def bad_facts(tensor: Any) -> Optional[dict[str, Any]]:
    """The facts of a tensor that is not finite; None for one that is."""
    if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point() or tensor.numel() == 0:
        return None
    facts = _core.tensor_facts(tensor.detach())
    return facts if facts and facts["nan"] + facts["inf"] > 0 else None


def _index(number: int, shape: Any) -> list[int]:
    place = []
    for size in reversed(list(shape)):
        place.append(number % max(size, 1))
        number //= max(size, 1)
    return place[::-1]


def _element(tensor: torch.Tensor, shape: Any, index: list[int]) -> Optional[float]:
    """The element of an input that stands at `index` of an output, when it can be spread over the output's sizes."""
    lead = len(shape) - tensor.dim()
    if lead < 0 or any(size not in (1, shape[lead + i]) for i, size in enumerate(tensor.shape)):
        return None
    place = tuple(0 if size == 1 else index[lead + i] for i, size in enumerate(tensor.shape))
    return float(tensor.detach()[place].item())


def user_line() -> str:
    """The innermost line that is neither PyTorch's nor ours."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_HERE, _TORCH, "<")) and os.sep + "contextlib" not in file:
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


_current_node: Optional[Callable[[], Any]] = getattr(torch._C, "_current_autograd_node", None)
_PLACE = "osler"  # under which a node of PyTorch before 2.1 keeps the call that made it


class _Announced:
    """The node at work in a backward pass, for PyTorch before 2.1, which does not tell: there each announces itself."""

    def __init__(self, root: Any) -> None:
        self.now: Any = None
        self.places: dict[Any, tuple[str, str]] = {}
        self._handles: list[Any] = []
        waiting = [(root, ("", ""))]
        while waiting:
            node, place = waiting.pop()
            if node is None or node in self.places:
                continue
            # What a function is made of belongs to the call of that function.
            place = node.metadata.get(_PLACE, place)
            self.places[node] = place
            self._handles.append(node.register_prehook(self._announcing(node)))
            waiting += [(each, place) for each, _ in node.next_functions]

    def _announcing(self, node: Any) -> Callable[[Any], None]:
        def announce(gradients: Any) -> None:
            self.now = node

        return announce

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self.now = None


@dataclass(frozen=True)
class _Write:
    """A change in place that autograd was not told of."""

    operation: str
    layer: str
    line: str


class _Calls(TorchFunctionMode):
    """Remembers for each node of the backward graph which call of which module made it, and what was written over."""

    def __init__(self, modules: _Modules) -> None:
        super().__init__()
        self._modules = modules
        self.numbers: list[int] = []
        self.places: list[tuple[str, str]] = []
        self.last_write: Optional[_Write] = None
        self._in_graph: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()
        self._rewritten: dict[int, _Write] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._note_write(getattr(func, "__name__", ""), args)
        result = func(*args, **(kwargs or {}))
        for each in tensors_in(result):
            node = each.grad_fn
            if node is not None:
                self._in_graph[storage_of(each)] = each
            if node is not None and hasattr(node, "_sequence_nr"):
                self.numbers.append(int(node._sequence_nr()))
                self.places.append((self._modules.path(), user_line()))
                break
            if node is not None:
                node.metadata[_PLACE] = (self._modules.path(), user_line())
        return result

    def _note_write(self, name: str, args: Any) -> None:
        by_operator = name.startswith("__i") and name.endswith("__")
        if not (by_operator or (name.endswith("_") and not name.endswith("__"))) or not args:
            return
        target = args[0]
        if not isinstance(target, torch.Tensor) or target.requires_grad:
            return
        if storage_of(target) in self._in_graph:
            operation = name.strip("_").removeprefix("i") if by_operator else name[:-1]
            self.last_write = _Write(operation, self._modules.path(), user_line())
            self._rewritten[storage_of(target)] = self.last_write

    def written_over(self, tensors: Any) -> Optional[_Write]:
        """What changed one of the tensors after the graph had taken note of it."""
        for each in tensors:
            if storage_of(each) in self._in_graph and storage_of(each) in self._rewritten:
                return self._rewritten[storage_of(each)]
        return None

    def place(self, number: int) -> tuple[str, str]:
        at = bisect.bisect_left(self.numbers, number)
        return self.places[at] if at < len(self.places) else ("", "")


class _Modules:
    """The module that is at work, by its path."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._stack: list[str] = []
        self._handles: list[Any] = []
        for name, module in model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):
                continue
            self._handles.append(module.register_forward_pre_hook(self._entering(name or type(module).__name__)))
            self._handles.append(module.register_forward_hook(self._leaving))

    def _entering(self, name: str) -> Callable[..., None]:
        def enter(module: Any, inputs: Any) -> None:
            self._stack.append(name)

        return enter

    def _leaving(self, module: Any, inputs: Any, output: Any) -> None:
        if self._stack:
            self._stack.pop()

    def path(self) -> str:
        return self._stack[-1] if self._stack else ""

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()


class _Operations(TorchDispatchMode):
    """Follows non-finite values through every operation. Each carries the number of the suspect that made it."""

    def __init__(self, modules: _Modules, calls: _Calls) -> None:
        super().__init__()
        self._modules = modules
        self._calls = calls
        self.announced: Optional[_Announced] = None
        self.suspects: list[_Suspect] = []
        self.marks: dict[int, int] = {}
        self._made_here: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = kwargs or {}
        inputs = [each for each in [*tensors_in(args), *tensors_in(keywords)] if each.is_floating_point()]
        # As seen at its own entry: an operation in place changes them.
        plain = _core.plain_name(func.__name__.partition(".")[0])
        bad = [] if _core.uninitialised(plain) else [(each, bad_facts(each)) for each in inputs]
        before = [(each, facts) for each, facts in bad if facts is not None]
        sound = not before
        values = [each.detach().clone() if sound and each.numel() <= 1 << 20 else each for each in inputs]
        in_place = func.__name__.partition(".")[0].endswith("_")
        foreign = in_place and not any(storage_of(each) in self._made_here for each in inputs[:1])
        # By what they are, not by what was copied of them.
        write = self._calls.written_over(inputs) if sound else None
        result = func(*args, **keywords)
        if not _core.uninitialised(plain):
            for output in tensors_in(result):
                self._follow(plain, args, values, before, output, foreign, write)
        if not in_place and not _core.only_looks(plain):
            self._made_here.update(storage_of(output) for output in tensors_in(result))
        return result

    def _follow(
        self,
        plain: str,
        args: Any,
        inputs: Any,
        before: Any,
        output: torch.Tensor,
        foreign: bool,
        write: Optional[_Write],
    ) -> None:
        key = storage_of(output)
        facts = bad_facts(output)
        if facts is None:
            if not _core.only_looks(plain):
                self.marks.pop(key, None)
            return
        if _core.only_looks(plain) and key in self.marks:
            return
        marks = [self.marks.get(storage_of(each), _OUTSIDE) for each, _ in before]
        made = [mark for mark in marks if mark >= 0]
        if made:
            self.marks[key] = max(made)
        elif _OUTSIDE in marks:
            self.marks[key] = _OUTSIDE
        elif self._asked_for(args, facts) or (marks and facts["nan"] == 0):
            self.marks[key] = _ASKED
        else:
            self.marks[key] = len(self.suspects)
            suspect = self._suspect(plain, args, inputs, output, facts)
            if suspect.backward and write is not None:
                suspect.cause = "in-place-modification"
                suspect.detail = f"a tensor that the gradient needs was changed by {write.operation} in place ({write.line})"
            elif not suspect.backward and foreign:
                suspect.cause = "in-place-modification"
                suspect.detail += ", written over a tensor from before the step"
            self.suspects.append(suspect)

    @staticmethod
    def _asked_for(args: Any, facts: dict[str, Any]) -> bool:
        """A number that is infinite by itself was written down by the program."""
        flat = [each for value in args for each in (value if isinstance(value, (list, tuple)) else [value])]
        return facts["nan"] == 0 and any(isinstance(each, float) and math.isinf(each) for each in flat)

    def _suspect(self, plain: str, args: Any, inputs: Any, output: torch.Tensor, facts: Any) -> _Suspect:
        node = self.announced.now if self.announced is not None else _current_node() if _current_node else None
        backward = node is not None
        if self.announced is not None and backward:
            layer, line = self.announced.places[node]
        elif backward:
            layer, line = self._calls.place(int(node._sequence_nr()))
        else:
            layer, line = self._modules.path(), user_line()
        forward = _core.plain_node_name(node.name()) if backward else ""
        index = _index(facts["first"], output.shape)
        elements = [_element(each, output.shape, index) for each in inputs]
        known = [each for each in elements if each is not None]
        scalars = [float(each) for each in args if isinstance(each, (int, float)) and not isinstance(each, bool)]
        first = known[0] if known else None
        second = known[1] if len(known) > 1 else (scalars[0] if scalars else None)
        largest = 0.0
        for each in inputs:
            about = _core.tensor_facts(each) if each.numel() else {}
            if about:
                largest = max(largest, abs(about["min"]), abs(about["max"]))
        half = output.dtype == torch.float16
        cause, detail = _core.judge(plain, forward, half, facts["nan"] == 0, first, second, largest)
        place = f", the first at {index}" if index else ""
        return _Suspect(plain, forward, backward, layer, line, counted(facts), place, cause, detail)

    def origin_of(self, tensor: Optional[torch.Tensor]) -> Optional[Origin]:
        """The suspect whose value reached a tensor."""
        if tensor is None or bad_facts(tensor) is None:
            return None
        mark = self.marks.get(storage_of(tensor), _OUTSIDE)
        return self.suspects[mark].origin() if mark >= 0 else None


@contextlib.contextmanager
def _put_back(model: torch.nn.Module) -> Iterator[None]:
    """Random numbers, buffers and gradients are afterwards as before."""
    buffers = [(each, each.detach().clone()) for each in model.buffers()]
    gradients = [(each, each.grad) for each in model.parameters()]
    cuda = [each for each in range(torch.cuda.device_count())] if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=cuda):
        try:
            for parameter, _ in gradients:
                parameter.grad = None
            yield
        finally:
            with torch.no_grad():
                for buffer, kept in buffers:
                    buffer.copy_(kept)
            for parameter, gradient in gradients:
                parameter.grad = gradient


def from_outside(model: torch.nn.Module, inputs: Any) -> Optional[Origin]:
    """What was not finite before the model had any part in it: the weights, or the batch."""
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        facts = bad_facts(tensor)
        if facts is not None:
            text = f"{name} held {counted(facts)} before the step."
            return Origin("weights", "nonfinite-weight", text, layer=name)
    for number, tensor in enumerate(tensors_in(inputs)):
        facts = bad_facts(tensor)
        if facts is not None:
            index = _index(facts["first"], tensor.shape)
            text = f"The batch held {counted(facts)} (input {number} of the model), the first at {index}."
            return Origin("batch", "corrupt-data", text)
    return None


def _refused(error: RuntimeError, write: Optional[_Write]) -> Optional[Origin]:
    """A change in place that autograd has noticed, and so refuses to go on; None for any other error."""
    if "modified by an inplace operation" not in str(error):
        return None
    told = write or _Write("", "", "")
    name = told.operation or "an operation"
    at = f" at {told.layer}" if told.layer else ""
    line = f" ({told.line})" if told.line else ""
    text = f"{name}{at} changed a tensor in place that the gradient needs{line}."
    detail = str(error).partition(";")[0]
    return Origin("backward", "in-place-modification", text, told.operation, told.layer, told.line, detail)


def trace_origin(
    model: torch.nn.Module, compute_loss: Callable[[], Any], *, backward: bool = True
) -> Optional[Origin]:
    """Runs `compute_loss` and its backward pass under watch and says where the first non-finite value that reaches the
    loss or a gradient comes from; None when all is finite. Random numbers, buffers and gradients are put back.
    """
    modules = _Modules(model)
    calls = _Calls(modules)
    operations = _Operations(modules, calls)
    try:
        with _put_back(model), torch.enable_grad():
            with calls, operations:
                result = compute_loss()
            outputs = list(tensors_in(getattr(result, "logits", result)))
            for output in outputs:
                found = operations.origin_of(output)
                if found is not None:
                    return found
            loss = outputs[0] if len(outputs) == 1 else None
            if not backward or loss is None or loss.numel() != 1 or loss.grad_fn is None or bad_facts(loss) is not None:
                return None
            operations.announced = _Announced(loss.grad_fn) if _current_node is None else None
            try:
                with operations:
                    loss.backward()
            except RuntimeError as error:
                refused = _refused(error, calls.last_write)
                if refused is None:
                    raise
                return refused
            for parameter in reversed(list(model.parameters())):
                found = operations.origin_of(parameter.grad)
                if found is not None:
                    return found
    finally:
        modules.remove()
        if operations.announced is not None:
            operations.announced.remove()
    return None
