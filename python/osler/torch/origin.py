"""The origin of a NaN: the first operation that made a non-finite value which reached the loss or a gradient."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from osler import _core
from osler.torch.places import Announced, Calls, Modules, Write, current_node, is_users, user_line
from osler.torch.trace import fills_storage, storage_of, tensors_in
from osler.torch.wrappers import users_name


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


@dataclass
class _Call:
    """One operation at work."""

    plain: str
    inputs: list[torch.Tensor]
    scalars: list[float]
    in_place: bool
    mark: int = _ASKED  # of the earliest fault among its inputs
    asked: bool = False
    gathered: Optional[Origin] = None  # the sum or mean that took asked-for infinities in
    nan_carried: bool = False
    foreign: bool = False
    write: Optional[Write] = None


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


def first_bad(tensor: torch.Tensor) -> list[int]:
    """The place of the first value that is not finite, by the tensor's own sizes, however it lies in memory."""
    places = (~torch.isfinite(tensor.detach())).nonzero()
    return [int(each) for each in places[0]] if len(places) > 0 else []


def looks_like_mask(plain: str, tensor: torch.Tensor) -> bool:
    """Whether a tensor from before the step holds -inf on purpose, to be added to scores."""
    values = tensor.detach()
    finite = values[torch.isfinite(values)]
    highest, lowest = (float(finite.max()), float(finite.min())) if len(finite) > 0 else (0.0, 0.0)
    nan, above = bool(values.isnan().any()), bool((values == math.inf).any())
    mask: bool = _core.looks_like_mask(plain, nan, above, len(finite) > 0, highest, lowest)
    return mask


def _element(tensor: torch.Tensor, shape: Any, index: list[int]) -> Optional[float]:
    """The element of an input that stands at `index` of an output, when it can be spread over the output's sizes."""
    lead = len(shape) - tensor.dim()
    if lead < 0 or any(size not in (1, shape[lead + i]) for i, size in enumerate(tensor.shape)):
        return None
    place = tuple(0 if size == 1 else index[lead + i] for i, size in enumerate(tensor.shape))
    return float(tensor.detach()[place].item())


@dataclass(frozen=True)
class _Where:
    """Where an operation is called."""

    node: str
    """In the backward pass the forward operation whose slope it is; empty in what the user wrote."""
    layer: str
    line: str


