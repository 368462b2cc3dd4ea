"""Which loss each sample belongs to, from a few short backward passes instead of one for each loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch.autograd.graph import GradientEdge

SHARED = "several losses depend on one sample"


def owners(losses: torch.Tensor, edges: Sequence[GradientEdge], plain: Sequence[torch.Tensor | None]) -> npt.NDArray[np.int64] | str:
    """For each sample the loss that depends on it, or -1; or why there is no such loss. The edges are those of the model's
    outputs, and plain are the gradients of the sum of the losses there, all finite.

    Loss i is multiplied by a power of two, whose exponent is a digit of i. A sample of loss i alone then has its plain
    gradient times that power, to the bit, so that one pass reads one digit of the owners of all samples."""
    known = {edge: _rows(g) for edge, g in zip(edges, plain) if g is not None}
    if not known:
        return "no loss depends on the model's output"
    short = any(g.dtype == torch.float16 for g in (losses, *plain) if g is not None)
    half, single = np.finfo(np.float16), np.finfo(np.float32)
    base, least = (2, float(half.smallest_subnormal)) if short else (32, float(single.tiny))  # 2^-31 would leave nothing of 16 bits
    top = _largest(known.values())
    seen = top >= 4 * least * 2.0 ** (base - 1)  # below, digits can't be read, and nothing is lost
    index, found, place = torch.arange(len(losses)), np.zeros(len(top), np.int64), 1
    while place < len(losses):
        by = torch.exp2(-(index // place % base).double()).to(losses)
        scaled = [_rows(g) for g in torch.autograd.grad(losses, list(known), by, retain_graph=True)]
        largest = _largest(scaled)
        digit = np.zeros(len(top), np.int64)
        digit[seen] = np.rint(np.log2(top[seen] / np.maximum(largest[seen], least)))
        factor = np.exp2(-digit)[:, None]
        rest = _largest([s - factor * g for g, s in zip(known.values(), scaled)])
        fits = (rest <= 1e-3 * largest + least) & (digit >= 0) & (digit < base)
        if not np.where(seen, fits, (top > 0) | (largest == 0)).all():
            return SHARED
        found, place = found + place * digit, place * base
    return SHARED if (found >= len(losses)).any() else np.where(seen, found, -1)


def _rows(gradient: torch.Tensor) -> npt.NDArray[np.float64]:
    """The gradient of an output, a row for each sample."""
    found: npt.NDArray[np.float64] = gradient.reshape(len(gradient), -1).cpu().double().numpy()
    return found


def _largest(gradients: Iterable[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The largest magnitude in each sample's gradients."""
    found: npt.NDArray[np.float64] = np.max([np.abs(g).max(1, initial=0) for g in gradients], 0)
    return found
