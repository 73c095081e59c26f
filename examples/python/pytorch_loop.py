#!/usr/bin/env python3
"""A small classifier in PyTorch under the monitor: pytorch_loop.py [RATE]."""

import sys

import torch

from osler.torch import Monitor

rate = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
torch.manual_seed(0)
x = torch.randn(1024, 10)
y = (x @ torch.randn(10, 3)).argmax(1)

model = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
monitor = Monitor(model, optimizer, classes=3, batch_size=32)

for step in range(300):
    at = torch.randint(0, len(x), (32,))
    monitor.batch(x[at], y[at])
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x[at]), y[at])
    loss.backward()
    if monitor.step(loss):
        optimizer.step()
print(monitor.summary())
