"""The price of statistics on the GPU, in one run: against plain reading, foreach norms and the usual loops; and a GPT's step with and without.

Needs PyTorch with CUDA and the osler package: PYTHONPATH=build/dev/python/package python3 bench/gpu_bench.py
"""

from __future__ import annotations

import argparse
import ctypes
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional

from osler.torch import Monitor
from osler.torch.gpu import GpuStatistics, compilers

READ = r"""
struct Vector { unsigned x, y, z, w; };
extern "C" __global__ void __launch_bounds__(256) plain_read(const Vector* data, unsigned long long count, float* out) {
  const unsigned long long step = (unsigned long long)gridDim.x * 1024;
  float sum = 0;
  unsigned long long i = (unsigned long long)blockIdx.x * 1024 + threadIdx.x;
  for (; i + 768 < count; i += step) {
    Vector v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u)
      asm("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[u].x), "=r"(v[u].y), "=r"(v[u].z), "=r"(v[u].w)
          : "l"(data + i + u * 256));
#pragma unroll
    for (int u = 0; u < 4; ++u)
      sum += __uint_as_float(v[u].x) + __uint_as_float(v[u].y) + __uint_as_float(v[u].z) + __uint_as_float(v[u].w);
  }
  for (int way = 16; way > 0; way /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, way);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
"""


class PlainRead:
    """A hand-written kernel that reads a buffer once and adds it up: the floor for everything else."""

    def __init__(self) -> None:
        self._out = torch.zeros(1, device="cuda")  # makes the context that the kernel is loaded into
        library = next((lib for lib in map(self._open, [*compilers(), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]) if lib), None)
        if library is None:
            raise SystemExit("gpu_bench: NVRTC was not found")
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        library.nvrtcCreateProgram(ctypes.byref(program), READ.encode(), b"read.cu", 0, None, None)
        major, minor = torch.cuda.get_device_capability()
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture=sm_{major}{minor}".encode())
        if library.nvrtcCompileProgram(program, 1, options) != 0:
            raise SystemExit("gpu_bench: the plain read does not compile")
        library.nvrtcGetCUBINSize(program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        library.nvrtcGetCUBIN(program, image)
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._image = image
        module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        assert self._driver.cuModuleLoadData(ctypes.byref(module), image) == 0
        assert self._driver.cuModuleGetFunction(ctypes.byref(self._function), module, b"plain_read") == 0
        self._blocks = 8 * torch.cuda.get_device_properties(0).multi_processor_count

    @staticmethod
    def _open(path: str):
        try:
            return ctypes.CDLL(path)
        except OSError:
            return None

    def __call__(self, flat: torch.Tensor) -> None:
        arguments = [
            ctypes.c_void_p(flat.data_ptr()),
            ctypes.c_ulonglong(flat.numel() * flat.element_size() // 16),
            ctypes.c_void_p(self._out.data_ptr()),
        ]
        pointers = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(each), ctypes.c_void_p) for each in arguments))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        assert self._driver.cuLaunchKernel(self._function, self._blocks, 1, 1, 256, 1, 1, 0, stream, pointers, None) == 0


def gpt_shapes(layers: int, width: int) -> list[tuple[int, ...]]:
    """The parameters of a GPT-2: 148 tensors and 124 million for 12 layers of 768, 580 and 1.56 billion for 48 of 1600."""
    shapes: list[tuple[int, ...]] = [(50257, width), (1024, width)]
    for _ in range(layers):
        shapes += [(width,), (width,), (3 * width, width), (3 * width,), (width, width), (width,)]
        shapes += [(width,), (width,), (4 * width, width), (4 * width,), (width, 4 * width), (width,)]
    return shapes + [(width,), (width,)]


