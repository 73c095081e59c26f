#!/usr/bin/env python3
"""Osler in a Lightning training: lightning_fit.py [RATE]."""

import sys

import torch
from lightning.pytorch import LightningModule, Trainer

from osler.lightning import OslerCallback

RATE = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1


class Classifier(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))

    def training_step(self, batch, index):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), RATE)


torch.manual_seed(0)
x = torch.randn(2048, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32, shuffle=True)
callback = OslerCallback()
trainer = Trainer(
    max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, callbacks=[callback]
)
trainer.fit(Classifier(), loader)
print(callback.report)
