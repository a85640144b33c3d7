"""Photographs of a sort, of 500x375 pixels and some 100 KB: gradients, waves and noise. make_jpegs.py DIRECTORY COUNT"""
import os
import sys

import numpy
import PIL.Image

directory, count = sys.argv[1], int(sys.argv[2])
random = numpy.random.default_rng(1)
y, x = numpy.mgrid[0:375, 0:500]
for number in range(count):
    waves = [numpy.sin(x * a + y * b + c) for a, b, c in random.uniform(0, 0.2, (3, 3))]
    pixels = 128 + 60 * numpy.stack(waves, 2) + (x / 10)[:, :, None] + random.normal(0, 14, (375, 500, 3))
    image = PIL.Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8))
    image.save(os.path.join(directory, "%d.jpg" % number), quality=90)
