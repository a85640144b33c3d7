"""Checks all digests of an image's archive and how it is laid out, and unpacks it: unpack-image.py ARCHIVE DIRECTORY

Makes DIRECTORY/root, the files, and DIRECTORY/variables, the environment of its containers, one a line.
"""
import hashlib
import json
import os
import subprocess
import sys
import tarfile

archive, work = sys.argv[1:]
blobs, root = f"{work}/archive", f"{work}/root"
os.mkdir(root)
with tarfile.open(archive) as tar:
    tar.extractall(blobs)


def content(of, kind):
    assert of["mediaType"] == f"application/vnd.oci.image.{kind}", of
    algorithm, digest = of["digest"].split(":")
    path = f"{blobs}/blobs/{algorithm}/{digest}"
    assert os.path.getsize(path) == of["size"], of
    with open(path, "rb") as file:
        assert hashlib.file_digest(file, algorithm).hexdigest() == digest, of
    return path


with open(f"{blobs}/oci-layout") as layout:
    assert json.load(layout) == {"imageLayoutVersion": "1.0.0"}
with open(f"{blobs}/index.json") as index:
    (manifest,) = json.load(index)["manifests"]
with open(content(manifest, "manifest.v1+json")) as file:
    manifest = json.load(file)
with open(content(manifest["config"], "config.v1+json")) as file:
    image = json.load(file)
config = image["config"]
assert (image["os"], image["architecture"]) == ("linux", "amd64"), image
assert config["Entrypoint"] == ["/usr/lib/clairfs/clairfs"] and config["Cmd"] == ["--help"], config
assert len(image["rootfs"]["diff_ids"]) == len(manifest["layers"]), image
made_by = [step.get("comment") or step["created_by"] for step in image["history"]]
for layer, by in zip(manifest["layers"], made_by, strict=True):
    path = content(layer, "layer.v1.tar+gzip")
    subprocess.run(["tar", "-C", root, "-xzf", path], check=True, stderr=subprocess.DEVNULL)  # it does not know each header of Jib's
    print(f"layer of {by}: {layer['size'] / 2**20:.1f} MiB")
used = subprocess.run(["du", "-sm", root], check=True, capture_output=True, text=True).stdout.split()[0]
print(f"image: {os.path.getsize(archive) / 2**20:.0f} MiB, unpacked {used} MiB")
with open(f"{work}/variables", "w") as file:
    file.writelines(f"{variable}\n" for variable in config["Env"])
