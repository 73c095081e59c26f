"""Sound programs, usual and unusual ones, at the default budget: no report on the way may warn."""

from __future__ import annotations

import copy
import math
from typing import Any, Callable, Optional

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from osler.torch import Monitor  # noqa: E402
from programs import Adapted, Convolutional, Perceptron, Transformer, blobs, cross_entropy, images, sentences, waves  # noqa: E402

F = torch.nn.functional
nn = torch.nn
STEPS = 400
BETWEEN = 50  # steps between reports
BATCH = 32


class Loop:
    """A training under one or several monitors, with what their reports said on the way."""

    def __init__(self) -> None:
        self.monitors: list[Any] = []
        self.told: list[str] = []

    def watch(self, model: Any, optimizer: Any, **options: Any) -> Any:
        self.monitors.append(Monitor(model, optimizer, on_line=None, **options))
        return self.monitors[-1]

    def look(self, step: int) -> None:
        if step % BETWEEN != BETWEEN - 1:
            return
        for monitor in self.monitors:
            for each in monitor.report().findings:
                # How long steps take, and how much memory there is, depends on what else the machine does.
                if each.severity != "note" and not each.id.startswith(("step-time", "input-starved", "memory", "training-stalled")):
                    self.told.append(f"step {step}: {each.id}: {each.summary}")


Data = tuple[Any, Any]
Change = Callable[[Any, Any], Data]


def drawn(data: Data, change: Change = lambda x, y: (x, y)) -> Callable[[], Data]:
    """Batches of the first four fifths, in random order."""
    x, y = data
    cut = len(x) * 4 // 5

    def draw() -> Data:
        at = torch.randint(0, cut, (BATCH,))
        return change(x[at], y[at])

    return draw


def plain(
    model: Any,
    data: Data,
    loss: Callable[[Any, Any], Any] = cross_entropy,
    optimizer: Optional[Callable[[Any], Any]] = None,
    change: Change = lambda x, y: (x, y),
    whole: bool = False,
    schedule: Optional[Callable[[float], float]] = None,
    validates: bool = True,
    after_backward: Callable[[Any], None] = lambda model: None,
    accumulates: int = 1,
    **options: Any,
) -> Callable[[Loop], None]:
    """The usual loop, with some of it changed."""

    def run(loop: Loop) -> None:
        trains = (optimizer or (lambda parameters: torch.optim.Adam(parameters, 2e-3)))(
            [each for each in model.parameters() if each.requires_grad]
        )
        rates = torch.optim.lr_scheduler.LambdaLR(trains, lambda step: schedule(step / STEPS)) if schedule else None
        monitor = loop.watch(model, trains, **options)
        draw = drawn(data, change)
        for step in range(STEPS):
            _step(monitor, trains, draw)
            if rates is not None:
                rates.step()
            if validates and step % BETWEEN == BETWEEN - 1:
                _validate(monitor)
            loop.look(step)

    def _step(monitor: Any, trains: Any, draw: Callable[[], Data]) -> None:
        model.train()
        if whole:
            x, y = draw()
            monitor.batch(x, y)
            monitor.train_step(lambda: loss(model(x), y))
            return
        trains.zero_grad()
        total = torch.zeros(())
        for _ in range(accumulates):
            x, y = draw()
            monitor.batch(x, y)
            part = loss(model(x), y) / accumulates
            part.backward()
            total = total + part.detach()
        after_backward(model)
        if monitor.step(total if accumulates > 1 else part):
            trains.step()

    def _validate(monitor: Any) -> None:
        x, y = data
        cut = len(x) * 4 // 5
        x, y = change(x[cut:], y[cut:])
        model.eval()
        with torch.no_grad():
            output = model(x)
            monitor.validation_batch(output)
            monitor.validation(float(loss(output, y)))

    return run


def classified(y: Any, count: int) -> Any:
    return F.one_hot(y, count).float()


class Recurrent(nn.Module):
    """Reads a sequence and answers at its end."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.reads, self.head = kind(3, 24, batch_first=True), nn.Linear(24, 1)

    def forward(self, x: Any) -> Any:
        return self.head(self.reads(x)[0][:, -1])


def sums() -> Data:
    x = torch.randn(1600, 10, 3, generator=torch.Generator().manual_seed(0))
    return x, x.sum(1)[:, :1] / math.sqrt(10)


def few_in_many() -> Data:
    """Sixteen numbers that are made of four."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1600, 4, generator=generator) @ torch.randn(4, 16, generator=generator) / 2
    x = x + 0.1 * torch.randn(1600, 16, generator=generator)
    return x, x


