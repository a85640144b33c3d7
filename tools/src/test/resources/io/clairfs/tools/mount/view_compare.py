"""A mount with a view against its source: view_compare.py MOUNT SOURCE SHORTER

Every file: its size before it is read, its bytes, and for images the pixels against Pillow's (resized as torchvision's Resize(SHORTER) unless that is 0).
Prints, as JSON, how many images were equal in size, the largest difference of a pixel, the largest mean of an image, and the names of the files that
could not be read (EIO), that were shown as they are, and that were wrong in any way.
"""
import errno
import io
import json
import os
import sys

import numpy as np
from PIL import Image
from torchvision.transforms import Resize

mount, source, shorter = sys.argv[1], sys.argv[2], int(sys.argv[3])


def expected(path):
    try:
        image = Image.open(path).convert('RGB')
    except (OSError, SyntaxError):
        return None
    return np.asarray(Resize(shorter)(image) if shorter else image)


def pixels(data):
    if data.startswith(b'\x93NUMPY'):
        return np.load(io.BytesIO(data))
    image = Image.open(io.BytesIO(data))
    assert image.format == 'PPM' and image.mode == 'RGB', (image.format, image.mode)
    return np.asarray(image.convert('RGB'))


result = {'images': 0, 'largest': 0, 'worst_mean': 0.0, 'failed': [], 'raw': [], 'wrong': []}
names = [os.path.relpath(os.path.join(top, file), source) for top, _, files in os.walk(source) for file in files]
for name in sorted(names):
    size = os.stat(os.path.join(mount, name)).st_size
    whole = open(os.path.join(source, name), 'rb').read()
    wanted = expected(os.path.join(source, name)) if whole[:3] == b'\xff\xd8\xff' or whole[:4] == b'\x89PNG' else whole
    try:
        with open(os.path.join(mount, name), 'rb') as file:
            data = file.read()
    except OSError as e:
        result['failed' if e.errno == errno.EIO and wanted is None else 'wrong'].append(name)
        continue
    if len(data) != size or wanted is None:
        result['wrong'].append(f'{name}: {size} bytes are {len(data)}')
    elif isinstance(wanted, bytes):
        result['raw' if data == wanted else 'wrong'].append(name)
    else:
        shown = pixels(data)
        if shown.shape != wanted.shape or shown.dtype != np.uint8:
            result['wrong'].append(f'{name}: {shown.shape} {shown.dtype}, not {wanted.shape}')
            continue
        difference = np.abs(shown.astype(int) - wanted)
        result['images'] += 1
        result['largest'] = max(result['largest'], int(difference.max()))
        result['worst_mean'] = max(result['worst_mean'], float(difference.mean()))
json.dump(result, sys.stdout)
