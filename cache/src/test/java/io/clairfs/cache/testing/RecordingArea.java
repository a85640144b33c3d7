package io.clairfs.cache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.stage.StagingArea;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A staging area in memory that knows what is in it, and that nothing is put there twice. */
public final class RecordingArea implements StagingArea {
    private final Map<Integer, byte[]> present = new HashMap<>();
    private final Set<Integer> lost = new HashSet<>();
    private final Set<Integer> byReaders = new HashSet<>();
    private long bytes;
    private long mostBytes;
    private long pushes;

    @Override
    public synchronized Staged stage(int file, MemorySegment content) {
        byte[] copy = content.toArray(ValueLayout.JAVA_BYTE);
        assertThat(present.containsKey(file)).as("pushed while it was there").isFalse();
        present.put(file, copy);
        lost.remove(file);
        bytes += copy.length;
        mostBytes = Math.max(mostBytes, bytes);
        pushes++;
        return staged(file);
    }

    /** Readers have caused most of this file to be there. */
    public synchronized void readByReaders(int file) {
        byReaders.add(file);
    }

    @Override
    public synchronized Staged stageRead(int file, MemorySegment content) throws IOException {
        if (!byReaders.contains(file)) {
            throw new IOException("not there");
        }
        return stage(file, content);
    }

    private Staged staged(int file) {
        return new Staged() {
            @Override
            public void drop() {
                RecordingArea.this.drop(file);
            }

            @Override
            public boolean isWhole() {
                return !isLost(file);
            }
        };
    }

    /** From now on this file's bytes are gone, until it is put there again. */
    public synchronized void lose(int file) {
        lost.add(file);
    }

    /** Whether it is gone and was not put there again. */
    public synchronized boolean isLost(int file) {
        return lost.contains(file);
    }

    private synchronized void drop(int file) {
        byte[] gone = present.remove(file);
        assertThat(gone).as("dropped what was not there").isNotNull();
        bytes -= gone.length;
    }

    public synchronized boolean has(int file) {
        return present.containsKey(file);
    }

    /** What a reader of this file sees; null when it is not there. */
    public synchronized byte @Nullable [] bytes(int file) {
        byte[] there = present.get(file);
        return there == null ? null : there.clone();
    }

    public synchronized int count() {
        return present.size();
    }

    public synchronized long mostBytes() {
        return mostBytes;
    }

    public synchronized long pushes() {
        return pushes;
    }
}
