"""One of two processes of DistributedDataParallel over gloo: python ddp.py RANK PORT. See test_torch.py."""

import os
import sys

import torch
import torch.distributed as dist

import parallelcl
from parallelcl.torch import backward

rank, port = int(sys.argv[1]), sys.argv[2]
os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
dist.init_process_group("gloo", rank=rank, world_size=2)
torch.manual_seed(0)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 3).double())
x, y = torch.randn(8, 4).double(), torch.randn(8, 3).double()
mine = slice(4 * rank, 4 * rank + 4)
rule = parallelcl.EMGDGMC()
for _ in range(2):
    net.zero_grad()
    out = net(x[mine])
    weights = backward([((out - y[mine])[:, i] ** 2).mean() for i in range(3)], net, rule, group=dist.group.WORLD)
print("weights and gradient:")
print(weights.tolist(), torch.cat([p.grad.reshape(-1) for p in net.parameters()]).tolist(), sep="\n")
dist.destroy_process_group()
