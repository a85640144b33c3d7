package io.clairfs.gpufeeder.feed;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The paths of a job's samples by their numbers, relative to the mount point. Outside the heap: a large dataset has a gigabyte of them. */
final class SamplePaths {
    private final MemorySegment lines;
    private final long[] ends;

    private SamplePaths(MemorySegment lines, long[] ends) {
        this.lines = lines;
        this.ends = ends;
    }

    /** Takes a line for each sample. The memory is freed when this is garbage. */
    static SamplePaths of(MemorySegment read) {
        MemorySegment lines =
                Arena.ofAuto().allocate(Math.max(1, read.byteSize())).copyFrom(read);
        long[] ends = new long[1024];
        int count = 0;
        for (long at = 0; at < read.byteSize(); at++) {
            if (lines.get(JAVA_BYTE, at) == '\n') {
                if (count == ends.length) {
                    ends = Arrays.copyOf(ends, 2 * count);
                }
                ends[count++] = at;
            }
        }
        return new SamplePaths(lines, Arrays.copyOf(ends, count));
    }

    int size() {
        return ends.length;
    }

    byte[] path(int sample) {
        long start = sample == 0 ? 0 : ends[sample - 1] + 1;
        return lines.asSlice(start, ends[sample] - start).toArray(JAVA_BYTE);
    }
}
