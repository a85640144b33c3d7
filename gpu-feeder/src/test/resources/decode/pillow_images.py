"""Images of many kinds, and what Pillow makes of them.

make DIRECTORY COUNT   writes COUNT images, a few that are damaged and a few with odd chunks; prints a line for each: name, width, height
expect DIRECTORY       reads DIRECTORY/cases, and writes the expected pixels of each, height x width x 3, or the reason why Pillow refuses
"""
import io
import os
import struct
import sys
import zlib

import numpy as np
from PIL import Image

SIZES = [(1, 1), (2, 3), (7, 1), (1, 9), (8, 8), (17, 16), (33, 31), (64, 64), (73, 90), (200, 133), (317, 211), (500, 375), (375, 500), (640, 20),
         (2000, 7), (9, 1500), (1023, 769)]


def scene(random, width, height):
    y, x = np.mgrid[0:height, 0:width]
    values = np.full((height, width, 3), 128.0)
    for _ in range(10):
        fx, fy, phase = random.uniform(-0.15, 0.15), random.uniform(-0.15, 0.15), random.uniform(0, 6.28)
        values += np.sin(x * fx + y * fy + phase)[..., None] * random.uniform(-45, 45, 3)
    values += random.normal(0, random.choice([0, 4, 14]), (height, width, 1)) + random.normal(0, 3, (height, width, 3))
    return Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))


def segment_ends(data):
    """Where the segments before the first scan begin and end."""
    at = 2
    while data[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(data[at + 2:at + 4], 'big')
        yield at, end
        at = end


def adobe(data, transform):
    """With Adobe's segment, and without JFIF's."""
    kept = b''.join(data[a:b] for a, b in segment_ends(data) if data[a + 1] not in (0xE0, 0xEE))
    rest = data[list(segment_ends(data))[-1][1]:]
    return b'\xff\xd8\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00' + bytes([transform]) + kept + rest


def jpeg(image, **options):
    out = io.BytesIO()
    image.save(out, 'jpeg', **options)
    return out.getvalue()


def png(image, **options):
    out = io.BytesIO()
    image.save(out, 'png', **options)
    return out.getvalue()


def chunk(kind, body):
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))


