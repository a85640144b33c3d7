"""JPEG files to 224 pixels with Pillow and torchvision, on one core.

make DIRECTORY COUNT      writes COUNT files of 500x375 pixels and about 110 KB: gradients, waves and noise
answer DIRECTORY          for each line read, one of the names below, decodes all files once and prints the seconds it took
"""
import glob
import io
import os
import sys
import time

import numpy as np
from PIL import Image


def make(directory, count):
    random = np.random.default_rng(500375)
    y, x = np.mgrid[0:375, 0:500]
    for i in range(count):
        values = np.full((375, 500, 3), 128.0)
        for _ in range(12):
            fx, fy, phase = random.uniform(-0.15, 0.15), random.uniform(-0.15, 0.15), random.uniform(0, 6.28)
            values += np.sin(x * fx + y * fy + phase)[..., None] * random.uniform(-40, 40, 3)
        values += random.normal(0, 16, (375, 500, 1)) + random.normal(0, 5, (375, 500, 3))
        Image.fromarray(np.clip(values, 0, 255).astype(np.uint8)).save(os.path.join(directory, f'{i}.jpg'), quality=90)


def answer(directory):
    import torch
    import torchvision.io
    import torchvision.transforms.functional as F
    from torchvision.transforms import InterpolationMode
    torch.set_num_threads(1)
    files = [open(path, 'rb').read() for path in sorted(glob.glob(directory + '/*.jpg'))]
    tensors = [torch.frombuffer(bytearray(data), dtype=torch.uint8) for data in files]
    opened = lambda i: Image.open(io.BytesIO(files[i])).convert('RGB')
    images = [opened(i) for i in range(len(files))]
    decoded = [torchvision.io.decode_jpeg(tensor) for tensor in tensors]
    small = lambda image: F.center_crop(F.resize(image, 256), 224)
    smooth = lambda image: F.center_crop(F.resize(image, 256, antialias=True), 224)
    work = {
        'pillow': lambda i: F.pil_to_tensor(small(opened(i))),
        'pillow-decode': opened,
        'pillow-resize': lambda i: small(images[i]),
        'torchvision': lambda i: smooth(torchvision.io.decode_jpeg(tensors[i])),
        'torchvision-decode': lambda i: torchvision.io.decode_jpeg(tensors[i]),
        'torchvision-resize': lambda i: smooth(decoded[i]),
    }
    print('ready', flush=True)
    for line in sys.stdin:
        do = work[line.strip()]
        begun = time.process_time()
        for i in range(len(files)):
            do(i)
        print(time.process_time() - begun, flush=True)


if sys.argv[1] == 'make':
    make(sys.argv[2], int(sys.argv[3]))
else:
    answer(sys.argv[2])
