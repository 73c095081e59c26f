"""Osler inside a PyTorch training loop: layers, activations, batches, modes, the origin of a NaN, and probes.

    from osler.torch import Monitor

    monitor = Monitor(model, optimizer)
    ...
    loss.backward()
    if monitor.step(loss):
        optimizer.step()

    from osler.torch import lr_range_test
    lr_range_test(model, optimizer, torch.nn.CrossEntropyLoss(), loader)

Osler is not linked to PyTorch: tensors are measured where they lie, by pointer, type, sizes and strides.
"""

from osler.torch.checkup import check_initialisation, checkup, signal_propagation
from osler.torch.gpu import GpuStatistics
from osler.torch.looking import Activations, Look, look
from osler.torch.batches import BatchReport
from osler.torch.monitor import Monitor
from osler.torch.origin import Origin, trace_origin
from osler.torch.overfit import overfit_one_batch
from osler.torch.rates import fresh_start, lr_range_test
from osler.torch.sam import Sam
from osler.torch.samples import changed_samples, shared_samples
from osler.torch.settling import Change, Cure, Settled, settle, treat
from osler.torch.surface import curvature, loss_surface, noise_scale, sharpness
from osler.torch.training import Preserved, Training

__all__ = [
    "Activations",
    "BatchReport",
    "Change",
    "Cure",
    "GpuStatistics",
    "Look",
    "Monitor",
    "Origin",
    "Preserved",
    "Sam",
    "Settled",
    "Training",
    "changed_samples",
    "check_initialisation",
    "checkup",
    "curvature",
    "fresh_start",
    "look",
    "loss_surface",
    "lr_range_test",
    "noise_scale",
    "overfit_one_batch",
    "settle",
    "shared_samples",
    "sharpness",
    "signal_propagation",
    "trace_origin",
    "treat",
]
