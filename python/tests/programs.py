"""Programs for the trials: small networks of several kinds, their data, and a loop with places to spoil."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import torch

from osler.torch import Monitor

F = torch.nn.functional
nn = torch.nn
STEPS = 400
BATCH = 32


def blobs(samples: int = 1600, classes: int = 4) -> tuple[Any, Any]:
    """Clouds of points."""
    generator = torch.Generator().manual_seed(0)
    centres = 1.5 * torch.randn(classes, 12, generator=generator)
    y = torch.randint(0, classes, (samples,), generator=generator)
    x = centres[y] + 1.5 * torch.randn(samples, 12, generator=generator)
    return (x - x.mean(0)) / x.std(0), y


def waves(samples: int = 1600) -> tuple[Any, Any]:
    """A number of six numbers."""
    x = 4 * torch.rand(samples, 6, generator=torch.Generator().manual_seed(0)) - 2
    y = (torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2])[:, None]
    return x, (y - y.mean()) / y.std()


def images(samples: int = 1200) -> tuple[Any, Any]:
    """Four patterns in noise."""
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randn(4, 1, 10, 10, generator=generator)
    y = torch.randint(0, 4, (samples,), generator=generator)
    return 0.7 * patterns[y] + torch.randn(samples, 1, 10, 10, generator=generator), y


def sentences(samples: int = 1200) -> tuple[Any, Any]:
    """Sixteen tokens that are counted up by one, two or three."""
    generator = torch.Generator().manual_seed(0)
    first = torch.randint(0, 16, (samples, 1), generator=generator)
    stride = torch.randint(1, 4, (samples, 1), generator=generator)
    x = (first + stride * torch.arange(13)) % 16
    return x[:, :-1], x[:, 1:]


class Perceptron(nn.Module):
    def __init__(self, inputs: int = 12, outputs: int = 4, depth: int = 2, activation: Any = nn.ReLU) -> None:
        super().__init__()
        sizes = [inputs] + [48] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.activation = activation()
        self.head = nn.Linear(48, outputs)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = self.activation(layer(x))
        return self.head(x)


class Detached(Perceptron):
    """Cut in two by mistake."""

    def forward(self, x: Any) -> Any:
        return self.head(self.activation(self.layers[1](self.activation(self.layers[0](x)).detach())))


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12)
        self.second, self.drop, self.head = nn.Conv2d(12, 12, 3, padding=1), nn.Dropout(0.1), nn.Linear(12, 4)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(torch.relu(self.norm(self.first(x))), 2)
        return self.head(self.drop(torch.relu(self.second(x)).mean((2, 3))))


class Transformer(nn.Module):
    def __init__(self, blocks_used: int = 2) -> None:
        super().__init__()
        self.used = blocks_used
        self.words = nn.Embedding(16, 32)
        self.places = nn.Parameter(0.02 * torch.randn(12, 32))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, norm_first=True) for _ in range(2)
        )
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 16)
        self.register_buffer("mask", torch.full((12, 12), -math.inf).triu(1))

    def forward(self, x: Any) -> Any:
        x = self.words(x) + self.places
        for block in list(self.blocks)[: self.used]:
            x = block(x, src_mask=self.mask)
        return self.head(self.norm(x))


class Adapted(nn.Module):
    """A frozen layer with an adapter of low rank beside it."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Parameter(0.1 * torch.randn(4, layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, 4))

    def forward(self, x: Any) -> Any:
        return self.layer(x) + x @ self.down.t() @ self.up.t()


def cross_entropy(output: Any, y: Any) -> Any:
    return F.cross_entropy(output.reshape(-1, output.shape[-1]), y.reshape(-1))


def adam(model: Any, rate: float = 2e-3) -> Any:
    return torch.optim.Adam([each for each in model.parameters() if each.requires_grad], rate)


@dataclass
class Program:
    """One training; a fault changes some of it."""

    model: Any
    data: tuple[Any, Any]
    optimizer: Any = None
    loss: Callable[[Any, Any], Any] = cross_entropy
    clear: bool = True
    shuffle: bool = True
    training_mode: bool = True
    validation_mode: bool = False
    validation_graph: bool = False
    spoil: Callable[[int, Any, Any], tuple[Any, Any]] = lambda step, x, y: (x, y)
    spoil_validation: Callable[[Any, Any], tuple[Any, Any]] = lambda x, y: (x, y)
    before: Callable[[int], None] = lambda step: None
    batch: int = BATCH
    labels: bool = True
    options: dict[str, Any] = field(default_factory=dict)

    def run(self) -> Any:
        """Trains at the default budget; gives back the report after 400 steps."""
        optimizer = self.optimizer or adam(self.model)
        monitor = Monitor(self.model, optimizer, on_line=None, **self.options)
        x, y = self.data
        cut = len(x) * 4 // 5
        order = torch.arange(cut)
        for step in range(STEPS):
            place = step % (cut // self.batch)
            if place == 0 and self.shuffle:
                order = torch.randperm(cut)
            at = order[place * self.batch : (place + 1) * self.batch]
            self.before(step)
            self._step(monitor, optimizer, *self.spoil(step, x[:cut][at], y[:cut][at]))
            if step % 50 == 49:
                self._validate(monitor, *self.spoil_validation(x[cut:], y[cut:]))
        report = monitor.report()
        monitor.close()
        return report

    def _step(self, monitor: Any, optimizer: Any, x: Any, y: Any) -> None:
        self.model.train(self.training_mode)
        monitor.batch(x, y if self.labels else None)
        if self.clear:
            optimizer.zero_grad()
        loss = self.loss(self.model(x), y)
        loss.backward()
        if monitor.step(loss):
            optimizer.step()

    def _validate(self, monitor: Any, x: Any, y: Any) -> None:
        self.model.train(self.validation_mode)
        with torch.set_grad_enabled(self.validation_graph):
            output = self.model(x)
            monitor.validation_batch(output)
            right: Optional[Any] = (output.argmax(-1) == y).float().mean() if self.loss is cross_entropy else None
            told = {} if right is None else {"accuracy": float(right)}
            monitor.validation(float(self.loss(output, y)), **told)
