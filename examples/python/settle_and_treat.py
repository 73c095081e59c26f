#!/usr/bin/env python3
"""A training that hardly moves: which cause it is, settled by experiments, and what helps, tried in short forks."""

import torch

from osler.torch import Monitor, Training, settle, treat

torch.manual_seed(0)
x = torch.randn(4096, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64, shuffle=True)


def build(changes):
    """The training with changes; the rate is seen to by `treat`."""
    model = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    return Training(model, optimizer, torch.nn.CrossEntropyLoss(), loader, classes=3)


training = build([])
monitor = Monitor(training.model, training.optimizer, classes=3, batch_size=64, on_line=None)
for _ in range(400):
    batch = training.next_batch()
    monitor.train_step(lambda: training.loss_of(batch))

settled = settle(monitor, training, passes=900)
print(settled)
print("most probable:", settled.report.causes[0].id)
print(treat(settled.report, build, steps=100))
