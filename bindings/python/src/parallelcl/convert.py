"""ResNet-18 between parallelcl and torchvision or timm, whose names are the same.

    ours                                         theirs
    stem/conv/weights                            conv1.weight
    stem/norm/scale, shift, mean, variance       bn1.weight, bias, running_mean, running_var
    layer1/0/conv1/weights, layer1/0/norm1/…     layer1.0.conv1.weight, layer1.0.bn1.…
    layer2/0/shortcut/conv/weights, …/norm/…     layer2.0.downsample.0.weight, layer2.0.downsample.1.…
    classifier/weights, classifier/bias          fc.weight, fc.bias

A convolution is [height, width, in, out] here and [out, in, height, width] there, a linear layer [in, out] and [out, in].
Both pad with zeros, by half the kernel on all sides, and add ε = 1e-5 to variances. Their stem, a 7×7 convolution and a 3×3
maximum, is `stem = "imagenet"` here, which `pcl run --stem imagenet --init net.safetensors` begins with. The default one, a 3×3
convolution and a 2×2 maximum, is for small images; small_images gives a model of theirs that stem, untrained. `--init` reads a
safetensors file with their names, too. Published weights expect pixels from which a mean has been taken; ours are from 0 to 1."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._library import Error
from ._values import array

if TYPE_CHECKING:
    import torch

Model = TypeVar("Model", bound="torch.nn.Module")

_NORMS = {"weight": "scale", "bias": "shift", "running_mean": "mean", "running_var": "variance"}
_OURS = [  # theirs, ours
    (r"conv1", "stem/conv"), (r"bn1", "stem/norm"), (r"fc", "classifier"), (r"layer(\d)\.(\d)\.conv(\d)", r"layer\1/\2/conv\3"),
    (r"layer(\d)\.(\d)\.bn(\d)", r"layer\1/\2/norm\3"), (r"layer(\d)\.(\d)\.downsample\.0", r"layer\1/\2/shortcut/conv"),
    (r"layer(\d)\.(\d)\.downsample\.1", r"layer\1/\2/shortcut/norm"),
]
_THEIRS = [
    (r"stem/conv", "conv1"), (r"stem/norm", "bn1"), (r"classifier", "fc"), (r"layer(\d)/(\d)/conv(\d)", r"layer\1.\2.conv\3"),
    (r"layer(\d)/(\d)/norm(\d)", r"layer\1.\2.bn\3"), (r"layer(\d)/(\d)/shortcut/conv", r"layer\1.\2.downsample.0"),
    (r"layer(\d)/(\d)/shortcut/norm", r"layer\1.\2.downsample.1"),
]


def from_torch(state: Mapping[str, torch.Tensor]) -> dict[str, npt.NDArray[np.float32]]:
    """The tensors of a model's state_dict() under our names."""
    found: dict[str, npt.NDArray[np.float32]] = {}
    for name, tensor in state.items():
        at, _, kind = name.rpartition(".")
        if kind == "num_batches_tracked":
            continue
        ours = _named(at, _OURS, name)
        values: npt.NDArray[Any] = array(tensor, name, tensor.ndim).astype(np.float32)
        if ours == "stem/conv" and values.shape[2:] not in ((3, 3), (7, 7)):
            raise Error(f"{name} is {values.shape[2]}×{values.shape[3]}; want a stem of 7×7, or of 3×3 for small images")
        kind = _NORMS[kind] if ours.split("/")[-1].startswith("norm") else {"weight": "weights"}.get(kind, kind)
        found[f"{ours}/{kind}"] = _turned(values, 2, 3, 1, 0)
    return found


def to_torch(tensors: Mapping[str, npt.ArrayLike]) -> dict[str, torch.Tensor]:
    """Tensors under our names as a state_dict for load_state_dict(…, strict=False)."""
    back = {ours: theirs for theirs, ours in _NORMS.items()}
    found: dict[str, npt.NDArray[Any]] = {}
    for name, tensor in tensors.items():
        at, _, kind = name.rpartition("/")
        if at == "nearest_mean":
            continue
        theirs, values = _named(at, _THEIRS, name), np.asarray(tensor)
        kind = back[kind] if at.split("/")[-1].startswith("norm") else {"weights": "weight"}.get(kind, kind)
        found[f"{theirs}.{kind}"] = _turned(values, 3, 2, 0, 1)
    import torch  # here, so that wrong names are refused where it is missing, too

    return {name: torch.from_numpy(values) for name, values in found.items()}


def save(state: Mapping[str, torch.Tensor], path: str | Path) -> None:
    """Writes a model's state_dict() as a file for pcl run --init. It needs the package safetensors."""
    from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

    save_file(from_torch(state), str(path))


def load(path: str | Path) -> dict[str, torch.Tensor]:
    """The network of a file that pcl export weights wrote, as a state_dict. It needs the package safetensors."""
    from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

    return to_torch(load_file(str(path)))


def small_images(model: Model) -> Model:
    """The model, a ResNet-18 of torchvision or timm, with a new 3×3 stem and a 2×2 maximum, as parallelcl's."""
    import torch

    first: Any = model.conv1
    model.conv1 = torch.nn.Conv2d(first.in_channels, first.out_channels, 3, padding=1, bias=False)
    model.maxpool = torch.nn.MaxPool2d(2)
    return model


def _turned(values: npt.NDArray[Any], *axes: int) -> npt.NDArray[Any]:
    """A convolution with its axes in another order, or a matrix or vector transposed."""
    turned: npt.NDArray[Any] = np.transpose(values, axes if values.ndim == 4 else None)
    return np.ascontiguousarray(turned)


def _named(at: str, names: list[tuple[str, str]], name: str) -> str:
    for pattern, other in names:
        if re.fullmatch(pattern, at):
            return re.sub(pattern, other, at)
    raise Error(f"{name} is not a tensor of a ResNet-18; want the names of torchvision, timm or parallelcl")