def carve(shapes: list[tuple[int, ...]], dtype: torch.dtype, deviation: float) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Tensors in one buffer, each aligned to 512 bytes as an allocator would."""
    align = 512 // torch.empty(0, dtype=dtype).element_size()
    offsets, total = [], 0
    for shape in shapes:
        offsets.append(total)
        total += (math.prod(shape) + align - 1) // align * align
    flat = torch.empty(total, dtype=dtype, device="cuda").normal_(0, deviation)
    return flat, [flat[at : at + math.prod(shape)].view(shape) for at, shape in zip(offsets, shapes)]


def milliseconds(work, repeats: int) -> list[float]:
    """What work takes on a stream that is busy when it is queued, as in a training: without the host's part."""
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        torch.cuda._sleep(2_000_000)  # a millisecond
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return times


def table(read: PlainRead, name: str, shapes: list[tuple[int, ...]], dtype: torch.dtype, repeats: int) -> None:
    flat, tensors = carve(shapes, dtype, 0.02)
    other_flat, others = carve(shapes, dtype, 1e-4)
    plain, counted, pairs = GpuStatistics(), GpuStatistics(), GpuStatistics()
    plain.measure(tensors)
    counted.measure(tensors, histogram=True)
    pairs.compare(tensors, others)
    for each in (plain, counted, pairs):
        each.results()

    def again(each: GpuStatistics):
        def work() -> None:
            each._submit()  # what again() does, without asking first whether the tensors are still there

        return work, each

    def both() -> None:
        read(flat)
        read(other_flat)

    candidates = {
        "plain read": (lambda: read(flat), None),
        "osler: all statistics": again(plain),
        "osler: with histograms": again(counted),
        "torch._foreach_norm": (lambda: torch._foreach_norm(tensors), None),
        "plain read of both": (both, None),
        "osler: pairs": again(pairs),
    }
    times: dict[str, list[float]] = {key: [] for key in candidates}
    for turn in range(repeats + 3):
        for key, (work, statistic) in candidates.items():
            took = milliseconds(work, 1)
            if statistic is not None:
                statistic.results()
            if turn >= 3:
                times[key] += took
    times["loop of norm().item()"] = milliseconds(lambda: [tensor.norm().item() for tensor in tensors], 3)
    floor = {True: statistics.median(times["plain read of both"]), False: statistics.median(times["plain read"])}
    count = sum(math.prod(shape) for shape in shapes)
    print(f"\n{name}: {count / 1e6:.0f} M parameters in {len(shapes)} tensors, {count * flat.element_size() / 1e9:.2f} GB")
    for key, took in times.items():
        quarters = statistics.quantiles(took, n=4)
        middle = statistics.median(took)
        print(f"  {key:26s} {middle:8.3f} ms  [{quarters[0]:.3f}, {quarters[2]:.3f}]  {middle / floor['pairs' in key or 'both' in key]:6.3f} times its read")
    start = time.perf_counter()
    for _ in range(20):
        plain.measure(tensors)
        plain.results()
    print(f"  asking anew and waiting, on the host: {(time.perf_counter() - start) / 20 * 1e3:.3f} ms; held on the GPU: {plain.memory[0] / 1e6:.2f} MB")
    exact = tensors[2].double()
    found = plain.results()[2]
    print(f"  against double precision: norm {found['norm'] / float(exact.norm()) - 1:+.1e}, std {found['std'] / float(exact.std()) - 1:+.1e}")


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.between(x)), approximate="tanh"))


