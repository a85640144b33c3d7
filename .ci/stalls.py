"""Delays threads of a test run at random, as a busy machine rarely does: stalls.py MARK [SEED]

The run is every process with MARK in its environment. Of its JVMs some threads at a time get no processor that another thread wants
(SCHED_IDLE), for 20 to 500 ms, and those of the tests are stopped as a whole for 5 to 300 ms. Ends at SIGTERM, with all as it was.
"""

import os
import random
import signal
import sys
import time

LOOK_SECONDS = 1
STEP_SECONDS = 0.05
STOP_ONE_IN = 20
STOP_SECONDS = (0.005, 0.02, 0.1, 0.3)
STARVED_PARTS = (0.02, 0.1, 0.3)
STARVED_SECONDS = (0.02, 0.1, 0.5)
# Threads of the JVM itself: without them all others stop as well.
OWN_THREADS = ("GC ", "G1", "C1 ", "C2 ", "VM ", "Signal", "Service", "Monitor", "Reference H", "Finalizer", "Common-Cl")
NORMAL = os.sched_param(0)


def content(path):
    """The bytes of a file of /proc; none where the process has ended."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def numbers(directory):
    try:
        return [int(name) for name in os.listdir(directory) if name.isdigit()]
    except OSError:
        return []


class Stalls:
    def __init__(self, mark, seed):
        self.mark = os.fsencode(mark)
        self.chance = random.Random(seed)
        self.starved = {}  # thread: until when
        self.jvms = {}  # process: whether it runs tests
        self.starvings = self.stops = 0

    def look(self):
        """Finds the JVMs, and frees threads and processes that a starved thread has begun, for they are as it was."""
        self.jvms.clear()
        for process in numbers("/proc"):
            if self.mark not in content(f"/proc/{process}/environ").split(b"\0"):
                continue
            command = content(f"/proc/{process}/cmdline")
            if command.split(b"\0")[0].endswith(b"/java") and b"plexus" not in command:
                self.jvms[process] = b"surefire" in command
            for thread in numbers(f"/proc/{process}/task"):
                if thread not in self.starved:
                    self.schedule(thread, os.SCHED_OTHER)

    def schedule(self, thread, policy):
        try:
            if os.sched_getscheduler(thread) != policy:
                os.sched_setscheduler(thread, policy, NORMAL)
            return True
        except OSError:  # it has ended
            return False

    def stop(self, process):
        try:
            os.kill(process, signal.SIGSTOP)
            try:
                time.sleep(self.chance.choice(STOP_SECONDS))
            finally:
                os.kill(process, signal.SIGCONT)
        except ProcessLookupError:
            return
        self.stops += 1

    def starve(self, process):
        part = self.chance.choice(STARVED_PARTS)
        for thread in numbers(f"/proc/{process}/task"):
            if thread in self.starved or self.chance.random() >= part:
                continue
            name = content(f"/proc/{process}/task/{thread}/comm").decode(errors="replace")
            if name and not name.startswith(OWN_THREADS) and self.schedule(thread, os.SCHED_IDLE):
                self.starved[thread] = time.monotonic() + self.chance.choice(STARVED_SECONDS)
                self.starvings += 1

    def free(self, until):
        for thread in [each for each, end in self.starved.items() if end <= until]:
            del self.starved[thread]
            self.schedule(thread, os.SCHED_OTHER)

    def run(self):
        looked = 0
        try:
            while True:
                if time.monotonic() - looked > LOOK_SECONDS:
                    self.look()
                    looked = time.monotonic()
                for process, is_of_tests in self.jvms.items():
                    if is_of_tests and self.chance.randrange(STOP_ONE_IN) == 0:
                        self.stop(process)
                    else:
                        self.starve(process)
                time.sleep(STEP_SECONDS)
                self.free(time.monotonic())
        finally:
            self.free(float("inf"))
            self.look()
            print(f"threads were starved {self.starvings} times, JVMs stopped {self.stops} times", flush=True)


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 31)
    print(f"threads are delayed at random, seed {seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Stalls(sys.argv[1], seed).run()


main()