class Variational(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode, self.mean, self.spread = nn.Linear(16, 24), nn.Linear(24, 3), nn.Linear(24, 3)
        self.decode, self.out = nn.Linear(3, 24), nn.Linear(24, 16)

    def forward(self, x: Any) -> Any:
        h = torch.relu(self.encode(x))
        mean, spread = self.mean(h), self.spread(h)
        code = mean + (0.5 * spread).exp() * torch.randn_like(mean)
        return torch.cat([self.out(torch.relu(self.decode(code))), mean, spread], 1)


def evidence(out: Any, x: Any) -> Any:
    made, mean, spread = out[:, :16], out[:, 16:19], out[:, 19:]
    rest = 0.5 * (mean.square() + spread.exp() - spread - 1).sum(1)
    return ((made - x).square().sum(1) / 0.2 + rest).mean()


class Recommender(nn.Module):
    def __init__(self, sparse: bool = False) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(60, 8, sparse=sparse), nn.Embedding(60, 8, sparse=sparse)
        self.head = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x: Any) -> Any:
        return self.head(torch.cat([self.users(x[:, 0]), self.items(x[:, 1])], 1)).squeeze(1)


def ratings() -> Data:
    generator = torch.Generator().manual_seed(0)
    tastes, traits = torch.randn(60, 2, generator=generator), torch.randn(60, 2, generator=generator)
    x = torch.randint(0, 60, (3200, 2), generator=generator)
    return x, (tastes[x[:, 0]] + traits[x[:, 1]]).sum(1) + 0.3 * torch.randn(3200, generator=generator)


class Residual(nn.Module):
    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, padding=1)
        self.convs = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(norm() for _ in range(2))
        self.head = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        h = torch.relu(self.stem(x))
        for conv, norm in zip(self.convs, self.norms):
            h = h + torch.relu(norm(conv(h)))
        return self.head(h.mean((2, 3)))


def adversaries(loop: Loop, wasserstein: bool) -> None:
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 12))
    critic = nn.Sequential(nn.Linear(12, 32), nn.LeakyReLU(), nn.Linear(32, 32), nn.LeakyReLU(), nn.Linear(32, 1))
    makes, judges = (torch.optim.Adam(each.parameters(), 1e-3, betas=(0.5, 0.9)) for each in (generator, critic))
    of_critic, of_generator = loop.watch(critic, judges), loop.watch(generator, makes)
    draw = drawn(blobs())

    def judged(real: Any, made: Any) -> Any:
        if not wasserstein:
            return F.softplus(-critic(real)).mean() + F.softplus(critic(made)).mean()
        part = torch.rand(BATCH, 1)
        between = (part * real + (1 - part) * made).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        return critic(made).mean() - critic(real).mean() + 10 * (slope.norm(2, 1) - 1).square().mean()

    for step in range(STEPS):
        for _ in range(3 if wasserstein else 1):
            real, made = draw()[0], generator(torch.randn(BATCH, 4)).detach()
            of_critic.train_step(lambda: judged(real, made))  # noqa: B023
        seed = torch.randn(BATCH, 4)
        of_generator.train_step(
            lambda: -critic(generator(seed)).mean() if wasserstein else F.softplus(-critic(generator(seed))).mean()  # noqa: B023
        )
        loop.look(step)


def two_optimizers(loop: Loop) -> None:
    model = Convolutional()
    head = list(model.head.parameters())
    body = [each for name, each in model.named_parameters() if not name.startswith("head")]
    slow, quick = torch.optim.SGD(body, 0.02, momentum=0.9), torch.optim.Adam(head, 3e-3)
    monitor = loop.watch(model, [slow, quick])
    draw = drawn(images())
    for step in range(STEPS):
        x, y = draw()
        monitor.batch(x, y)
        monitor.train_step(lambda: cross_entropy(model(x), y))  # noqa: B023
        loop.look(step)


def fine_tuning(loop: Loop) -> None:
    model = Perceptron()
    draw = drawn(blobs())
    before = torch.optim.Adam(model.parameters(), 2e-3)
    for _ in range(200):
        x, y = draw()
        before.zero_grad()
        cross_entropy(model(x), y).backward()
        before.step()
    model.zero_grad()
    model.head.reset_parameters()
    model.layers.requires_grad_(False)
    plain(model, blobs())(loop)


