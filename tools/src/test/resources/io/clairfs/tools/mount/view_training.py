"""A training that knows nothing of views: view_training.py DATA SOURCE SEED EPOCHS SHORTER

ImageFolder with its own loader, two workers. Only the comparison knows the source: every sample's pixels against what the same ImageFolder gives
there (resized as Resize(SHORTER) unless that is 0). Prints, as JSON, the samples, the largest difference of a pixel, the largest mean of a sample.
"""
import json
import sys

import torch
from torch.utils.data import DataLoader, DistributedSampler
from torchvision.datasets import ImageFolder
from torchvision.transforms import PILToTensor, Resize

data, source, seed, epochs, shorter = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])


class Numbered(ImageFolder):
    def __getitem__(self, index):
        return (index,) + super().__getitem__(index)


truth = ImageFolder(source)
resize = Resize(shorter) if shorter else lambda image: image
dataset = Numbered(data, transform=PILToTensor())
sampler = DistributedSampler(dataset, num_replicas=1, rank=0, seed=seed)
loader = DataLoader(dataset, batch_size=8, sampler=sampler, num_workers=2, collate_fn=list)
result = {'samples': 0, 'largest': 0, 'worst_mean': 0.0}
for epoch in range(epochs):
    sampler.set_epoch(epoch)
    for batch in loader:
        for index, shown, label in batch:
            image, expected = truth[index]
            wanted = PILToTensor()(resize(image))
            assert label == expected and shown.shape == wanted.shape, (index, shown.shape, wanted.shape)
            difference = (shown.int() - wanted.int()).abs().float()
            result['samples'] += 1
            result['largest'] = max(result['largest'], int(difference.max()))
            result['worst_mean'] = max(result['worst_mean'], float(difference.mean()))
json.dump(result, sys.stdout)