class _Operations(TorchDispatchMode):
    """Follows non-finite values through every operation. Each carries the number of the suspect that made it."""

    def __init__(self, model: torch.nn.Module, modules: Modules, calls: Calls) -> None:
        super().__init__()
        self._modules = modules
        self._calls = calls
        self.announced: Optional[Announced] = None
        self.in_backward = False
        self.suspects: list[Union[_Suspect, Origin]] = []
        self.asked: Optional[Origin] = None
        self._marks: dict[int, int] = {}
        self._kept: list[torch.Tensor] = []  # marked memory must not come to mean something else
        self._made_here: set[int] = set()
        self._gathered: dict[int, Origin] = {}
        self._parameters = {storage_of(each): (users_name(name), each) for name, each in model.named_parameters()}
        self._buffers = {storage_of(each): (users_name(name), each) for name, each in model.named_buffers()}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        keywords = kwargs or {}
        name = func.__name__.partition(".")[0]
        plain = _core.plain_name(name)
        if _core.uninitialised(plain):
            return func(*args, **keywords)
        call = self._entering(name, plain, args, keywords)
        result = func(*args, **keywords)
        for output in tensors_in(result):
            self._follow(call, output)
        if not call.in_place and not _core.only_looks(plain):
            self._made_here.update(storage_of(output) for output in tensors_in(result))
        return result

    def _entering(self, name: str, plain: str, args: Any, keywords: Any) -> _Call:
        """What an operation reads, as seen at its own entry: one in place changes it."""
        given = [each for value in [*args, *keywords.values()] for each in (value if isinstance(value, (list, tuple)) else [value])]
        scalars = [float(each) for each in given if isinstance(each, (int, float)) and not isinstance(each, bool)]
        in_place = name.endswith("_")
        first = [float(keywords["beta"])] if "beta" in keywords else scalars
        unread = _core.overwrites(f"aten::{name}") or _core.ignores_first(plain, first)
        read = [*args[1 if unread else 0 :], *(value for key, value in keywords.items() if key != "out")]
        inputs = [each for each in tensors_in(read) if each.is_floating_point()]
        call = _Call(plain, inputs, scalars, in_place)
        for each in inputs:
            self._note_carried(call, each)
        if call.mark < 0:  # it may be accused: what it has read is kept
            call.inputs = [each.detach().clone() if each.numel() <= 1 << 20 else each for each in inputs]
            targets = [each for each in tensors_in(args[:1]) if each.is_floating_point()]
            call.foreign = in_place and not any(storage_of(each) in self._made_here for each in targets)
            call.write = self._calls.written_over(inputs)  # by what they are, not by what was copied of them
        return call

    def _note_carried(self, call: _Call, tensor: torch.Tensor) -> None:
        facts = bad_facts(tensor)
        if facts is None:
            return
        call.nan_carried |= facts["nan"] > 0
        mark = self._marks.get(storage_of(tensor))
        if mark is None:
            mark = _ASKED if self._is_mask(call.plain, tensor) else self._outsider(call, tensor, facts)
            self._mark(tensor, mark)
        if mark == _ASKED:
            call.asked = True
            call.gathered = call.gathered or self._gathered.get(storage_of(tensor))
        else:
            call.mark = mark if call.mark < 0 else min(mark, call.mark)

    def _mark(self, tensor: torch.Tensor, mark: int) -> None:
        key = storage_of(tensor)
        known = self._marks.get(key, _ASKED)
        if known >= 0 and not fills_storage(tensor):  # of another part of the same memory: the earliest fault counts
            mark = known if mark < 0 else min(known, mark)
        self._marks[key] = mark
        self._kept.append(tensor.detach())

    def _is_mask(self, plain: str, tensor: torch.Tensor) -> bool:
        if plain == "lift_fresh" and tensor.dim() == 0:  # a number that the program wrote down
            return not bool(tensor.isnan())
        return storage_of(tensor) not in self._parameters and looks_like_mask(plain, tensor)

    def _outsider(self, call: _Call, tensor: torch.Tensor, facts: Any) -> int:
        """Accuses what came from outside: a weight, or a batch."""
        storage = storage_of(tensor)
        name, owner = self._parameters.get(storage) or self._buffers.get(storage) or ("", tensor)
        if name:
            found = _of_weight(name, owner) if bad_facts(owner) is not None else _of_weight(name, tensor)
        else:
            found = self._of_batch(call, tensor, facts)
        self.suspects.append(found)
        return len(self.suspects) - 1

    def _of_batch(self, call: _Call, tensor: torch.Tensor, facts: Any) -> Origin:
        for number, each in enumerate(self._modules.inputs):
            if storage_of(each) == storage_of(tensor) and bad_facts(each) is not None:
                return _of_input(number, each)
        layer = self._modules.path()
        at = f" at {layer}" if layer else ""
        index = first_bad(tensor)
        text = f"A tensor from outside of the model held {counted(facts)}, the first at {index}, before {call.plain}{at} read it."
        if storage_of(tensor) in self._made_here:
            text = f"A tensor that the program filled by itself held {counted(facts)}, before {call.plain}{at} read it."
            return Origin("forward", "corrupt-data", text, call.plain, layer, user_line())
        return Origin("batch", "corrupt-data", text, call.plain, layer, user_line())

    def _follow(self, call: _Call, output: torch.Tensor) -> None:
        key = storage_of(output)
        looks = _core.only_looks(call.plain)
        facts = bad_facts(output)
        if facts is None:
            if not looks and fills_storage(output):
                self._marks.pop(key, None)
            return
        if looks:
            if key not in self._marks and call.mark >= 0:
                self._mark(output, call.mark)
            return
        carried = "fault" if call.mark >= 0 else "asked-for" if call.asked else "nothing"
        finite = all(math.isfinite(each) for each in call.scalars)
        ruling = _core.ruling(call.plain, carried, call.nan_carried, facts["nan"] > 0, finite)
        if ruling == "carried-on":
            self._mark(output, call.mark)
        elif ruling == "asked-for":
            if self.asked is None and not finite:
                self.asked = self._asked_for(call)
            if call.gathered is None and any(each.numel() > output.numel() for each in call.inputs):
                call.gathered = self._asked_for(call)
            if call.gathered is not None:
                self._gathered[key] = call.gathered
            self._mark(output, _ASKED)
        else:
            self._mark(output, len(self.suspects))
            self.suspects.append(self._suspect(call, output, facts))

    def _asked_for(self, call: _Call) -> Origin:
        layer, line = self._modules.path(), user_line()
        at = (f" at {layer}" if layer else "") + (f" ({line})" if line else "")
        detail = "an infinity that was asked for, as by a mask, reached the loss"
        return Origin("forward", "outside-domain", f"{call.plain}{at}: {detail}.", call.plain, layer, line, detail)

    def _where(self) -> _Where:
        node = self.announced.now if self.announced is not None else current_node() if current_node else None
        if not self.in_backward:
            return _Where("", self._modules.path(), user_line())
        own = user_line("_backward")  # a hook, a function of the user's own, or a pass that is computed again
        layer, line = self._place_of(node)
        if not own:
            return _Where(_core.plain_node_name(node.name()) if node is not None else "unknown", layer, line)
        again = self._modules.path()
        return _Where("", again or (layer if is_users(node) else ""), own)

    def _place_of(self, node: Any) -> tuple[str, str]:
        if node is None:
            return "", ""
        if self.announced is not None:
            return self.announced.places.get(node, ("", ""))
        return self._calls.place(int(node._sequence_nr())) if hasattr(node, "_sequence_nr") else ("", "")

    def _suspect(self, call: _Call, output: torch.Tensor, facts: Any) -> _Suspect:
        where = self._where()
        index = first_bad(output)
        elements = [_element(each, output.shape, index) for each in call.inputs]
        known = [each for each in elements if each is not None]
        first = known[0] if known else None
        second = known[1] if len(known) > 1 else (call.scalars[0] if call.scalars else None)
        largest, infinite = 0.0, False
        for each in call.inputs:
            about = _core.tensor_facts(each) if each.numel() else {}
            if about:
                largest = max(largest, abs(about["min"]), abs(about["max"]))
                infinite = infinite or about["inf"] > 0
        half = output.dtype == torch.float16
        cause, detail = _core.judge(call.plain, where.node, half, facts["nan"] == 0, first, second, largest, infinite)
        if self.in_backward and call.write is not None:
            cause = "in-place-modification"
            detail = f"a tensor that the gradient needs was changed by {call.write.operation} in place ({call.write.line})"
        elif not self.in_backward and call.foreign:
            cause = "in-place-modification"
            detail += ", written over a tensor from before the step"
        place = f", the first at {index}" if index else ""
        return _Suspect(
            call.plain, where.node, self.in_backward, where.layer, where.line, counted(facts), place, cause, detail
        )

    def mark_of(self, tensor: Optional[torch.Tensor]) -> Optional[int]:
        """The number of the suspect whose value reached a tensor; None for one that is finite, or was asked for."""
        if tensor is None or bad_facts(tensor) is None:
            return None
        mark = self._marks.get(storage_of(tensor), _ASKED)
        return mark if mark >= 0 else None

    def asked_for(self, loss: torch.Tensor) -> Optional[Origin]:
        """What let an infinity that was asked for into a loss."""
        return self.asked or self._gathered.get(storage_of(loss))

    def origin(self, mark: int) -> Origin:
        """What a suspect is accused of."""
        suspect = self.suspects[mark]
        return suspect if isinstance(suspect, Origin) else suspect.origin()


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


