"""The callbacks in real trainings by their frameworks."""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import osler

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")


def _dataset(samples: int = 256) -> Any:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(samples, 8, generator=generator)
    return torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long())


def _fit(lightning: Any, folder: Path, rate: float, callback: Any, epochs: int = 8) -> None:
    class Classifier(lightning.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))

        def training_step(self, batch: Any, index: int) -> Any:
            x, y = batch
            return torch.nn.functional.cross_entropy(self.net(x), y)

        def validation_step(self, batch: Any, index: int) -> None:
            x, y = batch
            self.log("val_loss", torch.nn.functional.cross_entropy(self.net(x), y))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), rate)

    torch.manual_seed(0)
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        callbacks=[callback],
    )
    loader = torch.utils.data.DataLoader(_dataset(), batch_size=16, shuffle=True)
    trainer.fit(Classifier(), loader, torch.utils.data.DataLoader(_dataset(64), batch_size=32))


def test_lightning_healthy_and_sick(lightning: Any, tmp_path: Path) -> None:
    from osler.lightning import OslerCallback

    healthy = OslerCallback(tmp_path / "run.osler", on_line=None)
    _fit(lightning, tmp_path, 0.1, healthy)
    assert healthy.report is not None and not healthy.report.sick, healthy.report.text()
    run = osler.read(tmp_path / "run.osler")
    assert {"train/loss", "validation/loss", "epoch", "gradients/net.0.weight#norm", "osler/batch/deviation"} <= set(run.series)
    assert "activations/net.0 -> relu#norm" in run.series
    sick = OslerCallback(on_line=None)
    _fit(lightning, tmp_path, 1e20, sick)
    assert sick.report is not None and sick.report.sick, sick.report.text()


def test_of_several_processes_the_first_one_watches(lightning: Any, tmp_path: Path) -> None:
    from osler.lightning import OslerCallback

    class Another(OslerCallback):
        """As in the second process of two."""

        def on_train_start(self, trainer: Any, module: Any) -> None:
            super().on_train_start(SimpleNamespace(**{**vars(trainer), "is_global_zero": False}), module)

    second = Another(tmp_path / "run.osler", on_line=None)
    _fit(lightning, tmp_path, 0.1, second, epochs=1)
    assert second.monitor is None and not (tmp_path / "run.osler").exists(), "two would write into one file"


def test_lightning_ends_a_lost_training_and_no_other(lightning: Any, tmp_path: Path) -> None:
    from osler.lightning import OslerCallback

    lines: list[str] = []
    lost = OslerCallback(on_line=lines.append, diagnose_every=4, stop_on_critical=True)
    _fit(lightning, tmp_path, 1e20, lost, epochs=20)
    assert lost.report is not None and lost.monitor is not None and lost.monitor.steps < 20 * 16
    assert any("ends the training: loss-nonfinite" in line for line in lines), "on what evidence"
    assert any("ended by Osler" in mark["text"] for mark in lost.report.to_dict()["marks"])
    still = OslerCallback(on_line=lines.append, diagnose_every=4, stop_on_critical=True)
    _fit(lightning, tmp_path, 0.0, still, epochs=12)
    assert still.report is not None and still.report.sick, "a critical finding: nothing has moved"
    assert still.monitor is not None and still.monitor.steps == 12 * 16, "but it may yet begin to learn"


def test_transformers_healthy_and_sick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate: pip install accelerate")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from osler.transformers import OslerCallback

    class Tokens(torch.utils.data.Dataset):  # type: ignore[misc,name-defined]
        def __len__(self) -> int:
            return 256

        def __getitem__(self, index: int) -> dict[str, Any]:
            ids = (torch.arange(16) * (index % 5 + 1) + index) % 40
            return {"input_ids": ids, "labels": ids}

    def train(rate: float, callback: Any) -> None:
        torch.manual_seed(0)
        size = transformers.GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=2, n_head=2)
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path / "out"),
            per_device_train_batch_size=16,
            num_train_epochs=6,
            learning_rate=rate,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        model = transformers.GPT2LMHeadModel(size)
        transformers.Trainer(model=model, args=arguments, train_dataset=Tokens(), callbacks=[callback]).train()

    healthy = OslerCallback(tmp_path / "run.osler", on_line=None)
    train(3e-3, healthy)
    assert healthy.report is not None and not healthy.report.sick, healthy.report.text()
    run = osler.read(tmp_path / "run.osler")
    assert "train/loss" in run.series and run.configuration["learning_rate"] == "0.003"
    assert any(name.startswith("gradients/transformer.h.0.") for name in run.series)
    sick = OslerCallback(on_line=None)
    train(1e15, sick)
    assert sick.report is not None and sick.report.sick, sick.report.text()


def _says(report: Any, finding: str) -> str:
    """What a report says of a finding; nothing where it was not found."""
    return next((str(each.summary) for each in report.findings if each.id == finding), "")


