"""Half precision under frameworks: losses are scaled and shared out for the backward pass, and told as the user knows them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import osler

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from scaler import host_scaler  # noqa: E402

from osler.torch import Monitor  # noqa: E402

F = torch.nn.functional
SCALE = 1024.0


def _network() -> Any:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))


def _data() -> tuple[Any, Any]:
    x = torch.randn(256, 8, generator=torch.Generator().manual_seed(1))
    return x, (x[:, 0] > 0).long()


def _first_gradient() -> float:
    """The norm of the first layer's gradient over the first batch, as it is without a scaler."""
    model, (x, y) = _network(), _data()
    F.cross_entropy(model(x[:16]), y[:16]).backward()
    return float(model[0].weight.grad.norm())


@pytest.mark.parametrize("by_user", [False, True])
def test_gradients_that_the_user_has_unscaled_are_not_unscaled_again(tmp_path: Path, by_user: bool) -> None:
    model, (x, y) = _network(), _data()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = host_scaler(SCALE)
    with Monitor(model, optimizer, on_line=None, run_file=tmp_path / "run.osler", statistics_every=1) as monitor:
        for _ in range(4):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[:16]), y[:16])
            scaler.scale(loss).backward()
            if by_user:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 100.0)
            assert monitor.step(loss, scaler=scaler)
            scaler.step(optimizer)
            scaler.update()
    run = osler.read(tmp_path / "run.osler")
    assert run["gradients/0.weight#norm"].values[0] == pytest.approx(_first_gradient(), rel=1e-4)
    assert run["loss_scale"].values[0] == SCALE


def _fit(lightning: Any, folder: Path, callback: Any, scaler: Any, steep: float = 0.0, **options: Any) -> Any:
    from lightning.pytorch.plugins.precision import MixedPrecision

    class Classifier(lightning.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = _network()

        def training_step(self, batch: Any, index: int) -> Any:
            x, y = batch
            loss = F.cross_entropy(self.net(x).float(), y)
            weight = self.net[0].weight
            return loss + steep * (weight - weight.detach()).sum() if steep and index < 4 else loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    precision = {"precision": "bf16-mixed"} if scaler is None else {"plugins": [MixedPrecision("16-mixed", "cpu", scaler)]}
    if scaler is not None:
        precision["plugins"][0].autocast_context_manager = lambda: torch.autocast("cpu", torch.bfloat16)  # has no float16
    torch.manual_seed(0)
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        callbacks=[callback] if callback is not None else [],
        **precision,
        **options,
    )
    module = Classifier()
    trainer.fit(module, torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*_data()), batch_size=16))
    return [parameter.detach().clone() for parameter in module.parameters()]


@pytest.mark.parametrize(("scaled", "accumulated"), [(True, 1), (True, 2), (False, 2)])
def test_lightning_in_half_precision(lightning: Any, tmp_path: Path, scaled: bool, accumulated: int) -> None:
    from osler.lightning import OslerCallback

    def scaler() -> Any:
        return host_scaler(SCALE) if scaled else None

    callback = OslerCallback(tmp_path / "run.osler", on_line=None, statistics_every=1)
    watched = _fit(lightning, tmp_path, callback, scaler(), accumulate_grad_batches=accumulated)
    unwatched = _fit(lightning, tmp_path, None, scaler(), accumulate_grad_batches=accumulated)
    assert all(torch.equal(a, b) for a, b in zip(watched, unwatched)), "the same to the bit"
    run = osler.read(tmp_path / "run.osler")
    assert run["train/loss"].values[0] == pytest.approx(math.log(2), abs=0.2), "neither scaled nor divided"
    if accumulated == 1:
        assert run["gradients/net.0.weight#norm"].values[0] == pytest.approx(_first_gradient(), rel=0.05)
    assert ("loss_scale" in run.series) == scaled
    assert run.configuration["num_classes"] == "2", "read from the loss, below what the framework did to it"
    assert run.configuration["batch_size"] == str(16 * accumulated)
    assert callback.report is not None and not callback.report.sick, callback.report.text()


def test_lightning_leaves_overflows_to_its_scaler(lightning: Any, tmp_path: Path) -> None:
    from osler.lightning import OslerCallback

    lines: list[str] = []
    callback = OslerCallback(tmp_path / "run.osler", on_line=lines.append, statistics_every=1)
    _fit(lightning, tmp_path, callback, host_scaler(2.0**120), steep=1e6)
    assert not [line for line in lines if "not finite" in line], lines
    run = osler.read(tmp_path / "run.osler")
    assert run["loss_scale"].values[0] == 2.0**120 and run["loss_scale"].values[4] == 2.0**116


