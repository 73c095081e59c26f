"""The gallery's patients, trained by PyTorch: Python's monitor must find in them what the C++ one finds."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

import gallery  # noqa: E402
from gallery import Recipe, Trainer, unsupported  # noqa: E402

from osler import _core  # noqa: E402

# Their faults show on handwritten digits; on the drawn ones of this trainer the C++ monitor does not find them either.
NEED_HANDWRITING = ("dropout-too-strong", "exploding-deep")
PATIENTS = {
    patient["id"]: patient
    for patient in _core.patients()
    if unsupported(Recipe(patient["recipe"])) is None
    and patient["id"] not in NEED_HANDWRITING
    and not patient["probe"]  # no curve shows these: test_probes has the probes
}
SICK = [name for name, patient in PATIENTS.items() if patient["finding"]]
HEALTHY = [name for name, patient in PATIENTS.items() if not patient["finding"]]
# What the trap of a recipe does at its one step: the operation, the reason and the line that must be named. All are terms
# of the loss, outside of every module.
ORIGINS = {
    "log-of-zero": ("log", "log-of-zero", "torch.log(p)"),
    "division-by-zero": ("div", "division-by-zero", "rows / spread"),
    "sqrt-at-zero": ("sqrt", "sqrt-at-zero", "torch.sqrt(gap"),
    "exp-overflow": ("exp", "exp-overflow", "torch.exp(out * 1e3"),
    "in-place": ("div", "in-place-modification", "(out / spread).mean()"),
}


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """With networks this small, threads spend their time waiting for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_there_are_enough_of_them() -> None:
    assert len(SICK) >= 20 and len(HEALTHY) >= 10


@pytest.mark.parametrize("name", SICK)
def test_is_found(name: str) -> None:
    patient = PATIENTS[name]
    recipe = Recipe(patient["recipe"])
    training = Trainer(recipe)
    report = training.run()
    assert {each.id for each in report.findings} & {patient["finding"], *patient["also"]}, report.text()
    if recipe.trap in ORIGINS:
        operation, cause, code = ORIGINS[recipe.trap]
        assert training.origin is not None
        assert (training.origin.operation, training.origin.cause) == (operation, cause), training.origin.text
        file, _, line = training.origin.line.partition(":")
        assert (file, training.origin.layer) == ("gallery.py", ""), training.origin
        assert code in linecache.getline(gallery.__file__, int(line)), training.origin


@pytest.mark.parametrize("name", HEALTHY)
def test_is_left_alone(name: str) -> None:
    report = Trainer(Recipe(PATIENTS[name]["recipe"])).run()
    assert not [each.id for each in report.findings if each.severity != "note"], report.text()
