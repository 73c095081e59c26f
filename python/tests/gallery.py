"""A training by a recipe of the gallery, in PyTorch: the loop that a person would write, with the mistakes asked for."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Callable, Optional

import torch

from osler.torch import Monitor, changed_samples, shared_samples

F = torch.nn.functional
nn = torch.nn

CLASSES = 10
VALIDATION_SAMPLES = 500
SIDE = 14
# Which of the seven strokes a digit has: top, upper left, upper right, middle, lower left, lower right, bottom.
STROKES = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")
BOXES = ((2, 4, 1, 6), (2, 4, 5, 1), (2, 9, 5, 1), (6, 4, 1, 6), (7, 4, 4, 1), (7, 9, 4, 1), (10, 4, 1, 6))
ACTIVATIONS: dict[str, Callable[[], Any]] = {
    "relu": nn.ReLU,
    "leaky-relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
}


class Recipe:
    """The settings of a patient, by name, as numbers, flags and words."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        text = self._settings[name]
        if text in ("on", "off", "true", "false"):
            return text in ("on", "true")
        if text in ("", "none"):
            return None
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            return text


@dataclass
class Data:
    x: Any
    y: Any
    validation_x: Any
    validation_y: Any
    classes: Optional[int]


def _digits(count: int) -> tuple[Any, Any]:
    drawn = torch.zeros(CLASSES, SIDE, SIDE)
    for digit, strokes in enumerate(STROKES):
        for stroke, (top, left, height, width) in zip(strokes, BOXES):
            if stroke == "1":
                drawn[digit, top : top + height, left : left + width] = 200
    labels = torch.randint(0, CLASSES, (count,))
    pictures = drawn[labels]
    for i, (down, right) in enumerate(torch.randint(-1, 2, (count, 2)).tolist()):
        pictures[i] = torch.roll(pictures[i], (down, right), (0, 1))
    pictures = pictures * (0.6 + 0.4 * torch.rand(count, 1, 1)) + 25 * torch.randn(pictures.shape)
    return pictures.clamp(0, 255), labels


def _clouds(count: int) -> tuple[Any, Any]:
    centres = torch.sin(torch.arange(CLASSES * 32).view(CLASSES, 32) * 1.7)
    labels = torch.randint(0, CLASSES, (count,))
    return centres[labels] + 1.2 * torch.randn(count, 32), labels


def _regression(count: int) -> tuple[Any, Any]:
    x = torch.randn(count, 8)
    y = torch.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3].abs()
    return x, (y + 0.1 * torch.randn(count)).unsqueeze(1)