def distillation(loop: Loop) -> None:
    teacher, student = Perceptron(), nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))
    draw = drawn(blobs())
    teaches, learns = torch.optim.Adam(teacher.parameters(), 2e-3), torch.optim.Adam(student.parameters(), 3e-3)
    for _ in range(300):
        x, y = draw()
        teaches.zero_grad()
        cross_entropy(teacher(x), y).backward()
        teaches.step()
    monitor = loop.watch(student, learns)
    for step in range(STEPS):
        x, _ = draw()
        with torch.no_grad():
            said = (teacher(x) / 2).softmax(1)
        monitor.train_step(lambda: 4 * F.kl_div((student(x) / 2).log_softmax(1), said, reduction="batchmean"))  # noqa: B023
        loop.look(step)


def contrastive(loop: Loop) -> None:
    encoder = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 8))
    monitor = loop.watch(encoder, torch.optim.Adam(encoder.parameters(), 2e-3))
    draw = drawn(few_in_many())
    own = torch.arange(BATCH)
    for step in range(STEPS):
        x, _ = draw()
        views = [x + 0.3 * torch.randn_like(x) for _ in range(2)]

        def loss() -> Any:
            a, b = (F.normalize(encoder(each), dim=1) for each in views)  # noqa: B023
            return F.cross_entropy(a @ b.t() / 0.2, own)

        monitor.train_step(loss)
        loop.look(step)


def tasks_in_turn(loop: Loop) -> None:
    model = Perceptron(12, 5)
    monitor = loop.watch(model, torch.optim.Adam(model.parameters(), 2e-3))
    draw = drawn(blobs())
    for step in range(STEPS):
        x, y = draw()

        def loss() -> Any:
            out = model(x)  # noqa: B023
            if step % 2 == 0:  # noqa: B023
                return F.cross_entropy(out[:, :4], y)  # noqa: B023
            return 2 * F.mse_loss(out[:, 4], x[:, 0] * x[:, 1])  # noqa: B023

        monitor.train_step(loss)
        loop.look(step)


def values_of_actions(loop: Loop) -> None:
    """Values of actions, learned towards a copy of the network that follows slowly."""
    model = Perceptron(4, 3)
    target = copy.deepcopy(model)
    monitor = loop.watch(model, torch.optim.Adam(model.parameters(), 1e-3))
    turn = torch.randn(3, 4, 4) / 2
    for step in range(STEPS):
        state, action = torch.randn(BATCH, 4), torch.randint(0, 3, (BATCH,))
        with torch.no_grad():
            then = torch.tanh(torch.einsum("bij,bj->bi", turn[action], state))
            aim = then[:, 0] + 0.9 * target(then).max(1).values
        monitor.train_step(lambda: F.smooth_l1_loss(model(state).gather(1, action[:, None]).squeeze(1), aim))  # noqa: B023
        with torch.no_grad():
            for kept, each in zip(target.parameters(), model.parameters()):
                kept.lerp_(each, 0.02)
        loop.look(step)


def averaged(loop: Loop) -> None:
    """A slow copy of the weights is kept for validation."""
    model = Perceptron()
    slow = torch.optim.swa_utils.AveragedModel(model)
    trains = torch.optim.SGD(model.parameters(), 0.1)
    monitor = loop.watch(model, trains)
    draw = drawn(blobs())
    for step in range(STEPS):
        x, y = draw()
        monitor.train_step(lambda: cross_entropy(model(x), y))  # noqa: B023
        slow.update_parameters(model)
        loop.look(step)


def quasi_newton(loop: Loop) -> None:
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    trains = torch.optim.LBFGS(model.parameters(), 0.5)
    monitor = loop.watch(model, trains)
    x, y = waves(600)
    for step in range(100):

        def closure() -> Any:
            trains.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            return loss

        monitor.step(trains.step(closure))
        loop.look(step)


def checkpointed(loop: Loop) -> None:
    """The middle is computed a second time on the way back, to save memory."""
    from torch.utils.checkpoint import checkpoint

    model = Perceptron(depth=4)
    middle = nn.Sequential(*[part for layer in list(model.layers)[1:] for part in (layer, nn.ReLU())])
    monitor = loop.watch(model, torch.optim.Adam(model.parameters(), 2e-3))
    draw = drawn(blobs())
    for step in range(STEPS):
        x, y = draw()
        monitor.train_step(
            lambda: cross_entropy(model.head(checkpoint(middle, torch.relu(model.layers[0](x)), use_reentrant=False)), y)  # noqa: B023
        )
        loop.look(step)