def _of_weight(name: str, tensor: torch.Tensor) -> Origin:
    facts = bad_facts(tensor)
    assert facts is not None
    text = f"{name} held {counted(facts)} before the step, the first at {first_bad(tensor)}."
    return Origin("weights", "nonfinite-weight", text, layer=name)


def _of_input(number: int, tensor: torch.Tensor) -> Origin:
    facts = bad_facts(tensor)
    assert facts is not None
    text = f"The batch held {counted(facts)} (input {number} of the model), the first at {first_bad(tensor)}."
    return Origin("batch", "corrupt-data", text)


def from_outside(model: torch.nn.Module, inputs: Any) -> Optional[Origin]:
    """What was not finite before the model had any part in it: the weights, or the batch. Masks are sound."""
    for name, tensor in model.named_parameters():
        if bad_facts(tensor) is not None:
            return _of_weight(users_name(name), tensor)
    for name, tensor in model.named_buffers():
        if bad_facts(tensor) is not None and not looks_like_mask("add", tensor):
            return _of_weight(users_name(name), tensor)
    for number, tensor in enumerate(tensors_in(inputs)):
        if bad_facts(tensor) is not None and not looks_like_mask("add", tensor):
            return _of_input(number, tensor)
    return None


def _refused(error: RuntimeError, write: Optional[Write]) -> Optional[Origin]:
    """A change in place that autograd has noticed, and so refuses to go on; None for any other error."""
    if "modified by an inplace operation" not in str(error):
        return None
    told = write or Write("", "", "")
    name = told.operation or "an operation"
    at = f" at {told.layer}" if told.layer else ""
    line = f" ({told.line})" if told.line else ""
    text = f"{name}{at} changed a tensor in place that the gradient needs{line}."
    detail = str(error).partition(";")[0]
    return Origin("backward", "in-place-modification", text, told.operation, told.layer, told.line, detail)


