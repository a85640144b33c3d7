"""Reads files as told and reports what came: stress_reader.py THREADS

One JSON object a line comes in, one goes out for each, in the order in which they end. What was read is reported as its SHA-256; a
failure as its errno. Each single call of the system is timed.
"""
import errno
import hashlib
import json
import mmap
import os
import queue
import sys
import threading
import time

PAGE = 4096
CHUNK = 50_021
SHORT = -1

asked = queue.SimpleQueue()
out_lock = threading.Lock()


class Timed:
    """Calls the system and remembers the longest call."""

    def __init__(self):
        self.longest = 0.0

    def __call__(self, function, *arguments):
        start = time.monotonic()
        try:
            return function(*arguments)
        finally:
            self.longest = max(self.longest, time.monotonic() - start)


def pread(call, fd, offset, length, size):
    """All of the range that is there; a read that brings nothing before the file's end is short."""
    got = bytearray()
    while len(got) < length:
        piece = call(os.pread, fd, length - len(got), offset + len(got))
        if not piece:
            break
        got += piece
    return bytes(got)


def mapped(call, fd, offset, length, size):
    """Through a mapping; the kernel copies, so that a page that does not come is an error and no signal."""
    end = min(size, offset + length)
    if end <= offset:
        return b""
    with mmap.mmap(fd, size, prot=mmap.PROT_READ) as pages:
        copy = os.memfd_create("copy")
        try:
            at = offset
            while at < end:
                with memoryview(pages) as view, view[at:end] as rest:
                    at += call(os.write, copy, rest)
            return os.pread(copy, end - offset, 0)
        finally:
            os.close(copy)


def direct(call, fd, offset, length, size):
    """Without the page cache, in whole pages."""
    begin = offset // PAGE * PAGE
    buffer = mmap.mmap(-1, max(PAGE, (offset + length - begin + PAGE - 1) // PAGE * PAGE))
    got = bytearray()
    while len(got) < offset + length - begin:
        room = len(buffer) - len(got)
        if room <= 0:
            break
        n = call(os.preadv, fd, [memoryview(buffer)[:room]], begin + len(got))
        if n == 0:
            break
        got += buffer[:n]
        if n % PAGE:
            break
    return bytes(got[offset - begin:offset - begin + length])


def seeks(call, fd, offset, length, size):
    """In small pieces, from the end to the beginning."""
    end = min(size, offset + length)
    pieces = []
    while end > offset:
        begin = max(offset, end - 4097)
        os.lseek(fd, begin, os.SEEK_SET)
        piece = b""
        while len(piece) < end - begin:
            more = call(os.read, fd, end - begin - len(piece))
            if not more:
                return b"".join(reversed(pieces))
            piece += more
        pieces.append(piece)
        end = begin
    return b"".join(reversed(pieces))


def whole(call, fd, offset, length, size):
    got = bytearray()
    while True:
        piece = call(os.read, fd, CHUNK)
        if not piece:
            return bytes(got)
        got += piece


READS = {"pread": pread, "mmap": mapped, "direct": direct, "seek": seeks, "whole": whole}


def read(call, ask):
    flags = os.O_RDONLY | (os.O_DIRECT if ask["op"] == "direct" else 0)
    fd = call(os.open, ask["path"], flags)
    try:
        size = call(os.fstat, fd).st_size
        got = READS[ask["op"]](call, fd, ask["offset"], ask["length"], size)
    finally:
        os.close(fd)
    return {"n": len(got), "sha": hashlib.sha256(got).hexdigest(), "size": size}


def stat(call, ask):
    found = call(os.lstat, ask["path"])
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns}


def names(call, ask):
    return {"names": sorted(call(os.listdir, ask["path"]))}


def drop(call, ask):
    """Gives the file's pages back to the kernel."""
    fd = call(os.open, ask["path"], os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
    return {}


def churn(call, ask):
    """Opens and closes two files in turns, as often as the daemon's queue of reports cannot hold."""
    for i in range(ask["length"]):
        os.close(os.open(ask["path"] if i % 2 else ask["other"], os.O_RDONLY))
    return {}


OTHERS = {"stat": stat, "readdir": names, "drop": drop, "churn": churn}


def work():
    while True:
        ask = asked.get()
        call = Timed()
        answer = {"id": ask["id"], "errno": 0}
        try:
            answer.update(OTHERS.get(ask["op"], read)(call, ask))
        except OSError as e:
            answer["errno"] = e.errno or errno.EIO
        except Exception as e:  # a mistake in here
            answer["bug"] = repr(e)
        answer["longest"] = call.longest
        with out_lock:
            print(json.dumps(answer), flush=True)


for _ in range(int(sys.argv[1])):
    threading.Thread(target=work, daemon=True).start()
for line in sys.stdin:
    asked.put(json.loads(line))