class Gpt(nn.Module):
    """GPT-2 small: 124 million parameters, the embedding tied to the output."""

    def __init__(self, layers: int = 12, width: int = 768, heads: int = 12, vocabulary: int = 50304) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(1024, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last = nn.LayerNorm(width)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.tokens(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return functional.linear(self.last(self.blocks(hidden)), self.tokens.weight)


def training(batch: int, turns: int, steps: int) -> None:
    """A step of a GPT by itself, with the statistics of everything on every step, and under the default monitor, in turns."""
    torch.manual_seed(0)
    model = Gpt().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    parameters = list(model.parameters())
    data = torch.randint(0, 50257, (8, batch, 1025), device="cuda")
    ring = [GpuStatistics(), GpuStatistics()]
    waiting: list[GpuStatistics] = []
    taken = [0, 0]
    monitor = Monitor(model, optimizer, on_line=None)

    def measure() -> None:
        if waiting and waiting[0].ready():
            waiting.pop(0)
            taken[1] += 1
        if len(waiting) < len(ring):
            free = next(each for each in ring if each not in waiting)
            free.measure([*parameters, *(parameter.grad for parameter in parameters)])
            waiting.append(free)
            taken[0] += 1

    def step(number: int, how: str) -> None:
        tokens = data[number % len(data)]
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        if how == "statistics":
            measure()
        elif how == "monitor":
            monitor.step(loss)
        optimizer.step()
        optimizer.zero_grad()

    ways = ["nothing", "statistics", "monitor"]
    for number in range(6):
        step(number, "nothing")
    early = {}
    for way in ("nothing", "monitor"):  # the monitor looks closely at the first 50 steps
        torch.cuda.synchronize()
        start = time.perf_counter()
        for number in range(60):
            step(number, way)
        torch.cuda.synchronize()
        early[way] = time.perf_counter() - start
    for number in range(6):
        step(number, "statistics")
    times: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(turns):
        for way in ways[turn % 3 :] + ways[: turn % 3]:
            torch.cuda.synchronize()
            start = time.perf_counter()
            for number in range(steps):
                step(number, way)
            torch.cuda.synchronize()
            times[way].append((time.perf_counter() - start) / steps * 1e3)
    count = sum(parameter.numel() for parameter in parameters)
    print(f"GPT of {count / 1e6:.0f} M, bf16 autocast, {batch} x 1024 tokens, {turns} turns of {steps} steps: {statistics.median(times['nothing']):.2f} ms a step")
    for way in ways[1:]:
        ratios = [mine / plain for mine, plain in zip(times[way], times["nothing"])]
        mean, error = statistics.mean(ratios), statistics.stdev(ratios) / math.sqrt(len(ratios))
        print(
            f"  with {way:10s} {statistics.median(times[way]):8.2f} ms  {100 * (mean - 1):+.2f} % "
            f"(95 %: {100 * (mean - 1.96 * error - 1):+.2f} to {100 * (mean + 1.96 * error - 1):+.2f})"
        )
    print(f"  the first 60 steps took {early['monitor'] - early['nothing']:+.2f} s with the monitor, on {early['nothing']:.2f} s; since then it has spent {100 * monitor.share:.2f} % in all")
    print(f"  {taken[0]} samples taken, {taken[1]} picked up; the monitor holds {monitor.gpu_memory / 1e6:.2f} MB on the GPU, {100 * monitor.gpu_memory / (4 * count):.2f} % of the parameters")
    monitor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="turns of the table")
    parser.add_argument("--turns", type=int, default=12, help="turns of the training, 0 for none")
    parser.add_argument("--steps", type=int, default=10, help="steps in a turn")
    parser.add_argument("--batch", type=int, default=12, help="samples of 1,024 tokens in a step of the training")
    parser.add_argument("--no-large", action="store_true", help="leave the 1.56 B parameters out")
    parser.add_argument("--no-small", action="store_true", help="leave the 124 M parameters out")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("gpu_bench: there is no GPU that PyTorch can use")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    read = PlainRead()
    small, large = gpt_shapes(12, 768), gpt_shapes(48, 1600)
    if not arguments.no_small:
        table(read, "GPT-2 small, f32", small, torch.float32, arguments.repeats)
    if not arguments.no_large:
        table(read, "GPT-2 XL, f32", large, torch.float32, arguments.repeats)
        torch.cuda.empty_cache()
        table(read, "GPT-2 XL, bf16", large, torch.bfloat16, arguments.repeats)
        torch.cuda.empty_cache()
    print()
    if arguments.turns > 0:
        training(arguments.batch, arguments.turns, arguments.steps)


if __name__ == "__main__":
    main()
