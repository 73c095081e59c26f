"""Statistics of tensors on a GPU, measured there: all of them in one launch, without waiting for the device."""

from __future__ import annotations

import glob
import math
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import torch

from osler import _core
from osler.errors import InvalidError


def compilers() -> list[str]:
    """Where the run-time compiler NVRTC lies that came with PyTorch; the system's own is found without this."""
    found: list[str] = []
    for folder in sys.path:
        for pattern in ("nvidia/cu*/lib/libnvrtc.so.*", "nvidia/cuda_nvrtc/lib/libnvrtc.so.*", "torch/lib/libnvrtc*.so*"):
            found += glob.glob(os.path.join(folder, pattern))
    wanted = (torch.version.cuda or "").split(".")[0]
    found = [path for path in found if "builtins" not in path and "alt" not in os.path.basename(path)]
    return sorted(found, key=lambda path: not path.endswith(f".so.{wanted}"))


def cache_folder() -> str:
    """Where compiled kernels are kept for the next program."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "osler")


def one_gpu(tensors: Iterable[torch.Tensor]) -> Optional[int]:
    """The number of the GPU that holds all of these; None where they are elsewhere or on several."""
    devices = {tensor.device for tensor in tensors}
    if len(devices) != 1:
        return None
    device = devices.pop()
    return device.index if device.type == "cuda" else None


@dataclass(frozen=True)
class Look:
    """What is known of a step after it was done."""

    step: int
    finite: bool
    first_bad: str = ""
    norm: Optional[float] = None
    of_loss: bool = False


@dataclass
class _Waiting:
    """A loss on its way to the host, and the moments of its step on the device."""

    step: int
    value: torch.Tensor
    copied: torch.cuda.Event
    data: float
    moments: list[tuple[str, torch.cuda.Event]]
    names: list[str]  # of further numbers of the step
    numbers: Optional[torch.Tensor]


class LateNews:
    """Brings losses, times and statistics of a training on a GPU to a watch, each under the step it belongs to, without
    waiting for the device.
    """

    def __init__(self, watch: Any, device: int) -> None:
        self._watch = watch
        self._device = device
        self._waiting: deque[_Waiting] = deque()
        self._spare: dict[torch.dtype, list[torch.Tensor]] = {}
        self._kept: dict[str, torch.Tensor] = {}
        self._data = 0.0
        self._moments: list[tuple[str, torch.cuda.Event]] = []

    def _moment(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

    def time_begins(self, data: float) -> None:
        """A step begins on the device; `data`: seconds that the loop waited for its batch."""
        self._data = data
        self._moments = [("", self._moment())]

    def time_passes(self, part: str) -> None:
        """So far the device has to come for this part of the step to be over."""
        self._moments.append((part, self._moment()))

    @property
    def stream(self) -> int:
        """The current stream of the device, as the engine takes it."""
        return int(torch.cuda.current_stream(self._device).cuda_stream)

    def sees(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor can be measured where it lies, at this point."""
        return tensor.is_cuda and tensor.device.index == self._device and not torch.cuda.is_current_stream_capturing()

    def keep(self, name: str, value: torch.Tensor) -> None:
        """A number of the step that is under way, which is on the device and is recorded when it has come."""
        self._kept[name] = value.detach().reshape(1).double()

    def exchange(self, loss: torch.Tensor, parameters: list[torch.Tensor], step: int) -> list[Look]:
        """Queues the loss and the statistics of a step; gives what has come of earlier ones."""
        stream = torch.cuda.current_stream(self._device)
        looks = self._losses(wait=False)
        kept, self._kept = self._kept, {}
        if not torch.cuda.is_current_stream_capturing():
            # In its own type: a conversion would be one more kernel on every step.
            spare = self._spare.setdefault(loss.dtype, [])
            value = spare.pop() if spare else torch.empty(1, dtype=loss.dtype, pin_memory=True)
            value.copy_(loss.detach().reshape(1), non_blocking=True)
            numbers = None
            if kept:
                numbers = torch.empty(len(kept), dtype=torch.float64, pin_memory=True)
                numbers.copy_(torch.cat(list(kept.values())), non_blocking=True)
            copied = torch.cuda.Event()
            copied.record(stream)
            self._waiting.append(_Waiting(step, value, copied, self._data, self._moments, list(kept), numbers))
        return looks + self._looks(self._watch.look_later(parameters, stream.cuda_stream))

    def _losses(self, wait: bool) -> list[Look]:
        looks = []
        while self._waiting:
            first = self._waiting[0]
            last = first.moments[-1][1] if first.moments else first.copied
            if wait:
                first.copied.synchronize()
                last.synchronize()
            elif not (first.copied.query() and last.query()):
                break
            self._waiting.popleft()
            value = float(first.value.item())
            self._spare[first.value.dtype].append(first.value)
            self._watch.late_loss(first.step, value)
            if first.numbers is not None:
                for name, number in zip(first.names, first.numbers.tolist()):
                    if math.isfinite(number):
                        self._watch.late_scalar(first.step, name, number)
            self._tell_times(first)
            looks.append(Look(first.step, math.isfinite(value), of_loss=True))
        return looks

    def _tell_times(self, done: _Waiting) -> None:
        if len(done.moments) < 2:
            return
        self._watch.late_scalar(done.step, "osler/time/data", done.data)
        for (_, begin), (part, end) in zip(done.moments, done.moments[1:]):
            self._watch.late_scalar(done.step, f"osler/time/{part}", begin.elapsed_time(end) / 1e3)

    @staticmethod
    def _looks(told: list[tuple[int, bool, str, Optional[float]]]) -> list[Look]:
        return [Look(step, finite, first_bad, norm) for step, finite, first_bad, norm in told]

    def settle(self) -> list[Look]:
        """Waits for all that is under way."""
        looks = self._losses(wait=True)
        return looks + self._looks(self._watch.settle())


