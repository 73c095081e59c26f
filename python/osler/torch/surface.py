"""The loss as a function of the weights: sharpness, sections, curvature and the noise of its gradient."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional, Union

import torch

from osler import _core
from osler.errors import InvalidError
from osler.experiment import Experiment
from osler.torch.training import Clock, Preserved, Progress, RandomState, Training, run_probe, training_of

_AGAINST_ZERO = 1e-30
_FRESH_BATCHES = 8  # on which a way down must be seen again

Loss = Optional[Callable[..., torch.Tensor]]
Loader = Optional[Iterable[Any]]
Model = Union[Training, torch.nn.Module]


class Part(NamedTuple):
    """One parameter and its place in a flat vector."""

    name: str
    value: torch.nn.Parameter
    origin: torch.Tensor
    begin: int
    end: int


class SurfaceLoss:
    """The mean loss of a few fixed batches, with random numbers inside the model that are the same each time. Directions
    and gradients are flat: all parameters that want gradients, one after the other. To be used under `Preserved`.
    """

    def __init__(self, training: Training, batches: int, evaluation_mode: bool) -> None:
        self._training = training
        self.parts: list[Part] = []
        begin = 0
        for name, parameter in training.model.named_parameters():
            if parameter.requires_grad and parameter.is_floating_point():
                end = begin + parameter.numel()
                self.parts.append(Part(name, parameter, parameter.detach().clone(), begin, end))
                begin = end
        if not self.parts:
            raise InvalidError("the model has no parameter that requires a gradient", "invalid-argument")
        self.size = begin
        self.batches = [training.next_batch() for _ in range(batches)]
        training.model.train(not evaluation_mode)
        self._random = RandomState()

    def redraw(self, batches: int) -> None:
        """Draws other batches in place of these; random numbers inside the model are others, too."""
        self.batches = [self._training.next_batch() for _ in range(batches)]
        self._random = RandomState()

    def blocks(self) -> list[tuple[str, int, int]]:
        """The parameters of each layer: `fc1` for `fc1.weight` and `fc1.bias`."""
        found: list[tuple[str, int, int]] = []
        for part in self.parts:
            layer = part.name.rpartition(".")[0] or part.name
            if found and found[-1][0] == layer:
                found[-1] = (layer, found[-1][1], part.end)
            else:
                found.append((layer, part.begin, part.end))
        return found

    def origin(self) -> torch.Tensor:
        """The weights as they were, flat."""
        return torch.cat([part.origin.reshape(-1) for part in self.parts])

    def _loss(self, batch: Any) -> torch.Tensor:
        self._random.restore()
        return self._training.loss_of(batch)

    def value(self) -> float:
        """The mean loss where the weights are now."""
        with torch.no_grad():
            return sum(float(self._loss(batch).item()) for batch in self.batches) / len(self.batches)

    def derivative(self, scalar: torch.Tensor, graph: bool) -> torch.Tensor:
        """The derivative by the weights, zero where they do not matter."""
        gradients = torch.autograd.grad(
            scalar, [part.value for part in self.parts], retain_graph=True, create_graph=graph, allow_unused=True
        )
        flat = []
        for part, gradient in zip(self.parts, gradients):
            if gradient is None:
                gradient = torch.zeros_like(part.origin)
            flat.append((gradient.to_dense() if gradient.is_sparse else gradient).reshape(-1))
        return torch.cat(flat)

    def gradient_of(self, batch: Any, graph: bool = False) -> torch.Tensor:
        """The gradient of one batch's loss; with `graph` it can be differentiated again."""
        loss = self._loss(batch)
        if not loss.requires_grad:
            raise InvalidError(
                "the loss does not depend on any parameter; was it computed under no_grad or detached?", "invalid-argument"
            )
        return self.derivative(loss, graph)

    def gradient(self) -> torch.Tensor:
        """The gradient of the mean loss."""
        return sum((self.gradient_of(batch) for batch in self.batches[1:]), self.gradient_of(self.batches[0])) / len(
            self.batches
        )

    def move(self, offset: torch.Tensor) -> None:
        """Puts the weights at their origin plus `offset`."""
        with torch.no_grad():
            for part in self.parts:
                part.value.copy_(part.origin + offset[part.begin : part.end].view_as(part.origin))

    def move_back(self) -> None:
        """Puts the weights at their origin."""
        with torch.no_grad():
            for part in self.parts:
                part.value.copy_(part.origin)


