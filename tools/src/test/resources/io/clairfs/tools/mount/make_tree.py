"""Makes a source with everything that a directory tree can hold: make_tree.py DIRECTORY

Prints how many regular files a mount of it shows.
"""
import os
import random
import sys

root = os.fsencode(sys.argv[1])
rng = random.Random(1)
shown = 0


def put(path, content, mode=0o644):
    global shown
    shown += not path.startswith(b".clairfs/")
    whole = os.path.join(root, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "wb") as out:
        out.write(content)
    os.chmod(whole, mode)
    os.utime(whole, ns=(rng.randrange(2**60), rng.randrange(2**60)))


for name in [b"bad\xff.jpg", b"bad\xfe.jpg", "bad\ufffd.jpg".encode(), b"\xc3.jpg", b"with space.jpg", b"new\nline.jpg",
             "ünïcödé 图片 🖼.jpg".encode(), b".hidden", b"tab\there", b"quote'\"", b"back\\slash", b"-dash", b"x" * 255]:
    put(b"names/" + name, b"content of " + name)
for mode in [0o600, 0o640, 0o644, 0o444, 0o755, 0o4755]:
    put(b"modes/%04o" % mode, b"mode", mode)
for i in range(200):
    put(b"many/%d" % rng.randrange(10**9), os.urandom(i))
put(b"a/b/c/d/e/f/deep", b"deep")
put(b"top", b"top")
put(b".clairfs/of-the-source", b"never shown")
os.makedirs(os.path.join(root, b"empty"))
os.chmod(os.path.join(root, b"empty"), 0o2750)
os.makedirs(os.path.join(root, b"n\xe9t"))
put(b"n\xe9t/inside", b"inside")
for link, target in [(b"to-file", b"../top"), (b"to-dir", b"../a/b"), (b"broken", b"nowhere"), (b"absolute", b"/etc/hostname"),
                     (b"loop", b"loop"), (b"not-utf8", b"../names/bad\xff.jpg"), (b"long", b"x/" * 1000)]:
    os.makedirs(os.path.join(root, b"links"), exist_ok=True)
    os.symlink(target, os.path.join(root, b"links", link))
os.mkfifo(os.path.join(root, b"pipe"))
if os.geteuid() == 0:
    put(b"modes/0000", b"mode", 0o000)
    os.chown(os.path.join(root, b"modes/0640"), 1234, 5678)
    os.chown(os.path.join(root, b"empty"), 4321, 0)
os.utime(os.path.join(root, b"a"), ns=(5, 1234567890123456789))
print(shown)