def _backward(loss: torch.Tensor, calls: Calls, operations: _Operations) -> None:
    calls.announced = operations.announced = Announced(loss.grad_fn) if current_node is None else None
    operations.in_backward = True
    with calls, operations:
        torch.autograd.backward(loss)  # Tensor.backward would hide what it calls


def trace_origin(
    model: torch.nn.Module, compute_loss: Callable[[], Any], *, backward: bool = True
) -> Optional[Origin]:
    """Runs `compute_loss` and its backward pass under watch and says where the first non-finite value that reaches the
    loss or a gradient comes from; None when all is finite. Random numbers, buffers and gradients are put back.
    """
    modules = Modules(model)
    calls = modules.calls = Calls(modules)
    operations = _Operations(model, modules, calls)
    try:
        with _put_back(model), torch.enable_grad():
            with calls, operations:
                result = compute_loss()
            outputs = list(tensors_in(getattr(result, "logits", result)))
            marks = [mark for mark in map(operations.mark_of, outputs) if mark is not None]
            if marks:
                return operations.origin(min(marks))
            loss = outputs[0] if len(outputs) == 1 else None
            if not backward or loss is None or loss.numel() != 1 or loss.grad_fn is None:
                return None
            if bad_facts(loss) is not None:
                return operations.asked_for(loss)
            try:
                _backward(loss, calls, operations)
            except RuntimeError as error:
                refused = _refused(error, calls.last_write)
                if refused is None:
                    raise
                return refused
            marks = [mark for mark in (operations.mark_of(each.grad) for each in model.parameters()) if mark is not None]
            if marks:
                return operations.origin(min(marks))
    finally:
        modules.remove()
        if operations.announced is not None:
            operations.announced.remove()
    return None
