"""Samples per second, and this process's CPU time per sample, of each epoch of a feed, or of a DataLoader with two workers.

feed_rates.py MOUNT feed|loader JOB WHAT EPOCHS COMMAND...: WHAT is `jpeg`, images that become 224 pixels by way of 256, or the bytes of a sample of
raw float32. What lies ready at the first batch is not counted: four batches of either.
"""
import json
import os
import sys
import time

mount, how, job, what, epochs = sys.argv[1:6]
sys.path.insert(0, mount + "/.clairfs/python")
AHEAD = 4


def measure(batches, batch):
    count, begin, cpu = 0, None, None
    for labels in batches:
        if begin is None:
            begin, cpu = time.perf_counter(), time.process_time()
        count += len(labels)
    seconds, used = time.perf_counter() - begin, time.process_time() - cpu
    measured = count - AHEAD * batch
    return {"samples": count, "rate": measured / seconds, "cpu_us": used * 1e6 / count}


if how == "feed":
    from clairfs_feed import Feed

    decode = "image,size=224,resize=256" if what == "jpeg" else "raw,dtype=float32,shape=%d" % (int(what) // 4)
    with Feed(mount, job=job, decode=decode, slots=AHEAD, command=sys.argv[6:]) as feed:
        said = [measure((labels for batch, labels, indices in feed), 64) for _ in range(int(epochs))]
        said[-1]["feeder"] = feed.stats()
else:
    import numpy
    import PIL.Image
    import torch
    from clairfs_torch import OrderSampler

    paths = open(mount + "/.clairfs/sample/" + job + "/all").read().splitlines()

    class Files(torch.utils.data.Dataset):
        def __len__(self):
            return len(paths)

        def __getitem__(self, index):
            return torch.from_numpy(numpy.fromfile(os.path.join(mount, paths[index]), numpy.float32)), 0

    class Pictures(Files):
        def __init__(self):
            from torchvision import transforms

            self.change = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.PILToTensor()])

        def __getitem__(self, index):
            with open(os.path.join(mount, paths[index]), "rb") as file:
                return self.change(PIL.Image.open(file).convert("RGB")), 0

    sampler = OrderSampler(mount, job=job)
    loader = torch.utils.data.DataLoader(Pictures() if what == "jpeg" else Files(), batch_size=64, sampler=sampler, num_workers=2, persistent_workers=True)
    said = []
    for epoch in range(int(epochs)):
        sampler.set_epoch(epoch)
        said.append(measure((labels for batch, labels in loader), 64))
print(json.dumps(said))
