"""Arrays as numpy and Python's wave module write them, beside their bytes.

Writes FILE.npy or FILE.wav and FILE.bytes to a directory; prints name, type and shape.
"""
import os
import sys
import wave

import numpy as np
from numpy.lib import format as npy

directory = sys.argv[1]
random = np.random.default_rng(7)


def put(name, values):
    values.tofile(os.path.join(directory, name + '.bytes'))
    print(name, values.dtype.str, 'x'.join(str(extent) for extent in values.shape) or '-')


for dtype in ('|u1', '<i2', '<i4', '<i8', '<f2', '<f4', '<f8'):
    for shape in ((), (1,), (7,), (3, 5), (2, 3, 4, 5)):
        for version in ((1, 0), (2, 0), (3, 0)):
            name = f'{dtype[1:]}-{len(shape)}-{sum(shape)}-{version[0]}.npy'
            values = np.asarray(random.uniform(0, 100, shape)).astype(dtype)
            with open(os.path.join(directory, name), 'wb') as out:
                npy.write_array(out, values, version)
            put(name, values)

for channels in (1, 2):
    values = random.integers(-32768, 32768, (801, channels) if channels > 1 else (801,)).astype('<i2')
    with wave.open(os.path.join(directory, f'{channels}.wav'), 'wb') as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(values.tobytes())
    put(f'{channels}.wav', values)

with open(os.path.join(directory, 'fortran.npy'), 'wb') as out:
    np.save(out, np.asfortranarray(np.ones((3, 4), '<f4')))
with open(os.path.join(directory, 'big.npy'), 'wb') as out:
    np.save(out, np.ones((3, 4), '>f4'))
