"""What a broken step is blamed on: found by running it again, or told from what is known without."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any, Callable, Optional

import torch

from osler.torch.origin import Origin, from_outside, trace_origin

_ASK = "; monitor.replay_with(...) or train_step names the operation"
_DIFFERS = (
    "; run a second time, all of it was finite: the function gives another loss each time. Draw the batch outside of it, "
    "so that the step can be repeated"
)


@contextlib.contextmanager
def _with_random(state: Optional[torch.Tensor]) -> Iterator[None]:
    """The random numbers of the step that is looked into; afterwards those of now."""
    now = torch.get_rng_state()
    try:
        if state is not None:
            torch.set_rng_state(state)
        yield
    finally:
        torch.set_rng_state(now)


def blamed(
    outer: torch.nn.Module,
    model: torch.nn.Module,
    value: float,
    first_bad: str,
    *,
    inputs: Any,
    random: Optional[torch.Tensor],
    replay: Optional[Callable[[], Any]],
    compiled: bool,
) -> Origin:
    """Where a step's first non-finite value came from, as closely as it can be told. `value` is the loss, `first_bad` the
    parameter whose gradient is not finite, `inputs` what went into the model, `random` the state of the random numbers
    before that, `replay` computes the loss again.
    """
    hint = _ASK
    if replay is not None:
        try:
            with _with_random(random):
                found = trace_origin(model, replay)
            if found is not None:
                return found
            hint = _DIFFERS
        except Exception as error:  # the step is left out with what is known
            hint = f"; the step could not be run a second time: {str(error).partition(chr(10))[0]}"
    outside = from_outside(model, inputs)
    if outside is not None:
        return outside
    in_backward = math.isfinite(value)
    made = Origin("forward", "unknown", f"The forward pass made it{hint}.")
    if in_backward:
        made = Origin("backward", "unknown", f"The backward pass made it, from {first_bad} on{hint}.")
    if replay is not None or inputs is None or compiled:
        return made
    try:
        with _with_random(random):
            # What the loss has left out, as for ignored labels, comes back in the backward pass.
            found = trace_origin(model, lambda: outer(*inputs), backward=False)
    except Exception:
        return made
    if found is not None or in_backward:
        return found or made
    return Origin("loss", "unknown", f"The model's output was finite: the loss made it{hint}.")
