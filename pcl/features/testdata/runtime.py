"""Makes runtime.npz: the features that ONNX Runtime computes with given weights of EfficientNet-Lite0.

The graph is built here from the published description, without the code of this repository.
usage: python runtime.py DRAWN.safetensors PUBLISHED.safetensors   (needs numpy, onnx, onnxruntime)
The first file is what `go test ./pcl/features -run WriteDrawn -drawn FILE` writes, the second lies in the user's cache folder,
parallelcl/features/efficientnet-lite0.safetensors, when features were computed once.
"""
import json
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

BLOCKS = [(1, 3, 1, 1, 32, 16), (2, 3, 2, 6, 16, 24), (2, 5, 2, 6, 24, 40), (3, 3, 2, 6, 40, 80),
          (3, 5, 1, 6, 80, 112), (4, 5, 2, 6, 112, 192), (1, 3, 1, 6, 192, 320)]


def tensors(path):
    data = open(path, "rb").read()
    n = int.from_bytes(data[:8], "little")
    head, values = json.loads(data[8:8 + n]), data[8 + n:]
    return {k: np.frombuffer(values[v["data_offsets"][0]:v["data_offsets"][1]], "<f4").reshape(v["shape"])
            for k, v in head.items() if k != "__metadata__"}


def session(w):
    nodes = []
    init = [numpy_helper.from_array(np.float32(0), "lo"), numpy_helper.from_array(np.float32(6), "hi")]

    def conv(x, name, norm, stride, groups=1, act=True):
        k = w[name + ".weight"]
        init.append(numpy_helper.from_array(k, name))
        y = name + "_conv"
        nodes.append(helper.make_node("Conv", [x, name], [y], kernel_shape=k.shape[2:], strides=[stride] * 2, group=groups,
                                      auto_pad="SAME_UPPER"))
        parts = [norm + p for p in (".weight", ".bias", ".running_mean", ".running_var")]
        init.extend(numpy_helper.from_array(w[p], p) for p in parts)
        nodes.append(helper.make_node("BatchNormalization", [y, *parts], [name + "_norm"], epsilon=1e-3))
        if not act:
            return name + "_norm"
        nodes.append(helper.make_node("Clip", [name + "_norm", "lo", "hi"], [name + "_act"]))
        return name + "_act"

    x, n = conv("x", "_conv_stem", "_bn0", 2), 0
    for blocks, _, stride, widen, inputs, outputs in BLOCKS:
        for b in range(blocks):
            s, i, p, y = (stride, inputs, f"_blocks.{n}.", x) if b == 0 else (1, outputs, f"_blocks.{n}.", x)
            if widen > 1:
                y = conv(y, p + "_expand_conv", p + "_bn0", 1)
            y = conv(y, p + "_depthwise_conv", p + "_bn1", s, i * widen)
            y = conv(y, p + "_project_conv", p + "_bn2", 1, act=False)
            if s == 1 and i == outputs:
                nodes.append(helper.make_node("Add", [x, y], [p + "sum"]))
                y = p + "sum"
            x, n = y, n + 1
    x = conv(x, "_conv_head", "_bn1", 1)
    nodes += [helper.make_node("GlobalAveragePool", [x], ["pooled"]), helper.make_node("Flatten", ["pooled"], ["features"])]
    graph = helper.make_graph(nodes, "lite0", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, "h", "w"])],
                              [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 1280])], init)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def cubic(t, a=-0.75):
    t = abs(t)
    return ((a + 2) * t - (a + 3)) * t * t + 1 if t < 1 else (((t - 5) * t + 8) * t - 4) * a if t < 2 else 0.0


def enlarge(n, to):
    m = np.zeros((to, n))
    for i in range(to):
        centre = (i + 0.5) * n / to - 0.5
        for j in range(int(np.floor(centre)) - 1, int(np.floor(centre)) + 3):
            m[i, min(max(j, 0), n - 1)] += cubic(centre - j)
    return m


def features(w, x, size):
    y = np.einsum("sh,nhwc,tw->nstc", enlarge(x.shape[1], size), x.astype(np.float64), enlarge(x.shape[2], size), optimize=True)
    y = ((np.clip(y, 0, 255) - 127) / 128).astype(np.float32).transpose(0, 3, 1, 2)
    return session(w).run(["features"], {"x": np.ascontiguousarray(y)})[0]


rng = np.random.default_rng(0)
low = rng.integers(0, 256, (2, 6, 5, 3))
x = np.clip(np.kron(low, np.ones((1, 4, 5, 1))) + rng.integers(-30, 30, (2, 24, 25, 3)), 0, 255).astype(np.uint8)
np.savez_compressed(sys.path[0] + "/runtime.npz", drawn_x=x, drawn_features=features(tensors(sys.argv[1]), x, 64),
                    published_x=x, published_features=features(tensors(sys.argv[2]), x, 128))