def test_lightning_shows_the_batches_of_validation(lightning: Any, tmp_path: Path) -> None:
    from osler.lightning import OslerCallback

    class Classifier(lightning.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Linear(8, 2)

        def training_step(self, batch: Any, index: int) -> Any:
            return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def validation_step(self, batch: Any, index: int) -> None:
            self.log("val_accuracy", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    def report(spoil: bool) -> Any:
        x, y = _dataset(64).tensors
        if spoil:
            x[40, 0], y[50] = math.nan, -1
        callback = OslerCallback(on_line=None)
        trainer = lightning.Trainer(
            max_epochs=6,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=tmp_path,
            callbacks=[callback],
        )
        training = torch.utils.data.DataLoader(_dataset(), batch_size=16, shuffle=True)
        trainer.fit(Classifier(), training, torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16))
        return callback.report

    spoilt, sound = report(True), report(False)
    assert "validation" in _says(spoilt, "batch-nonfinite") and "validation" in _says(spoilt, "labels-invalid")
    assert not _says(sound, "batch-nonfinite") and not _says(sound, "labels-invalid")
    assert not _says(sound, "batch-repeated"), "validation comes again in every epoch"


def test_transformers_shows_the_batches_of_training_and_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate: pip install accelerate")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from osler.transformers import OslerCallback

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Linear(8, 2)

        def forward(self, x: Any, labels: Any = None) -> dict[str, Any]:
            scores = self.net(x)
            return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}

    def rows(samples: int, classes_in_turn: bool = False) -> list[dict[str, Any]]:
        x, y = _dataset(samples).tensors
        order = y.argsort() if classes_in_turn else torch.arange(samples)
        return [{"x": x[i], "labels": y[i]} for i in order.tolist()]

    def train(training: Any, evaluation: Any, model: Any) -> Any:
        torch.manual_seed(0)
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path / "out"),
            per_device_train_batch_size=16,
            num_train_epochs=4,
            eval_strategy="epoch",
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
        )
        callback = OslerCallback(on_line=None)

        class InOrder(transformers.Trainer):  # type: ignore[misc,name-defined]
            def _get_train_sampler(self, *rest: Any) -> Any:
                return torch.utils.data.SequentialSampler(self.train_dataset)

        InOrder(model=model, args=arguments, train_dataset=training, eval_dataset=evaluation, callbacks=[callback]).train()
        return callback.report

    model = Model()
    spoilt = rows(64)
    spoilt[40]["x"] = spoilt[40]["x"].clone()
    spoilt[40]["x"][0] = math.nan
    report = train(rows(256, classes_in_turn=True), spoilt, model)
    assert "sorted" in _says(report, "labels-invalid"), report.text()
    assert "validation" in _says(report, "batch-nonfinite"), report.text()
    assert "forward" not in vars(model), "what shows the inputs goes with the training"
    report = train(rows(256), rows(64), Model())
    assert not _says(report, "labels-invalid") and not _says(report, "batch-nonfinite"), report.text()


def test_keras_healthy_and_sick(tmp_path: Path) -> None:
    os.environ.setdefault("KERAS_BACKEND", "torch" if hasattr(torch, "compile") else "jax")
    keras = pytest.importorskip("keras", reason="Keras is not installed: pip install keras")
    numpy = pytest.importorskip("numpy")
    from osler.keras import OslerCallback

    random = numpy.random.default_rng(0)
    x = random.normal(size=(256, 8)).astype("float32")
    y = (x[:, 0] > 0).astype("int64")

    def fit(rate: float, callback: Any) -> None:
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=keras.optimizers.SGD(rate), loss=loss, metrics=["accuracy"])
        model.fit(x, y, epochs=15, batch_size=32, validation_split=0.25, verbose=0, callbacks=[callback])

    healthy = OslerCallback(tmp_path / "run.osler", on_line=None, batch_size=32)
    fit(0.1, healthy)
    assert healthy.report is not None and not healthy.report.sick, healthy.report.text()
    run = osler.read(tmp_path / "run.osler")
    assert run.configuration["num_classes"] == "2" and run.configuration["batch_size"] == "32"
    assert {"train/loss", "validation/loss", "train/accuracy", "lr", "epoch"} <= set(run.series)
    lines: list[str] = []
    sick = OslerCallback(on_line=lines.append, stop_on_critical=True)
    fit(math.inf, sick)
    assert sick.report is not None and sick.report.sick and lines


def test_keras_ends_a_lost_training_and_no_other() -> None:
    os.environ.setdefault("KERAS_BACKEND", "torch" if hasattr(torch, "compile") else "jax")
    keras = pytest.importorskip("keras", reason="Keras is not installed: pip install keras")
    numpy = pytest.importorskip("numpy")
    from osler.keras import OslerCallback

    random = numpy.random.default_rng(0)
    x = random.normal(size=(64, 8)).astype("float32")
    y = (x[:, 0] > 0).astype("int64")

    def fit(rate: float) -> tuple[int, list[str]]:
        lines: list[str] = []
        callback = OslerCallback(on_line=lines.append, stop_on_critical=True)
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(2)])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=keras.optimizers.SGD(rate), loss=loss)
        history = model.fit(x, y, epochs=40, batch_size=32, verbose=0, callbacks=[callback])
        assert callback.report is not None and callback.report.sick
        return len(history.history["loss"]), [line for line in lines if "ends the training" in line]

    epochs, told = fit(math.inf)
    assert 15 <= epochs < 40 and len(told) == 1 and "loss-nonfinite" in told[0]
    assert fit(0.0) == (40, []), "nothing moves, which is critical, but it may yet begin to learn"
