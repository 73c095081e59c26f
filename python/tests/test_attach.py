"""Reports attached to runs of W&B and MLflow: the real libraries, offline and with a local store."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import osler

SICK_TAGS = ["osler:critical", "osler:loss-diverging"]


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """W&B without a network and without an account."""
    library = pytest.importorskip("wandb", reason="W&B is not installed: pip install wandb")
    monkeypatch.chdir(tmp_path)
    for key, value in {"MODE": "offline", "SILENT": "true", "DIR": str(tmp_path), "CACHE_DIR": str(tmp_path / "cache"),
                       "DATA_DIR": str(tmp_path / "data"), "CONFIG_DIR": str(tmp_path / "config")}.items():
        monkeypatch.setenv(f"WANDB_{key}", value)
    yield library
    if library.run is not None:
        library.finish()


def _log(run: Any, log: Path) -> None:
    points = osler.read(log).points()
    rows: dict[int, dict[str, float]] = {}
    for name, each in points.items():
        for step, value in zip(each.steps, each.values):
            rows.setdefault(step, {})[name] = value
    for step in sorted(rows):
        run.log(rows[step], step=step)


def test_wandb_attach_to_a_live_run(wandb: Any, sick_log: Path) -> None:
    import osler.wandb

    run = wandb.init(project="test", tags=["mine", "osler:healthy"])
    _log(run, sick_log)
    report = osler.wandb.attach(run, osler.diagnose(sick_log))
    assert run.summary["osler/status"] == "critical"
    assert run.summary["osler/findings"].startswith("loss-diverging")
    assert run.summary["osler/cause"].startswith("lr-too-high")
    assert list(run.tags)[:1] == ["mine"] and set(SICK_TAGS) <= set(run.tags)
    assert "osler:healthy" not in run.tags, "an older verdict goes"
    folder = Path(run.dir).parent
    run.finish()
    for words in (b"osler/status", b"osler:loss-diverging", b"osler-report", report.headline.encode()):
        assert _comes(folder, words), words
    # What Osler reads back of that run is the training, not the attachment.
    assert osler.diagnose(folder).has("loss-diverging")


def _comes(folder: Path, words: bytes) -> bool:
    """Whether the words come to stand in a folder: W&B's own process writes them, when it gets to it."""
    for _ in range(600):
        if any(words in path.read_bytes() for path in folder.rglob("*") if path.is_file()):
            return True
        time.sleep(0.1)
    return False


def test_wandb_attach_to_a_folder(wandb: Any, sick_log: Path) -> None:
    import osler.wandb

    run = wandb.init(project="test")
    _log(run, sick_log)
    folder, id = Path(run.dir).parent, run.id
    run.finish()
    report = osler.wandb.attach(folder, project="test")
    assert report.status == "critical" and report.has("loss-diverging")
    others = [each for each in folder.parent.glob(f"offline-run-*-{id}") if each != folder]
    assert len(others) == 1, "the same id, so that both are one run"
    assert _comes(others[0], b"osler/status") and _comes(others[0], b"osler:critical")


def test_wandb_attach_says_what_is_no_run(wandb: Any, tmp_path: Path) -> None:
    import osler.wandb

    with pytest.raises(FileNotFoundError, match="nothing"):
        osler.wandb.attach(tmp_path / "nothing")
    with pytest.raises(ValueError, match="not the folder of a run"):
        osler.wandb.attach(tmp_path)


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """MLflow with a store in a folder."""
    library = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install mlflow-skinny")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    library.set_tracking_uri((tmp_path / "mlruns").as_uri())
    return library


def _log_mlflow(mlflow: Any, log: Path) -> str:
    client = mlflow.MlflowClient()
    with mlflow.start_run(run_name="exp42") as run:
        mlflow.log_param("lr", 10)
        for name, points in osler.read(log).points().items():
            metrics = [mlflow.entities.Metric(name, value, 0, step) for step, value in zip(points.steps, points.values)]
            for first in range(0, len(metrics), 1000):
                client.log_batch(run.info.run_id, metrics[first : first + 1000])
        return str(run.info.run_id)


@pytest.mark.parametrize("how", ["run", "id", "folder"])
def test_mlflow_attach(mlflow: Any, sick_log: Path, tmp_path: Path, how: str) -> None:
    import osler.mlflow

    id = _log_mlflow(mlflow, sick_log)
    folder = next(tmp_path.glob(f"mlruns/*/{id}"))
    report = osler.mlflow.attach({"run": mlflow.get_run(id), "id": id, "folder": folder}[how])
    assert report.run_name == "exp42" and report.has("loss-diverging"), "the run's own metrics are diagnosed"
    stored = mlflow.get_run(id)
    assert stored.data.tags["osler.status"] == "critical"
    assert stored.data.tags["osler.cause"].startswith("lr-too-high")
    assert stored.data.tags["osler.remedy"].startswith("Divide the learning rate by 10: lr 10 -> 1")
    client = mlflow.MlflowClient()
    names = {each.path for each in client.list_artifacts(id, "osler")}
    assert names == {"osler/report.html", "osler/report.json", "osler/report.sarif"}
    kept = json.loads(Path(client.download_artifacts(id, "osler/report.json", str(tmp_path))).read_text())
    assert kept["status"] == "critical"


def test_mlflow_attach_replaces_an_older_verdict(mlflow: Any, sick_log: Path, healthy_log: Path) -> None:
    import osler.mlflow

    id = _log_mlflow(mlflow, sick_log)
    osler.mlflow.attach(id)
    osler.mlflow.attach(id, osler.diagnose(healthy_log))
    tags = mlflow.get_run(id).data.tags
    assert tags["osler.status"] == "healthy" and tags["osler.cause"] == ""


def test_mlflow_attach_says_what_is_no_run(mlflow: Any) -> None:
    import osler.mlflow

    with pytest.raises(osler.InvalidError, match="there is no run"):
        osler.mlflow.attach(mlflow.active_run())
    with mlflow.start_run() as run:
        with pytest.raises(osler.InvalidError, match="no metrics"):
            osler.mlflow.attach(run)


def test_documents_are_whole(sick_log: Path) -> None:
    from osler.attachment import document

    page = document(osler.diagnose(sick_log))
    assert page.startswith("<!doctype html>") and page.endswith("</html>")
