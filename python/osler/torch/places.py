"""Which call of which module and which line made a tensor, and so the nodes of the backward pass."""

from __future__ import annotations

import bisect
import os
import sys
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Optional

import torch
from torch.overrides import TorchFunctionMode

from osler import _core
from osler.torch.trace import storage_of, tensors_in
from osler.torch.wrappers import users_name

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TORCH = os.path.dirname(os.path.abspath(torch.__file__))


def user_line(within: str = "") -> str:
    """The innermost line that is neither PyTorch's nor ours; only of what one of our functions has called, if it is named."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if within and frame.f_code.co_name == within and file.startswith(_HERE):
            return ""
        if not file.startswith((_HERE, _TORCH, "<")) and os.sep + "contextlib" not in file:
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


current_node: Optional[Callable[[], Any]] = getattr(torch._C, "_current_autograd_node", None)
_PLACE = "osler"  # under which a node of PyTorch before 2.1 keeps the call that made it


def is_users(node: Any) -> bool:
    """Whether a node of the backward pass is a function that the user wrote."""
    return isinstance(node, torch.autograd.function.BackwardCFunction)


class Announced:
    """The node at work in a backward pass, for PyTorch before 2.1, which does not tell: there each announces itself."""

    def __init__(self, root: Any) -> None:
        self.now: Any = None
        self.places: dict[Any, tuple[str, str]] = {}
        self._handles: list[Any] = []
        self.add(root)

    def add(self, root: Any) -> None:
        """A node, and all that it leads to; those of a pass that is computed again come during the backward pass."""
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
class Write:
    """A change in place that autograd was not told of."""

    operation: str
    layer: str
    line: str


class Calls(TorchFunctionMode):
    """Remembers for each node of the backward graph which call of which module made it, and what was written over."""

    def __init__(self, modules: Modules) -> None:
        super().__init__()
        self._modules = modules
        self.numbers: list[int] = []
        self.places: list[tuple[str, str]] = []
        self.announced: Optional[Announced] = None
        self.last_write: Optional[Write] = None
        self._in_graph: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()
        self._rewritten: dict[int, Write] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._note_write(getattr(func, "__name__", ""), args)
        # What a function of the user's own has made shows only now.
        for each in [*tensors_in(args), *tensors_in(kwargs or {})]:
            if is_users(each.grad_fn):
                self.note(each, self._modules.path(), "")
        result = func(*args, **(kwargs or {}))
        for each in tensors_in(result):
            if each.grad_fn is not None:
                self._in_graph[storage_of(each)] = each
                self.note(each, self._modules.path(), user_line())
        return result

    def note(self, tensor: torch.Tensor, path: str, line: str) -> None:
        """Which call of which module made a tensor; what is known already stays."""
        node = tensor.grad_fn
        if node is None:
            return
        if current_node is None:
            if self.announced is not None and not path:  # computed again, beside the module that called for it
                path = self.announced.places.get(self.announced.now, ("", ""))[0]
            node.metadata.setdefault(_PLACE, (path, line))
            if self.announced is not None and node not in self.announced.places:
                self.announced.add(node)
            return
        number = int(node._sequence_nr()) if hasattr(node, "_sequence_nr") else -1
        again = current_node() if not path else None
        if again is not None and hasattr(again, "_sequence_nr"):
            path = self.place(int(again._sequence_nr()))[0]
        if number > (self.numbers[-1] if self.numbers else -1):
            self.numbers.append(number)
            self.places.append((path, line))

    def _note_write(self, name: str, args: Any) -> None:
        by_operator = name.startswith("__i") and name.endswith("__")
        if not (by_operator or (name.endswith("_") and not name.endswith("__"))) or not args:
            return
        target = args[0]
        if not isinstance(target, torch.Tensor) or target.requires_grad:
            return
        if storage_of(target) in self._in_graph:
            operation = name.strip("_").removeprefix("i") if by_operator else name[:-1]
            self.last_write = Write(operation, self._modules.path(), user_line())
            self._rewritten[storage_of(target)] = self.last_write

    def written_over(self, tensors: Any) -> Optional[Write]:
        """What changed one of the tensors after the graph had taken note of it."""
        for each in tensors:
            if storage_of(each) in self._in_graph and storage_of(each) in self._rewritten:
                return self._rewritten[storage_of(each)]
        return None

    def place(self, number: int) -> tuple[str, str]:
        at = bisect.bisect_left(self.numbers, number)
        return self.places[at] if at < len(self.places) else ("", "")


class Modules:
    """The module that is at work, by its path."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._stack: list[str] = []
        self._handles: list[Any] = []
        self.inputs: list[torch.Tensor] = []
        """What went into the model."""
        self.calls: Optional[Calls] = None
        for name, module in model.named_modules():
            if isinstance(module, torch.jit.ScriptModule):
                continue
            self._handles.append(module.register_forward_pre_hook(self._entering(users_name(name) or type(module).__name__)))
            self._handles.append(module.register_forward_hook(self._leaving))

    def _entering(self, name: str) -> Callable[..., None]:
        def enter(module: Any, inputs: Any) -> None:
            if not self._stack:
                self.inputs += list(tensors_in(inputs))
            self._stack.append(name)

        return enter

    def _leaving(self, module: Any, inputs: Any, output: Any) -> None:
        if self.calls is not None:
            for each in tensors_in(output):
                if is_users(each.grad_fn):
                    self.calls.note(each, self.path(), "")
        if self._stack:
            self._stack.pop()

    def path(self) -> str:
        return self._stack[-1] if self._stack else ""

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
