#!/usr/bin/env python3
"""A network that takes the logarithm of zero, and what Osler says of it."""

import torch

from osler.torch import Monitor


class LogNet(torch.nn.Module):
    """Its logarithm meets a zero as soon as a unit of the rectifier is silent."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, 8)
        self.outer = torch.nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(torch.log(torch.relu(self.inner(x))))


torch.manual_seed(0)
model = LogNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
monitor = Monitor(model, optimizer)
x, target = torch.randn(16, 4), torch.randn(16, 1)
monitor.train_step(lambda: torch.nn.functional.mse_loss(model(x), target))
print("place:", monitor.origin.place, "- operation:", monitor.origin.operation, "- line:", monitor.origin.line)
