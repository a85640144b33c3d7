package io.clairfs.cache.tier.ssd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;

/** One writer at a time for each sample: a second caller gets the result of the first. */
final class WritesUnderWay {
    private final ConcurrentMap<Integer, CompletableFuture<Boolean>> byFile = new ConcurrentHashMap<>();

    /** Runs {@code write}, or waits for the writer under way and returns its result. */
    boolean runOrJoin(int file, BooleanSupplier write) {
        CompletableFuture<Boolean> mine = new CompletableFuture<>();
        CompletableFuture<Boolean> other = byFile.putIfAbsent(file, mine);
        if (other != null) {
            return other.join();
        }
        boolean result = false;
        try {
            result = write.getAsBoolean();
        } finally {
            end(file, result);
        }
        return result;
    }

    /** Becomes the writer of {@code file} unless there is one; {@link #end} must follow. Never waits. */
    boolean tryBegin(int file) {
        return byFile.putIfAbsent(file, new CompletableFuture<>()) == null;
    }

    /** Ends the write of {@code file}; waiting callers get {@code result}. */
    void end(int file, boolean result) {
        CompletableFuture<Boolean> mine = byFile.remove(file);
        if (mine == null) {
            throw new AssertionError("no write under way");
        }
        mine.complete(result);
    }
}
