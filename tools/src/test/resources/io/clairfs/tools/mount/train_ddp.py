"""Trains a small network with DistributedDataParallel, one process for each rank, once for each order of a file. Prints the number of steps and
how far the weights are at most from those of the first order, for each of the others.

Arguments: the file (a line of indices for each order, epoch and rank, in this sequence), samples, epochs, world, batch, a directory."""

import json
import os
import sys
from datetime import timedelta

os.environ["GLOO_SOCKET_IFNAME"] = "lo"

import torch
import torch.distributed as dist
from torch.nn import CrossEntropyLoss, Linear, Sequential, Tanh
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

file, samples, epochs, world, batch, directory = sys.argv[1], *map(int, sys.argv[2:6]), sys.argv[6]
torch.set_num_threads(1)
with open(file) as lines:
    orders = [[int(index) for index in line.split()] for line in lines]
runs = len(orders) // epochs // world


def train(run, rank):
    torch.manual_seed(1)
    inputs = torch.randn(samples, 16, dtype=torch.float64)
    dataset = TensorDataset(inputs, inputs[:, :8].argmax(1))
    model = DistributedDataParallel(Sequential(Linear(16, 32), Tanh(), Linear(32, 8)).double())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    steps = 0
    for epoch in range(epochs):
        order = orders[(run * epochs + epoch) * world + rank]
        for data, target in DataLoader(dataset, batch_size=batch, sampler=order):
            optimizer.zero_grad()
            CrossEntropyLoss()(model(data), target).backward()
            optimizer.step()
            steps += 1
    return steps, torch.cat([weights.detach().flatten() for weights in model.parameters()])


def main(rank):
    dist.init_process_group(
        "gloo", init_method=f"file://{directory}/store", rank=rank, world_size=world, timeout=timedelta(seconds=300)
    )
    steps, weights = zip(*[train(run, rank) for run in range(runs)])
    if rank == 0:
        far = [float((each - weights[0]).abs().max()) for each in weights[1:]]
        print(json.dumps({"steps": steps[0], "apart": far}), flush=True)
    dist.barrier()


others = []
for rank in range(1, world):
    process = os.fork()
    if process == 0:
        main(rank)
        os._exit(0)
    others.append(process)
main(0)
for process in others:
    assert os.waitpid(process, 0)[1] == 0