def _adding(count: int, length: int) -> tuple[Any, Any]:
    numbers = torch.rand(count, length)
    marks = torch.zeros(count, length)
    marks.scatter_(1, torch.randint(0, length // 2, (count, 1)), 1)
    marks.scatter_(1, torch.randint(length // 2, length, (count, 1)), 1)
    return torch.stack((numbers, marks), -1), (numbers * marks).sum(1, keepdim=True)


def _some(count: int, share: float) -> Any:
    return torch.randperm(count)[: int(share * count)]


def make_data(recipe: Recipe) -> Data:
    total = recipe.samples + VALIDATION_SAMPLES
    pictures = recipe.task in ("digits", "reconstruction")
    makers: dict[str, Callable[[], tuple[Any, Any]]] = {
        "digits": lambda: _digits(total),
        "reconstruction": lambda: _digits(total),
        "clouds": lambda: _clouds(total),
        "regression": lambda: _regression(total),
        "adding": lambda: _adding(total, recipe.sequence_length),
    }
    x, y = makers[recipe.task]()
    if pictures and recipe.input_normalization:
        seen = x[: recipe.samples]
        x = (x - seen.mean()) / seen.std()
    if recipe.task == "reconstruction":
        y = x.flatten(1)
    classes = CLASSES if recipe.task in ("digits", "clouds") else None
    cut = recipe.samples
    data = Data(x[:cut].clone(), y[:cut].clone(), x[cut:].clone(), y[cut:].clone(), classes)
    before = torch.get_rng_state()
    if classes is not None:
        for labels in (data.y, data.validation_y):
            places = _some(len(labels), recipe.label_noise)
            labels[places] = torch.randint(0, classes, (len(places),))
    if recipe.imbalance > 0:
        first = (data.y == 0).nonzero().flatten()
        places = _some(cut, recipe.imbalance)
        data.x[places] = data.x[first[torch.randint(0, len(first), (len(places),))]]
        data.y[places] = 0
    if not recipe.labels_match:
        data.y = data.y[torch.randperm(cut)]
    data.x[_some(cut, recipe.bad_samples)] *= 1000
    if not recipe.shuffle:
        order = torch.sort(data.y).indices
        data.x, data.y = data.x[order], data.y[order]
    if recipe.overlap > 0:
        places = _some(VALIDATION_SAMPLES, recipe.overlap)
        data.validation_x[places] = data.x[: len(places)]
        data.validation_y[places] = data.y[: len(places)]
    torch.set_rng_state(before)
    return data


def _start(recipe: Recipe, layer: Any, output: bool) -> Any:
    """A layer with the weights that the recipe begins with."""
    weight = layer.weight
    inputs, outputs = weight[0].numel(), weight[:, 0].numel()
    xavier = math.sqrt(2 / (inputs + outputs))
    size = {"he": xavier if output else math.sqrt(2 / inputs), "xavier": xavier, "normal": recipe.init_std}
    with torch.no_grad():
        if recipe.init == "equal":
            weight.fill_(0.05 * recipe.init_gain)
        else:
            weight.normal_(0, recipe.init_gain * size[recipe.init])
        layer.bias.fill_(0 if output else recipe.bias)
    return layer


def _behind(recipe: Recipe, size: int, pictures: bool) -> Any:
    """What stands behind a layer: normalisation, activation, dropout."""
    parts: list[Any] = []
    if recipe.normalization == "batch":
        parts.append(nn.BatchNorm2d(size) if pictures else nn.BatchNorm1d(size))
    if recipe.normalization == "layer":
        parts.append(nn.GroupNorm(1, size) if pictures else nn.LayerNorm(size))
    parts.append(ACTIVATIONS[recipe.activation]())
    if recipe.dropout > 0:
        parts.append(nn.Dropout(recipe.dropout))
    return nn.Sequential(*parts)


class Perceptron(nn.Module):
    def __init__(self, recipe: Recipe, inputs: int, outputs: int) -> None:
        super().__init__()
        self._recipe = recipe
        sizes = [inputs]
        for i in range(1, recipe.depth + 1):
            narrow = recipe.task == "reconstruction" and i == (recipe.depth + 1) // 2
            sizes.append(max(1, recipe.width // 4) if narrow else recipe.width)
        pairs = list(zip(sizes, sizes[1:]))
        self.fc = nn.ModuleList(_start(recipe, nn.Linear(a, b), False) for a, b in pairs)
        self.act = nn.ModuleList(_behind(recipe, b, False) for _, b in pairs)
        self.head = _start(recipe, nn.Linear(sizes[-1], outputs), True)

    def forward(self, x: Any) -> Any:
        x = x.flatten(1)
        for i, (layer, behind) in enumerate(zip(self.fc, self.act)):
            y = behind(layer(x))
            x = x + y if self._recipe.residual and y.shape == x.shape else y
            if i == 0 and not self._recipe.connected:
                x = x.detach()
        return self.head(x)


class Convolutional(nn.Module):
    """Convolutions, in pairs with a path around them in a residual network; the picture is halved twice."""

    def __init__(self, recipe: Recipe, outputs: int) -> None:
        super().__init__()
        self._residual = bool(recipe.residual)
        self._stride = 2 if recipe.model == "resnet" else 1
        count = 2 * recipe.depth + 1 if recipe.model == "resnet" else recipe.depth
        channels = [1] + [recipe.width] * count
        self.conv = nn.ModuleList(
            _start(recipe, nn.Conv2d(a, b, 3, padding=1), False) for a, b in zip(channels, channels[1:])
        )
        self.act = nn.ModuleList(_behind(recipe, recipe.width, True) for _ in range(count))
        self.head = _start(recipe, nn.Linear(recipe.width, outputs), True)

    def forward(self, x: Any) -> Any:
        x = self.act[0](self.conv[0](x.unsqueeze(1)))
        for turn, i in enumerate(range(1, len(self.conv), self._stride)):
            if turn < 2:
                x = F.max_pool2d(x, 2)
            y = self.act[i](self.conv[i](x))
            if self._stride == 2:
                y = self.act[i + 1](self.conv[i + 1](y))
            x = x + y if self._residual else y
        return self.head(x.mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, recipe.width, num_layers=recipe.depth, batch_first=True)
        self.head = _start(recipe, nn.Linear(recipe.width, 1), True)

    def forward(self, x: Any) -> Any:
        return self.head(self.lstm(x)[0][:, -1])


def build_network(recipe: Recipe, data: Data) -> Any:
    outputs = data.classes or data.y[0].numel()
    model: Any
    if recipe.model == "mlp":
        model = Perceptron(recipe, data.x[0].numel(), outputs)
    elif recipe.model == "lstm":
        model = Recurrent(recipe)
    else:
        model = Convolutional(recipe, outputs)
    parameters = list(model.parameters())
    if not recipe.trainable:
        for parameter in parameters[: len(parameters) // 2]:
            parameter.requires_grad_(False)
    return model.to(torch.bfloat16) if recipe.precision == "bf16" else model


def build_optimizer(recipe: Recipe, model: Any) -> Any:
    kept = [
        parameter
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and (recipe.all_optimized or not name.startswith("head"))
    ]
    rate, decay = float(recipe.lr), float(recipe.weight_decay)
    if recipe.optimizer in ("sgd", "momentum"):
        momentum = recipe.momentum if recipe.optimizer == "momentum" else 0
        return torch.optim.SGD(kept, rate, momentum=momentum, weight_decay=decay)
    makers = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "rmsprop": torch.optim.RMSprop}
    return makers[recipe.optimizer](kept, rate, weight_decay=decay)


def rate_at(recipe: Recipe, step: int) -> float:
    """The learning rate of a step, as a share of the recipe's."""
    if step < recipe.warmup_steps:
        return (step + 1) / recipe.warmup_steps
    step -= recipe.warmup_steps
    length = max(1, round(recipe.schedule_length * (recipe.steps - recipe.warmup_steps)))
    floor = min(1.0, recipe.min_lr / recipe.lr) if recipe.lr > 0 else 0.0
    done = min(1.0, step / length)
    if recipe.schedule == "cosine":
        return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2
    if recipe.schedule == "step":
        return 0.1 ** (step // max(1, length // 3))
    if recipe.schedule == "one-cycle":
        rise = 0.3 * length
        if step < rise:
            return 1 + (0.04 - 1) * (1 + math.cos(math.pi * step / rise)) / 2
        return 4e-6 + (1 - 4e-6) * (1 + math.cos(math.pi * min(1.0, (step - rise) / (length - rise)))) / 2
    return 1.0


def unsupported(recipe: Recipe) -> Optional[str]:
    """Why this trainer cannot follow a recipe; None: it can."""
    if recipe.task == "text":
        return "its text is compiled into the C++ program"
    if recipe.precision == "fp16":
        return "half precision is imitated by the C++ trainer"
    if recipe.sam:
        return "it takes plain steps"
    if recipe.keep_graphs:
        return "memory that grows is watched in a process of its own"
    return None


class Trainer:
    """One training in progress."""

    VALIDATIONS = 25
    FRESH_VALIDATIONS = 3
    STATISTICS = 100
    TRACES = 50

    def __init__(self, recipe: Recipe, seed: int = 1) -> None:
        torch.manual_seed(seed)
        self.recipe = recipe
        self.data = make_data(recipe)
        self.model = build_network(recipe, self.data)
        self.optimizer = build_optimizer(recipe, self.model)
        # Set rhythms, not the time budget: the report must not depend on how quick the machine is.
        self.monitor = Monitor(
            self.model,
            self.optimizer,
            on_line=None,
            statistics_every=max(1, recipe.steps // self.STATISTICS),
            trace_every=max(1, recipe.steps // self.TRACES),
            batches_every=1,
            diagnose_every=-1,
            check_every_gradient=True,
            clip_norm=recipe.clip_norm,
            skip_nonfinite=recipe.skip_nonfinite,
            classes=self.data.classes,
            batch_size=recipe.batch_size,
        )
        self.origin: Any = None
        self._order: Any = None
        self._schedule_start = 0
        self._validations = 0
        self._stale: Optional[list[Any]] = None
        self._augmentation = torch.Generator().manual_seed(11)
        self.monitor.config("task", recipe.task)
        self.monitor.config("optimizer", recipe.optimizer)
        self.monitor.config("lr", recipe.lr)
        self.monitor.split_overlap(shared_samples(self.data.x, self.data.validation_x))
        self.monitor.validation_changes(changed_samples(self._validation_inputs(), self._validation_inputs()))

    def run(self) -> Any:
        recipe = self.recipe
        last = min(recipe.steps, recipe.stop_step or recipe.steps)
        in_epoch = max(1, recipe.samples // recipe.batch_size)
        for step in range(last):
            self._train_once(step, in_epoch)
            if (step + 1) % max(1, recipe.steps // self.VALIDATIONS) == 0:
                self._validate()
            if (step + 1) % in_epoch == 0:
                self.monitor.epoch((step + 1) // in_epoch)
        report = self.monitor.report()
        self.monitor.close()
        return report

    def _trapped(self, step: int) -> bool:
        return self.recipe.trap is not None and step == int(self.recipe.trap_at * self.recipe.steps)

    def _batch(self, step: int, in_epoch: int) -> tuple[Any, Any]:
        recipe = self.recipe
        place = step % in_epoch if recipe.fresh_batches else 0
        if self._order is None or (place == 0 and recipe.shuffle and recipe.fresh_batches):
            count = len(self.data.x)
            self._order = torch.randperm(count) if recipe.shuffle else torch.arange(count)
        at = self._order[place * recipe.batch_size : (place + 1) * recipe.batch_size]
        x, y = self.data.x[at], self.data.y[at]
        if recipe.slow_data_ms > 0:
            time.sleep(recipe.slow_data_ms / 1000)
        if self._trapped(step) and recipe.trap == "bad-input":
            x.view(-1)[0] = math.nan
        return x, y

    def _forward(self, x: Any) -> Any:
        out = self.model(x.to(torch.bfloat16) if self.recipe.precision == "bf16" else x).float()
        return out * self.recipe.logit_scale

    def _trap_term(self, out: Any, trapped: bool) -> Any:
        """Terms as people write them, sound on every batch but one."""
        kind = self.recipe.trap
        if kind == "log-of-zero":
            p = torch.softmax(out * 1e4 if trapped else out, -1)
            return 0.01 * (p * torch.log(p)).sum(-1).mean()
        if kind == "division-by-zero":
            rows = out * 0 if trapped else out
            spread = (rows - rows.mean(-1, keepdim=True)).abs().sum(-1, keepdim=True)
            return 0.001 * (rows / spread).mean()
        if kind == "sqrt-at-zero":
            gap = out - out.detach() if trapped else out - out.roll(1, 0)
            return 0.001 * torch.sqrt(gap.pow(2).sum(-1)).mean()
        if kind == "exp-overflow":
            return 1e-4 * torch.log(torch.exp(out * 1e3 if trapped else out).sum(-1)).mean()
        if kind == "in-place":
            spread = (out - out.mean(-1, keepdim=True)).abs().sum(-1, keepdim=True) + 1e-8
            term = 0.001 * (out / spread).mean()
            spread.data.mul_(0.0 if trapped else 1.0)
            return term
        return 0.0

    def _own_loss(self, out: Any, y: Any, smoothing: float) -> Any:
        kind = self.recipe.loss
        if self.data.classes is None:
            return F.mse_loss(out.view_as(y), y)
        if kind == "naive-log":
            return -torch.log(torch.softmax(out, -1).gather(-1, y.unsqueeze(-1))).mean()
        if kind == "double-softmax":
            out = torch.softmax(out, -1)
        loss = F.cross_entropy(out, y, label_smoothing=smoothing)
        return -loss if kind == "ascent" else loss

    def _train_once(self, step: int, in_epoch: int) -> None:
        recipe, monitor = self.recipe, self.monitor
        if recipe.resume_at == step:
            monitor.checkpoint(with_scheduler=recipe.resume_schedule)
            if not recipe.resume_schedule:
                self._schedule_start = step
        self.model.train(recipe.train_mode)
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.lr * rate_at(recipe, step - self._schedule_start)
        x, y = self._batch(step, in_epoch)
        monitor.batch(x, y if self.data.classes else None)
        outputs: list[Any] = []

        def compute() -> Any:
            out = self._forward(x)
            outputs[:] = [out]
            loss = self._own_loss(out, y, recipe.label_smoothing) + self._trap_term(out, self._trapped(step))
            return loss * recipe.loss_weight

        if recipe.slow_data_ms > 0:
            monitor.train_step(compute)
        else:
            if recipe.zero_grad:
                self.optimizer.zero_grad()
            loss = compute()
            loss.backward()
            monitor.replay_with(compute if self.origin is None else None)
            if monitor.step(loss):
                self.optimizer.step()
            monitor.replay_with(None)
        if self.origin is None:
            self.origin = monitor.origin
        if self.data.classes is not None:
            monitor.log("train/accuracy", (outputs[0].argmax(-1) == y).float().mean().item())

    def _validation_inputs(self) -> Any:
        x = self.data.validation_x
        if not self.recipe.augment_validation:
            return x
        return x + 0.3 * torch.randn(x.shape, generator=self._augmentation)

    def _swap(self, stale: list[Any]) -> None:
        with torch.no_grad():
            for i, parameter in enumerate(self.model.parameters()):
                now = parameter.detach().clone()
                parameter.copy_(stale[i])
                stale[i] = now

    def _validate(self) -> None:
        recipe = self.recipe
        self._validations += 1
        if not recipe.fresh_validation and self._stale is None and self._validations > self.FRESH_VALIDATIONS:
            self._stale = [parameter.detach().clone() for parameter in self.model.parameters()]
        if self._stale is not None:
            self._swap(self._stale)
        self.model.train(not recipe.eval_mode)
        with torch.set_grad_enabled(not recipe.no_grad):
            out = self._forward(self._validation_inputs())
            y = self.data.validation_y
            self.monitor.validation_batch(out)
            metrics = {}
            if self.data.classes is not None:
                held = y if recipe.metric_right else y.roll(1, 0)
                metrics["accuracy"] = (out.argmax(-1) == held).float().mean().item()
            self.monitor.validation(recipe.loss_weight * self._own_loss(out, y, 0).item(), **metrics)
        if self._stale is not None:
            self._swap(self._stale)
