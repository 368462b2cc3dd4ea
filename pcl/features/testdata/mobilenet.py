"""Writes networks of MobileNetV2's kind, with drawn weights, and what ONNX Runtime computes with the first.

usage: python mobilenet.py FOLDER WIDTH SIDE   (needs numpy, onnx, onnxruntime; WIDTH is 1 for the published channels)
It writes good.onnx, whose value "features" is [N,1280] and whose output are 10 logits; missing.onnx without a weight, unknown.onnx
with an operation that is seldom used, pixels.npy [2,SIDE,SIDE,3] and features.npy.
"""
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

folder, width, side = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
rng, nodes = np.random.default_rng(0), []
init = [numpy_helper.from_array(np.float32(0), "lo"), numpy_helper.from_array(np.float32(6), "hi")]


def add(op, inputs, name, **attributes):
    nodes.append(helper.make_node(op, inputs, [name], name=name + "_node", **attributes))
    return name


def weight(name, values):
    init.append(numpy_helper.from_array(values.astype(np.float32), name))
    return name


def conv(x, inputs, outputs, size, stride, groups, name, act=True):
    deviation = np.sqrt(2 / (inputs // groups * size * size))
    kernel = weight(name + ".w", deviation * rng.normal(size=(outputs, inputs // groups, size, size)))
    y = add("Conv", [x, kernel], name + ".conv", kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4, group=groups)
    parts = [weight(f"{name}.{p}", v) for p, v in (("scale", 1 + .1 * rng.normal(size=outputs)), ("shift", .1 * rng.normal(size=outputs)),
                                                   ("mean", .1 * rng.normal(size=outputs)), ("variance", 1 + .2 * rng.random(outputs)))]
    y = add("BatchNormalization", [y, *parts], name + ".norm")
    return add("Clip", [y, "lo", "hi"], name + ".clip") if act else y


channels = int(32 * width)
x, n = conv("images", 3, channels, 3, 2, 1, "stem"), 0
for widen, c, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
    for b in range(blocks):
        out, s, wide, name, y = int(c * width), stride if b == 0 else 1, channels * widen, f"block{n}", x
        if widen > 1:
            y = conv(y, channels, wide, 1, 1, 1, name + ".expand")
        y = conv(conv(y, wide, wide, 3, s, wide, name + ".depthwise"), wide, out, 1, 1, 1, name + ".project", act=False)
        x, channels, n = (add("Add", [x, y], name + ".sum") if s == 1 and channels == out else y), out, n + 1
x = add("Flatten", [add("GlobalAveragePool", [conv(x, channels, 1280, 1, 1, 1, "head")], "pool")], "features")
x = add("Gemm", [x, weight("classifier.w", .03 * rng.normal(size=(1280, 10))), weight("classifier.b", np.zeros(10))], "logits")


def save(name, nodes, init):
    size = [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, side, side])]
    g = helper.make_graph(nodes, "mobilenet", size, [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 10])], init)
    onnx.save(helper.make_model(g, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{folder}/{name}.onnx")


save("good", nodes, init)
save("missing", nodes, [t for t in init if t.name != "block3.project.w"])
features = [i for i, node in enumerate(nodes) if node.output[0] == "features"][0]
nodes[features].input[0] = "odd"
nodes.insert(features, helper.make_node("MaxRoiPool", ["pool", "lo"], ["odd"], name="the odd one", pooled_shape=[1, 1]))
save("unknown", nodes, init)

pixels = rng.integers(0, 256, (2, side, side, 3), dtype=np.uint8)
scaled = (pixels / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
good = onnx.load(f"{folder}/good.onnx")
good.graph.output.append(helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", 1280]))
session = onnxruntime.InferenceSession(good.SerializeToString(), providers=["CPUExecutionProvider"])
images = scaled.transpose(0, 3, 1, 2).astype(np.float32)
np.savez(f"{folder}/runtime.npz", pixels=pixels, features=session.run(["features"], {"images": images})[0])
