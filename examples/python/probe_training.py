#!/usr/bin/env python3
"""A training examined before it is run: a checkup, a rate, a batch size. probe_training.py [RATE]."""

import sys

import torch

from osler.torch import Training, checkup, lr_range_test, noise_scale

rate = float(sys.argv[1]) if len(sys.argv) > 1 else 0.3
torch.manual_seed(0)
x = torch.randn(4096, 10)
y = (x @ torch.randn(10, 3)).argmax(1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64, shuffle=True)

model = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
training = Training(model, optimizer, torch.nn.CrossEntropyLoss(), loader, classes=3)

print(checkup(training))
found = lr_range_test(training)
print(found.verdict)
if not found.passed and "suggestion" in found.values:
    for group in optimizer.param_groups:
        group["lr"] = found["suggestion"]
    print(f"going on with {found['suggestion']:.2g}")
print(noise_scale(training).verdict)
