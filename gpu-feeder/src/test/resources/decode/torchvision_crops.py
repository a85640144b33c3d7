"""Rectangles of torchvision's RandomResizedCrop, with its random numbers replaced by ours.

Reads lines of key, width, height; prints left, top, width, height for each.
"""
import math
import sys

from torchvision.transforms import transforms

MASK = (1 << 64) - 1


class Number(float):
    def item(self):
        return self

    def __getitem__(self, _):
        return self


class Draws:
    """SplitMix64, and as much of torch as RandomResizedCrop.get_params asks for."""

    def __init__(self, key):
        self.state = key & MASK
        self.uniform()  # the flip's

    def uniform(self):
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        return ((z ^ z >> 31) >> 11) * 2.0 ** -53

    def uniform_(self, least, most):
        return Number(least + (most - least) * self.uniform())

    def empty(self, _):
        return self

    def randint(self, least, most, size):
        return Number(least + int((most - least) * self.uniform()))

    @staticmethod
    def tensor(values):
        return values

    @staticmethod
    def log(values):
        return [math.log(value) for value in values]

    @staticmethod
    def exp(value):
        return Number(math.exp(value))


class Sized:
    def __init__(self, width, height):
        self.width, self.height = width, height


transforms.F.get_dimensions = lambda image: (3, image.height, image.width)
for line in open(sys.argv[1]):
    key, width, height = (int(word) for word in line.split())
    transforms.torch = Draws(key)
    top, left, h, w = transforms.RandomResizedCrop.get_params(Sized(width, height), (0.08, 1.0), (3.0 / 4.0, 4.0 / 3.0))
    print(int(left), int(top), int(w), int(h))