class GpuStatistics:
    """The statistics of many tensors of one GPU.

        statistics = GpuStatistics()
        statistics.measure(parameter.grad for parameter in model.parameters())  # queued on the current stream
        ...                                                                      # the training goes on
        if statistics.ready():
            for each in statistics.results():
                print(each["norm"], each["nan"])

    Raises `osler.OslerError` where there is no GPU, no driver or no run-time compiler.
    """

    def __init__(self, device: Optional[int] = None) -> None:
        self._device = torch.cuda.current_device() if device is None else device
        self._meter = _core.GpuMeter(self._device, cache_folder(), compilers())
        self._summaries = 0
        self._pairs = 0
        self._asked: list[weakref.ref[torch.Tensor]] = []
        self._histogram = False

    def _submit(self) -> None:
        self._meter.submit(torch.cuda.current_stream(self._device).cuda_stream)

    def _begin(self, asked: list[torch.Tensor]) -> None:
        self._meter.clear()
        self._summaries = 0
        self._pairs = 0
        # Only known, not kept: gradients that the program has let go of shall not fill the device for the sake of numbers.
        self._asked = [weakref.ref(each) for each in asked]

    def measure(self, tensors: Iterable[torch.Tensor], *, histogram: bool = False) -> None:
        """Asks for the statistics of tensors as they are at this point of the current stream."""
        asked = list(tensors)
        self._begin(asked)
        self._histogram = histogram
        for tensor in asked:
            self._meter.summarize(tensor, histogram)
        self._summaries = len(asked)
        self._submit()

    def compare(self, first: Sequence[torch.Tensor], second: Sequence[torch.Tensor]) -> None:
        """Asks what pairs of tensors say together: products, distances, lost updates."""
        if len(first) != len(second):
            raise InvalidError(f"{len(first)} tensors cannot be paired with {len(second)}", "invalid-argument")
        self._begin([*first, *second])
        for a, b in zip(first, second):
            self._meter.compare(a, b)
        self._pairs = len(first)
        self._submit()

    def again(self) -> None:
        """Asks the same of the same tensors once more, as they are now. They must still be there."""
        asked = [each() for each in self._asked]
        kept = [each for each in asked if each is not None]
        if not kept or len(kept) < len(asked):
            gone = f"{len(asked) - len(kept)} of them are gone" if asked else "nothing was asked for before"
            raise InvalidError(f"again() measures the tensors of the question before, and {gone}", "invalid-argument")
        if self._pairs:
            self.compare(kept[: self._pairs], kept[self._pairs :])
        else:
            self.measure(kept, histogram=self._histogram)

    def ready(self) -> bool:
        """Whether the results are there; does not wait."""
        return self._meter.poll()

    def results(self) -> list[dict[str, Any]]:
        """The statistics, in the order of asking; waits for them where they are not there yet."""
        if not self._meter.poll():
            self._meter.wait()
        if self._pairs:
            return [self._meter.pair(number) for number in range(self._pairs)]
        return [self._meter.summary(number) for number in range(self._summaries)]

    def histogram(self, number: int) -> tuple[list[int], list[int], int]:
        """The counts of positive and negative values by octave, 2^-127 the first, and of zeros, of one tensor."""
        return self._meter.histogram(number)

    @property
    def memory(self) -> tuple[int, int]:
        """The bytes that are held on the GPU and in page-locked host memory."""
        return self._meter.memory()