def half_precision(loop: Loop) -> None:
    model = Perceptron()
    monitor = loop.watch(model, torch.optim.Adam(model.parameters(), 2e-3))
    draw = drawn(blobs())
    for step in range(STEPS):
        x, y = draw()

        def loss() -> Any:
            with torch.autocast("cpu", torch.bfloat16):
                out = model(x)  # noqa: B023
            return cross_entropy(out.float(), y)  # noqa: B023

        monitor.train_step(loss)
        loop.look(step)


def adapters(loop: Loop) -> None:
    model = Perceptron()
    for i in range(2):
        model.layers[i] = Adapted(model.layers[i])
    plain(model, blobs(), optimizer=lambda parameters: torch.optim.Adam(parameters, 5e-3))(loop)


def fewer(x: Any, y: Any) -> Data:
    """Three of the first class for each of the others."""
    return x, torch.where((y == 1) & (torch.rand(len(y)) < 0.5), torch.zeros_like(y), y)


def some_wrong(x: Any, y: Any) -> Data:
    return x, torch.where(torch.rand(len(y)) < 0.2, torch.randint_like(y, 4), y)


def some_ignored(x: Any, y: Any) -> Data:
    y = y.clone()
    y[:5] = -100
    return x, y


def deep() -> Any:
    model = Perceptron(depth=8, activation=nn.Tanh)
    for layer in model.layers:
        nn.init.xavier_normal_(layer.weight, 5 / 3)
    return model


def clip(model: Any) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def sgd(rate: float, **options: Any) -> Callable[[Any], Any]:
    return lambda parameters: torch.optim.SGD(parameters, rate, **options)


def warm(part: float) -> float:
    return min(1.0, 10 * part + 0.025) * 0.5 * (1 + math.cos(math.pi * part))


def layered() -> Any:
    return nn.Sequential(nn.Linear(6, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 1))


def autoencoder() -> Any:
    return nn.Sequential(nn.Linear(16, 12), nn.ELU(), nn.Linear(12, 4), nn.Linear(4, 12), nn.ELU(), nn.Linear(12, 16))


def doubled() -> Callable[[Loop], None]:
    x, y = waves()
    return plain(Perceptron(6, 1).double(), (x.double(), y.double()), F.mse_loss)


def several_labels() -> Callable[[Loop], None]:
    x, y = blobs()
    return plain(Perceptron(), (x, torch.stack([y == 0, y < 2, y > 1, y == 3], 1).float()), F.binary_cross_entropy_with_logits)


def in_a_list(loop: Loop) -> None:
    """Outputs as a dictionary, and a loss of two parts."""

    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.kind, self.size = nn.Linear(12, 32), nn.Linear(32, 4), nn.Linear(32, 1)

        def forward(self, x: Any) -> dict[str, Any]:
            h = torch.relu(self.body(x))
            return {"kind": self.kind(h), "size": self.size(h)}

    model = Heads()
    monitor = loop.watch(model, torch.optim.Adam(model.parameters(), 2e-3))
    draw = drawn(blobs())
    for step in range(STEPS):
        x, y = draw()

        def loss() -> Any:
            out = model(x)  # noqa: B023
            return cross_entropy(out["kind"], y) + F.mse_loss(out["size"].squeeze(1), x.norm(dim=1) / 3)  # noqa: B023

        monitor.train_step(loss)
        loop.look(step)