def test_lightning_says_that_a_second_softmax_is_in_the_loss(lightning: Any, tmp_path: Path) -> None:
    from osler.lightning import OslerCallback

    class Squashed(lightning.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = _network()

        def training_step(self, batch: Any, index: int) -> Any:
            return F.cross_entropy(torch.softmax(self.net(batch[0]), 1), batch[1])

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    callback = OslerCallback(on_line=None)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*_data()), batch_size=16)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    lightning.Trainer(max_epochs=4, accelerator="cpu", default_root_dir=tmp_path, callbacks=[callback], **quiet).fit(Squashed(), loader)
    assert callback.report is not None and callback.report.has("outputs-squashed-twice"), callback.report.text()


class Tokens(torch.utils.data.Dataset):  # type: ignore[misc,name-defined]
    def __len__(self) -> int:
        return 96

    def __getitem__(self, index: int) -> dict[str, Any]:
        ids = (torch.arange(16) * (index % 5 + 1) + index) % 40
        return {"input_ids": ids, "labels": ids}


def _tune(folder: Path, callback: Any, scaler: Any = None, llama: bool = False, **options: Any) -> Any:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate: pip install accelerate")
    torch.manual_seed(0)
    if llama:
        size = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=40, max_position_embeddings=16, **size))
    else:
        model = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=1, n_head=2)
        )
    arguments = transformers.TrainingArguments(
        output_dir=str(folder / "out"),
        per_device_train_batch_size=16,
        learning_rate=3e-3,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        **options,
    )
    callbacks = [callback] if callback is not None else []
    trainer = transformers.Trainer(model=model, args=arguments, train_dataset=Tokens(), callbacks=callbacks)
    if scaler is not None:  # as accelerate does on a GPU, and on no other device
        trainer.accelerator.scaler = scaler
        trainer.accelerator.unscale_gradients = lambda: scaler.unscale_(trainer.optimizer.optimizer)
    trainer.train()
    return [parameter.detach().clone() for parameter in model.parameters()], trainer.state.log_history


@pytest.mark.parametrize("clipped", [0.0, 1.0])
def test_transformers_with_a_scaler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clipped: float) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    from osler.transformers import OslerCallback

    norms = []
    weights = []
    for number, scaler in enumerate((host_scaler(SCALE), None, host_scaler(SCALE))):
        watched = number < 2
        path = tmp_path / f"run{number}.osler"
        callback = OslerCallback(path, on_line=None, statistics_every=1) if watched else None
        found, history = _tune(tmp_path, callback, scaler, max_steps=6, max_grad_norm=clipped)
        weights.append(found)
        if watched:
            run = osler.read(path)
            norms.append(run["grad_norm"].values[0])
            assert run["train/loss"].values[0] == pytest.approx(history[0]["loss"], rel=1e-3)
            assert ("loss_scale" in run.series) == (scaler is not None)
            assert run.configuration["num_classes"] == "40" and run.configuration["batch_size"] == "16"
    assert norms[0] == pytest.approx(norms[1], rel=1e-3), "unscaled, whether the trainer clips or not"
    assert all(torch.equal(a, b) for a, b in zip(weights[0], weights[2])), "the same to the bit"


@pytest.mark.parametrize("llama", [False, True])
def test_transformers_accumulate_and_cast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llama: bool) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    from osler.transformers import OslerCallback

    callback = OslerCallback(tmp_path / "run.osler", on_line=None)
    _, history = _tune(tmp_path, callback, llama=llama, gradient_accumulation_steps=3, max_steps=6, bf16=True)
    run = osler.read(tmp_path / "run.osler")
    assert run.configuration["num_classes"] == "40" and run.configuration["batch_size"] == "48"
    logged = [row["loss"] for row in history if "loss" in row]
    assert len(run["train/loss"].values) == len(logged) == 6
    for seen, told in zip(run["train/loss"].values, logged):  # of the newest of three batches, or of all
        assert seen == pytest.approx(told, rel=1e-3 if llama else 0.05), "of the step, not a third of it"


def test_transformers_whose_model_gives_no_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    from osler.transformers import OslerCallback

    class Own(transformers.Trainer):  # type: ignore[misc,name-defined]
        def compute_loss(self, model: Any, inputs: Any, *rest: Any, **options: Any) -> Any:
            labels = inputs.pop("labels")
            return F.cross_entropy(model(**inputs).logits.view(-1, 40), labels.view(-1))

    monkeypatch.setattr(transformers, "Trainer", Own)
    lines: list[str] = []
    callback = OslerCallback(tmp_path / "run.osler", on_line=lines.append)
    _tune(tmp_path, callback, max_steps=6)
    assert len([line for line in lines if "gives no loss" in line]) == 1, lines
    assert callback.monitor is not None and callback.monitor.steps == 6 and "gives no loss" in callback.monitor.summary()
    run = osler.read(tmp_path / "run.osler")
    assert len(run["train/loss"].values) == 6 and len(run["lr/group0"].values) == 6
