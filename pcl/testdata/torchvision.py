"""Prints the logits of torchvision's ResNet-18 with the weights of one safetensors file for the pictures x [N,H,W,C] of another.

usage: python torchvision.py NET.safetensors X.safetensors   (needs torch, torchvision, safetensors)
"""
import sys

import torch
import torchvision
from safetensors.torch import load_file

state, x = load_file(sys.argv[1]), load_file(sys.argv[2])["x"]
net = torchvision.models.resnet18(num_classes=len(state["fc.bias"])).eval()
net.load_state_dict(state)
with torch.no_grad():
    print(*net(x.permute(0, 3, 1, 2)).flatten().tolist())