class Directions:
    """Random directions from a generator of their own."""

    def __init__(self, surface: SurfaceLoss, seed: int) -> None:
        self._surface = surface
        self._generator = torch.Generator().manual_seed(seed)

    def gaussian(self) -> torch.Tensor:
        """Normal numbers."""
        drawn = torch.randn(self._surface.size, generator=self._generator, dtype=torch.float64)
        return drawn.to(self._surface.parts[0].origin)

    def signs(self) -> torch.Tensor:
        """Plus and minus one."""
        bits = torch.randint(0, 2, (self._surface.size,), generator=self._generator, dtype=torch.float64)
        return (bits * 2 - 1).to(self._surface.parts[0].origin)

    def scaled(self, by_filter: bool) -> torch.Tensor:
        """As large as the weights: tensor by tensor, or filter by filter with biases left alone (Li et al. 2018)."""
        drawn = self.gaussian()
        pieces = []
        for part in self._surface.parts:
            piece = drawn[part.begin : part.end].view_as(part.origin)
            if not by_filter:
                piece = piece * (part.origin.norm() / (piece.norm() + _AGAINST_ZERO))
            elif part.origin.dim() < 2:
                piece = torch.zeros_like(piece)
            else:
                rows = piece.flatten(1)
                norms = part.origin.flatten(1).norm(dim=1, keepdim=True)
                piece = rows * (norms / (rows.norm(dim=1, keepdim=True) + _AGAINST_ZERO))
            pieces.append(piece.reshape(-1))
        return torch.cat(pieces)