Run = Callable[[Loop], None]
SOUND: dict[str, Callable[[], Run]] = {
    "perceptron": lambda: plain(Perceptron(), blobs()),
    "perceptron with SGD": lambda: plain(Perceptron(), blobs(), optimizer=sgd(0.1)),
    "perceptron with momentum and decay": lambda: plain(Perceptron(), blobs(), optimizer=sgd(0.02, momentum=0.9, weight_decay=5e-4)),
    "perceptron with AdamW": lambda: plain(Perceptron(), blobs(), optimizer=lambda all: torch.optim.AdamW(all, 2e-3)),
    "perceptron by whole steps": lambda: plain(Perceptron(), blobs(), whole=True),
    "regression": lambda: plain(Perceptron(6, 1), waves(), F.mse_loss),
    "regression by whole steps": lambda: plain(Perceptron(6, 1), waves(), F.mse_loss, whole=True),
    "absolute errors": lambda: plain(Perceptron(6, 1), waves(), F.l1_loss),
    "layer norm and Huber's loss": lambda: plain(layered(), waves(), F.huber_loss),
    "double precision": doubled,
    "deep tanh with momentum": lambda: plain(deep(), blobs(6400), optimizer=sgd(0.01, momentum=0.9)),
    "convolutional": lambda: plain(Convolutional(), images()),
    "convolutional by whole steps": lambda: plain(Convolutional(), images(), whole=True),
    "residual with batch norm": lambda: plain(Residual(lambda: nn.BatchNorm2d(8)), images()),
    "residual with group norm": lambda: plain(
        Residual(lambda: nn.GroupNorm(2, 8)), images(), optimizer=lambda all: torch.optim.Adam(all, 1e-2)
    ),
    "LSTM": lambda: plain(Recurrent(nn.LSTM), sums(), F.mse_loss, lambda all: torch.optim.Adam(all, 5e-3)),
    "LSTM with RMSprop": lambda: plain(Recurrent(nn.LSTM), sums(), F.mse_loss, lambda all: torch.optim.RMSprop(all, 2e-3)),
    "GRU, clipped": lambda: plain(Recurrent(nn.GRU), sums(), F.mse_loss, lambda all: torch.optim.Adam(all, 5e-3), after_backward=clip),
    "GRU, clipped by the monitor": lambda: plain(
        Recurrent(nn.GRU), sums(), F.mse_loss, lambda all: torch.optim.Adam(all, 5e-3), clip_norm=1.0
    ),
    "transformer": lambda: plain(Transformer(), sentences()),
    "transformer with warm-up and cosine": lambda: plain(
        Transformer(), sentences(), optimizer=lambda all: torch.optim.AdamW(all, 3e-3), schedule=warm
    ),
    "autoencoder": lambda: plain(autoencoder(), few_in_many(), F.mse_loss, lambda all: torch.optim.Adam(all, 3e-3)),
    "autoencoder with Adagrad": lambda: plain(autoencoder(), few_in_many(), F.mse_loss, lambda all: torch.optim.Adagrad(all, 0.03)),
    "variational": lambda: plain(Variational(), few_in_many(), evidence, lambda all: torch.optim.Adam(all, 3e-3)),
    "recommender": lambda: plain(Recommender(), ratings(), F.smooth_l1_loss, lambda all: torch.optim.Adam(all, 5e-3)),
    "several labels for each": several_labels,
    "smoothed labels": lambda: plain(Perceptron(), blobs(), lambda out, y: F.cross_entropy(out, y, label_smoothing=0.1)),
    "classes of different size": lambda: plain(Perceptron(), blobs(), change=fewer),
    "a fifth of the labels wrong": lambda: plain(Perceptron(), blobs(), change=some_wrong),
    "labels that are ignored": lambda: plain(Perceptron(), blobs(), change=some_ignored, classes=4),
    "pixels of 0 to 1": lambda: plain(Convolutional(), images(), change=lambda x, y: (x.sigmoid(), y)),
    "steps of the rate": lambda: plain(
        Convolutional(), images(), schedule=lambda part: 1.0 if part < 0.5 else 0.1 if part < 0.8 else 0.01
    ),
    "accumulation": lambda: plain(Perceptron(), blobs(), accumulates=4),
    "no validation": lambda: plain(Perceptron(), blobs(), validates=False),
    "a generator and its critic": lambda: lambda loop: adversaries(loop, wasserstein=False),
    "a Wasserstein critic with penalty": lambda: lambda loop: adversaries(loop, wasserstein=True),
    "two optimizers": lambda: two_optimizers,
    "fine-tuning of the head": lambda: fine_tuning,
    "adapters": lambda: adapters,
    "teacher and student": lambda: distillation,
    "contrastive": lambda: contrastive,
    "tasks in turn": lambda: tasks_in_turn,
    "values of actions": lambda: values_of_actions,
    "averaged weights": lambda: averaged,
    "LBFGS": lambda: quasi_newton,
    "checkpointing of activations": lambda: checkpointed,
    "bfloat16": lambda: half_precision,
    "outputs by name": lambda: in_a_list,
}


def test_there_are_enough_of_them() -> None:
    assert len(SOUND) >= 30


@pytest.mark.parametrize("name", SOUND)
def test_no_report_of_a_sound_program_warns(name: str) -> None:
    torch.manual_seed(5)
    loop = Loop()
    SOUND[name]()(loop)
    for monitor in loop.monitors:
        monitor.close()
    assert loop.told == []
