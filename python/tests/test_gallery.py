"""The gallery's patients, trained by PyTorch: Python's monitor must find in them what the C++ one finds."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

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
# What the trap of a recipe does at its one step: the operation and the reason that must be named.
ORIGINS = {
    "log-of-zero": ("log", "log-of-zero"),
    "division-by-zero": ("div", "division-by-zero"),
    "sqrt-at-zero": ("sqrt", "sqrt-at-zero"),
    "exp-overflow": ("exp", "exp-overflow"),
    "in-place": ("div", "in-place-modification"),
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
        operation, cause = ORIGINS[recipe.trap]
        assert training.origin is not None
        assert (training.origin.operation, training.origin.cause) == (operation, cause), training.origin.text
        assert training.origin.line.startswith("gallery.py:"), training.origin.line


@pytest.mark.parametrize("name", HEALTHY)
def test_is_left_alone(name: str) -> None:
    report = Trainer(Recipe(PATIENTS[name]["recipe"])).run()
    assert not [each.id for each in report.findings if each.severity != "note"], report.text()