def sharpness(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Loss = None,
    loader: Loader = None,
    *,
    radius: float = 0.05,
    threshold: float = 0.1,
    batches: int = 4,
    repeats: int = 20,
    ascents: int = 3,
    ascent_steps: int = 5,
    evaluation_mode: bool = True,
    seed: int = 1,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """How far the loss rises when every weight tensor is moved by `radius` of its size: in random directions (`ratio`), in
    filter-normalised ones (`filter-ratio`) and in the worst direction found by ascent (`worst-ratio`). Fails when the
    rise is above `threshold` beyond its noise: a sharp minimum.
    """
    if not radius > 0 or repeats < 2 or batches < 1:
        raise InvalidError("sharpness: a radius above 0, at least 2 repeats and at least 1 batch are needed", "invalid-argument")
    training = training_of(model, optimizer, loss, loader, about)

    def body(_: Preserved, clock: Clock) -> Experiment:
        surface = SurfaceLoss(training, batches, evaluation_mode)
        directions = Directions(surface, seed)
        clock.expected = 2 * repeats + ascents * ascent_steps
        base = surface.value()
        if not math.isfinite(base):
            return Experiment.from_json(_core.judge_sharpness(base, radius, threshold, [], [], []))

        def rise(offset: torch.Tensor) -> float:
            clock.check()
            surface.move(offset)
            return (surface.value() - base) / (abs(base) + 1e-8)

        plain = [rise(directions.scaled(False) * radius) for _ in range(repeats)]
        by_filter = [rise(directions.scaled(True) * radius) for _ in range(repeats)]
        worst = []
        for number in range(ascents):
            offset = torch.zeros_like(surface.origin()) if number == 0 else directions.scaled(False) * (radius / 2)
            highest = -math.inf
            for _step in range(ascent_steps):
                surface.move(offset)
                offset = _climbed(surface, offset, surface.gradient(), radius)
                highest = max(highest, rise(offset))
            worst.append(highest)
        return Experiment.from_json(_core.judge_sharpness(base, radius, threshold, plain, by_filter, worst))

    return run_probe("sharpness", training, body, seconds=seconds, progress=progress, record=record)


def _climbed(surface: SurfaceLoss, offset: torch.Tensor, gradient: torch.Tensor, share: float) -> torch.Tensor:
    """One step up, each parameter on its own, back onto its ball when it left it."""
    pieces = []
    for part in surface.parts:
        radius = share * float(part.origin.norm())
        slope = gradient[part.begin : part.end]
        moved = offset[part.begin : part.end] + slope * (radius / (float(slope.norm()) + _AGAINST_ZERO))
        length = float(moved.norm())
        if length > radius:
            moved = moved * (radius / (length + _AGAINST_ZERO))
        pieces.append(moved)
    return torch.cat(pieces)


def loss_surface(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Loss = None,
    loader: Loader = None,
    *,
    dimensions: int = 2,
    points: int = 21,
    span: float = 1.0,
    batches: int = 2,
    evaluation_mode: bool = True,
    seed: int = 1,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """The loss along one or two random filter-normalised directions through the weights, as columns `a`, `b`, `loss`."""
    if dimensions not in (1, 2) or not 3 <= points <= 201 or points % 2 == 0 or not span > 0:
        raise InvalidError(
            "loss_surface: 1 or 2 dimensions, an odd number of points from 3 to 201 and a span above 0 are needed",
            "invalid-argument",
        )
    training = training_of(model, optimizer, loss, loader, about)

    def body(_: Preserved, clock: Clock) -> Experiment:
        surface = SurfaceLoss(training, batches, evaluation_mode)
        directions = Directions(surface, seed)
        across = directions.scaled(True)
        along = directions.scaled(True) if dimensions == 2 else torch.zeros_like(across)
        base = surface.value()
        places = [span * (2 * i / (points - 1) - 1) for i in range(points)]
        clock.expected = points**dimensions
        a, b, losses = [], [], []
        for row in places if dimensions == 2 else [0.0]:
            for column in places:
                clock.check()
                surface.move(across * column + along * row)
                a.append(column)
                b.append(row)
                losses.append(surface.value())
        return Experiment.from_json(_core.judge_surface(dimensions, span, base, a, b, losses))

    return run_probe("loss-surface", training, body, seconds=seconds, progress=progress, record=record)


def noise_scale(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Loss = None,
    loader: Loader = None,
    *,
    batches: int = 16,
    batch_size: Optional[int] = None,
    factor: float = 20.0,
    most: int = 256,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """The batch size at which noise and signal of a gradient are equal (McCandlish et al. 2018), with an interval, and the
    batch size it suggests. Begins with the gradients of `batches` batches and takes twice as many again, up to `most`, for
    as long as they leave the question open. `batch_size` is needed where batches are no pairs of tensors.
    """
    if batches < 3:
        raise InvalidError("noise_scale: at least 3 batches are needed", "invalid-argument")
    training = training_of(model, optimizer, loss, loader, about)

    def body(_: Preserved, clock: Clock) -> Experiment:
        # Not all at once: batches can be larger than gradients.
        surface = SurfaceLoss(training, 1, evaluation_mode=False)
        clock.expected = batches
        at_most = min(max(batches, most), max(3, _core.most_vectors(surface.size)))
        wanted = min(batches, at_most)
        gradients: list[torch.Tensor] = []
        samples = 0
        while True:
            while len(gradients) < wanted:
                clock.check()
                if gradients:
                    surface.redraw(1)
                gradients.append(surface.gradient_of(surface.batches[0]).detach().double())
                samples += _samples(surface.batches[0])
            table = torch.stack(gradients)
            size = float(batch_size) if batch_size is not None else samples / len(gradients)
            judged, undecided = _core.judge_noise((table @ table.t()).flatten().tolist(), size, factor)
            if not undecided or wanted == at_most:
                return Experiment.from_json(judged)
            wanted = min(2 * wanted, at_most)
            clock.expected = wanted

    return run_probe("gradient-noise-scale", training, body, seconds=seconds, progress=progress, record=record)


def _samples(batch: Any) -> int:
    first = batch[0] if isinstance(batch, (list, tuple)) and batch else batch
    if isinstance(first, dict) and first:
        first = next(iter(first.values()))
    return int(first.shape[0]) if isinstance(first, torch.Tensor) and first.dim() > 0 else 1


class _Product:
    """The Hessian of the mean loss times a vector, exactly where every operation can be differentiated twice."""

    def __init__(self, surface: SurfaceLoss, batches: Optional[list[Any]] = None) -> None:
        self._surface = surface
        self._batches = surface.batches if batches is None else batches
        self.exact = True
        self.why_not = ""
        self._graphs: list[torch.Tensor] = []
        try:
            self._graphs = [surface.gradient_of(batch, graph=True) for batch in self._batches]
            self._exactly(torch.ones(surface.size).to(surface.parts[0].origin))
        except RuntimeError as error:
            self.exact = False
            self.why_not = str(error).splitlines()[0]
            self._graphs = [surface.gradient_of(batch) for batch in self._batches]
        self.gradients = [each.detach() for each in self._graphs]

    def _exactly(self, direction: torch.Tensor) -> torch.Tensor:
        total = torch.zeros_like(direction)
        for gradient in self._graphs:
            if gradient.requires_grad:
                total = total + self._surface.derivative((gradient * direction).sum(), graph=False)
        return (total / len(self._graphs)).detach()

    def _by_difference(self, direction: torch.Tensor) -> torch.Tensor:
        surface = self._surface
        epsilon = torch.finfo(direction.dtype).eps ** (1 / 3)
        length = epsilon * max(1.0, float(surface.origin().norm())) / (float(direction.norm()) + _AGAINST_ZERO)
        found = []
        for sign in (1, -1):
            surface.move(direction * (sign * length))
            found.append(torch.stack([surface.gradient_of(batch).detach() for batch in self._batches]).mean(0))
        surface.move_back()
        return (found[0] - found[1]) / (2 * length)

    def __call__(self, direction: torch.Tensor) -> torch.Tensor:
        return self._exactly(direction) if self.exact else self._by_difference(direction)


def _spectrum(
    product: Callable[[torch.Tensor], torch.Tensor], start: torch.Tensor, most: int, tolerance: float
) -> tuple[_core.Krylov, Optional[torch.Tensor]]:
    """Lanczos with full reorthogonalisation; also where the lowest eigenvalue points."""
    size = start.numel()
    krylov = _core.Krylov(size, tolerance)
    vector = start.double() / start.double().norm()
    basis: list[torch.Tensor] = []
    for _ in range(min(most, _core.most_vectors(size), size)):
        basis.append(vector)
        image = product(vector.to(start.dtype)).double()
        diagonal = float(image.dot(vector))
        known = torch.stack(basis)
        for _pass in range(2):  # twice is enough (Parlett 1980)
            image = image - known.t().mv(known.mv(image))
        left = float(image.norm())
        if not krylov.add(diagonal, left):
            break
        vector = image / left
    coordinates = krylov.ends()[5]
    if not coordinates:
        return krylov, None
    held = torch.stack(basis[: len(coordinates)])
    lowest = held.t().mv(torch.tensor(coordinates, dtype=torch.float64, device=held.device))
    return krylov, lowest.to(start.dtype)


def _stability(
    optimizer: Optional[torch.optim.Optimizer], surface: SurfaceLoss
) -> tuple[Optional[tuple[float, float, str, Optional[torch.Tensor]]], str]:
    """Rate, limit, words and scale of an optimizer's steps (Cohen et al. 2021, 2022), or why they are not known."""
    groups = optimizer.param_groups if optimizer is not None else []
    rate = max((float(group.get("lr", 0)) for group in groups), default=0.0)
    if not rate > 0:
        return None, "the learning rate is zero" if groups else "there is no optimizer"
    scale = torch.zeros_like(surface.origin())
    place = {id(part.value): part for part in surface.parts}
    limit, words, stepped = math.inf, "", False
    kind = type(optimizer).__name__
    if kind not in ("SGD", "Adam", "AdamW"):
        return None, "it is known for gradient descent, Adam and AdamW only"
    for group in groups:
        if kind == "SGD":
            beta = group["momentum"]
            factor = (2 + 2 * beta) / (1 + 2 * beta if group["nesterov"] else 1 - group["dampening"])
            note = "" if beta == 0 else ", with Nesterov momentum" if group["nesterov"] else ", with momentum"
        else:
            beta = group["betas"][0]
            factor = (2 + 2 * beta) / (1 - beta)
            note = ", of the Hessian as Adam scales it"
        if factor / rate < limit:
            limit, words = factor / rate, f"{factor:.3g} / lr{note}"
        for parameter in group["params"]:
            part = place.get(id(parameter))
            if part is None:
                continue
            if kind == "SGD":
                scale[part.begin : part.end] = math.sqrt(group["lr"] / rate)
                stepped = True
                continue
            state = optimizer.state.get(parameter, {}) if optimizer is not None else {}
            if "exp_avg_sq" in state:
                correction = 1 - group["betas"][1] ** float(state["step"])
                size = (state["exp_avg_sq"].detach() / correction).sqrt() + group["eps"]
                scale[part.begin : part.end] = (group["lr"] / rate / size).sqrt().reshape(-1)
                stepped = True
    if not stepped:
        return None, "Adam has not stepped yet"
    plain = kind == "SGD" and bool((scale == 1).all())
    return (rate, limit, words, None if plain else scale), ""


def curvature(
    model: Model,
    optimizer: Optional[torch.optim.Optimizer] = None,
    loss: Loss = None,
    loader: Loader = None,
    *,
    batches: int = 2,
    most_products: int = 60,
    tolerance: float = 0.01,
    trace_samples: int = 16,
    products_per_layer: int = 12,
    evaluation_mode: bool = True,
    stationary_gain: float = 1e-3,
    negative_share: float = 0.05,
    seed: int = 1,
    seconds: float = math.inf,
    progress: Progress = None,
    record: Any = None,
    **about: Any,
) -> Experiment:
    """How the loss bends around the weights: extreme eigenvalues of the Hessian by Lanczos, its trace by Hutchinson, both
    layer by layer too; whether the place is a slope, a minimum, a saddle (fails) or a plateau; and how near the steps are
    to the edge of stability.
    """
    if batches < 1 or most_products < 3 or trace_samples < 0 or trace_samples == 1:
        raise InvalidError(
            "curvature: at least 1 batch, 3 products, and no or at least 2 samples for the trace are needed", "invalid-argument"
        )
    training = training_of(model, optimizer, loss, loader, about)

    def body(_: Preserved, clock: Clock) -> Experiment:
        surface = SurfaceLoss(training, batches, evaluation_mode)
        value = surface.value()
        if not math.isfinite(value):
            return Experiment("curvature", "undecided", "The loss is not finite: there is no curvature to measure.")
        product = _Product(surface)
        directions = Directions(surface, seed)
        blocks = surface.blocks()
        clock.expected = most_products + trace_samples + products_per_layer * len(blocks)

        def times(vector: torch.Tensor) -> torch.Tensor:
            clock.check()
            return product(vector)

        krylov, lowest = _spectrum(times, directions.gaussian(), most_products, tolerance)
        traces = []
        for _sample in range(trace_samples):
            signs = directions.signs()
            terms = (signs * times(signs)).double()
            traces.append([float(terms.sum()), *(float(terms[begin:end].sum()) for _, begin, end in blocks)])
        layers: list[tuple[str, Optional[float]]] = []
        for layer, begin, end in blocks:
            top = _layer_top(times, directions, surface.size, begin, end, products_per_layer, tolerance)
            layers.append((layer, top))
        table = torch.stack(product.gradients).double()
        signal = _core.squared_signal(
            float(table.sum(0).square().sum()), float(table.square().sum()), len(product.gradients)
        )
        norm = float(table.mean(0).norm())
        weights = float(surface.origin().norm())
        case = _core.Curvature(value, norm, signal, weights, krylov, stationary_gain, negative_share)
        by_chance = False
        if case.saddle() and lowest is not None:
            bends = []
            for _fresh in range(_FRESH_BATCHES):
                clock.check()
                elsewhere = _Product(surface, [training.next_batch()])
                bends.append(float(lowest.dot(elsewhere(lowest))))
            by_chance = not _core.bends_down(bends)
        answer, why_not = _stability(training.optimizer, surface)
        stability = None
        more = f" The edge of stability is not known: {why_not}." if answer is None else ""
        if answer is not None:
            rate, limit, words, scale = answer
            top = krylov.ends()[2]
            if scale is not None:
                scaled = scale
                start = directions.gaussian()
                top = _spectrum(lambda v: scaled * times(scaled * v), start, most_products, tolerance)[0].ends()[2]
            stability = (top, limit, rate, words)
        if not product.exact:
            more += f" Products were taken by differences of gradients: {product.why_not}"
        return Experiment.from_json(case.told(product.exact, traces, layers, by_chance, stability, more))

    return run_probe("curvature", training, body, seconds=seconds, progress=progress, record=record)


def _layer_top(
    times: Callable[[torch.Tensor], torch.Tensor],
    directions: Directions,
    size: int,
    begin: int,
    end: int,
    most: int,
    tolerance: float,
) -> Optional[float]:
    """The largest eigenvalue of one layer's block."""
    if most < 3:
        return None
    start = directions.gaussian()[begin:end]

    def part(vector: torch.Tensor) -> torch.Tensor:
        padded = torch.zeros(size, dtype=vector.dtype, device=vector.device)
        padded[begin:end] = vector
        return times(padded)[begin:end]

    return _spectrum(part, start, most, tolerance)[0].ends()[2]
