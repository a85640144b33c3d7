"""Reads epochs of jobs below a directory of the dataset side by side, and compares each sample with the dataset.

Arguments: mount, dataset, directory, first epoch, last epoch, pause after each step in microseconds, by how many samples each job is behind the
one before it, jobs. Samples have numbers by their sorted names. Each step reads one sample of each job. Prints how many were equal."""

import os
import sys
import time

mount, dataset, directory, first, last, pause, apart, *jobs = sys.argv[1:]
names = sorted(os.listdir(f"{dataset}/{directory}"))
equal = 0


def read(sample):
    path = f"{directory}/{names[sample]}"
    with open(f"{mount}/{path}", "rb") as file:
        seen = file.read()
    with open(f"{dataset}/{path}", "rb") as file:
        return seen == file.read()


orders = [
    [int(line) for epoch in range(int(first), int(last) + 1) for line in open(f"{mount}/.clairfs/order/{job}/{epoch}/0")]
    for job in jobs
]
for step in range(len(orders[0]) + int(apart) * (len(jobs) - 1)):
    for number, order in enumerate(orders):
        at = step - number * int(apart)
        if 0 <= at < len(order):
            equal += read(order[at])
    time.sleep(int(pause) / 1e6)
print(equal)