def deep(random, width, height, channels):
    """A PNG of 16 bits a channel, which Pillow cannot write."""
    rows = random.integers(0, 65536, (height, width * channels)).astype('>u2')
    head = struct.pack('>IIBBBBB', width, height, 16, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    body = zlib.compress(b''.join(b'\0' + row.tobytes() for row in rows))
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', body) + chunk(b'IEND', b'')


def kinds(random, image):
    quality = int(random.integers(20, 101))
    noisy = np.asarray(image)
    alpha = Image.fromarray(np.dstack([noisy, noisy[:, :, :1]]))
    yield 'plain.jpg', lambda: jpeg(image, quality=quality)
    for subsampling in (0, 1, 2):
        yield f'sub{subsampling}.jpg', lambda s=subsampling: jpeg(image, quality=quality, subsampling=s)
    yield 'progressive.jpg', lambda: jpeg(image, quality=quality, progressive=True)
    yield 'optimized.jpg', lambda: jpeg(image, quality=quality, optimize=True, subsampling=0)
    yield 'grey.jpg', lambda: jpeg(image.convert('L'), quality=quality)
    yield 'cmyk.jpg', lambda: jpeg(image.convert('CMYK'), quality=quality)
    yield 'ycck.jpg', lambda: adobe(jpeg(image.convert('CMYK'), quality=quality), 2)
    yield 'adobergb.jpg', lambda: adobe(jpeg(image, quality=quality, subsampling=0), 0)
    yield 'adobeycc.jpg', lambda: adobe(jpeg(image, quality=quality), 1)
    exif = Image.Exif()
    exif[0x112] = 6
    yield 'turned.jpg', lambda: jpeg(image, quality=quality, exif=exif.tobytes())
    yield 'trailing.jpg', lambda: jpeg(image, quality=quality) + b'more' * 20
    yield 'extraneous.jpg', lambda: jpeg(image, quality=quality)[:-2] + b'\x12\x34\xff\xd9'
    yield 'notables.jpg', lambda: jpeg(image, quality=quality).replace(b'\xff\xc4', b'\xff\xe9')
    yield 'rgb.png', lambda: png(image)
    yield 'grey.png', lambda: png(image.convert('L'))
    yield 'bits.png', lambda: png(image.convert('1'))
    yield 'palette.png', lambda: png(image.quantize(16), bits=4, transparency=0)
    yield 'palette256.png', lambda: png(image.quantize(200))
    yield 'alpha.png', lambda: png(alpha)
    yield 'greyalpha.png', lambda: png(alpha.convert('LA'))
    yield 'deep.png', lambda: deep(random, image.width, image.height, 3)
    yield 'deepalpha.png', lambda: deep(random, image.width, image.height, 4)
    yield 'deepgreyalpha.png', lambda: deep(random, image.width, image.height, 2)


def damaged(directory, random):
    whole = jpeg(scene(random, 200, 150), quality=90)
    progressive = jpeg(scene(random, 200, 150), quality=90, progressive=True)
    picture = png(scene(random, 60, 50))
    noframe = b'\xff\xd8\xff\xd9'
    for name, data in {
        'half.jpg': whole[:len(whole) // 2],
        'halfprogressive.jpg': progressive[:len(progressive) // 2],
        'noend.jpg': whole[:-2],
        'headonly.jpg': whole[:100],
        'noframe.jpg': noframe,
        'half.png': picture[:len(picture) // 2],
        'headonly.png': picture[:20],
        'text.jpg': b'no image at all',
        'empty.jpg': b'',
    }.items():
        open(os.path.join(directory, name), 'wb').write(data)
        print(name, 0, 0)


def odd(directory, random):
    """PNG files with a palette, and with a chunk that nothing can be made of, which Pillow passes over: behind the size, and behind the pixels."""
    picture = png(scene(random, 60, 50).quantize(100))
    for kind, body in {
        b'iCCP': b'profile\0',
        b'tEXt': b'no end',
        b'zTXt': b'text\0\0no deflate',
        b'sPLT': b'no end',
        b'hIST': b'odd',
        b'pHYs': bytes(10),
    }.items():
        for place, at in (('before', 33), ('behind', len(picture) - 12)):
            name = f'odd{kind.decode()}{place}.png'
            open(os.path.join(directory, name), 'wb').write(picture[:at] + chunk(kind, body) + picture[at:])
            print(name, 60, 50)


def make(directory, count):
    random = np.random.default_rng(20261125)
    made = 0
    while made < count:
        width, height = SIZES[int(random.integers(len(SIZES)))] if made % 3 else (int(random.integers(1, 300)), int(random.integers(1, 300)))
        image = scene(random, width, height)
        all_kinds = list(kinds(random, image))
        # Each kind in turn, so that any number of images has as many of one kind as of another.
        name, encode = all_kinds[made % len(all_kinds)]
        open(os.path.join(directory, f'{made}-{name}'), 'wb').write(encode())
        print(f'{made}-{name}', width, height)
        made += 1
    damaged(directory, random)
    odd(directory, random)


def expected(image, words):
    """crop, height, width, resize, left, top, region's width, region's height, mirrored."""
    crop, numbers = words[0], [int(word) for word in words[1:]]
    height, width, resize, left, top, region_width, region_height, mirrored = numbers
    if crop == 'CENTER':
        # As torchvision's Resize(resize) and CenterCrop((height, width)).
        short, long = min(image.size), max(image.size)
        scaled = int(resize * long / short)
        image = image.resize((resize, scaled) if image.width <= image.height else (scaled, resize), Image.BILINEAR)
        top, left = int(round((image.height - height) / 2.0)), int(round((image.width - width) / 2.0))
        image = image.crop((left, top, left + width, top + height))
    else:
        # As torchvision's resized_crop.
        image = image.crop((left, top, left + region_width, top + region_height)).resize((width, height), Image.BILINEAR)
    return image.transpose(Image.FLIP_LEFT_RIGHT) if mirrored else image


def expect(directory):
    for line in open(os.path.join(directory, 'cases')).read().splitlines():
        case, name, *words = line.split()
        path = os.path.join(directory, case)
        try:
            image = Image.open(os.path.join(directory, name)).convert('RGB')
            open(path + '.rgb', 'wb').write(np.asarray(expected(image, words)).tobytes())
        except (OSError, SyntaxError) as e:
            open(path + '.refused', 'w').write(str(e))


if sys.argv[1] == 'make':
    make(sys.argv[2], int(sys.argv[3]))
else:
    expect(sys.argv[2])
