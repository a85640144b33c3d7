package io.clairfs.cache.follow;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * The order in which the worker processes of a PyTorch DataLoader close the files of one epoch: batches dealt round-robin, each
 * read front to back, at most {@code prefetchFactor} batches per worker under way, workers at random speeds.
 */
final class LoaderOrder {
    private LoaderOrder() {}

    static List<Integer> of(List<Integer> epoch, int batch, int workers, int prefetchFactor, Random random) {
        if (workers == 0) {
            return epoch;
        }
        List<Deque<Deque<Integer>>> queues = new ArrayList<>();
        for (int w = 0; w < workers; w++) {
            queues.add(new ArrayDeque<>());
        }
        int batches = Math.ceilDiv(epoch.size(), batch);
        int sent = 0;
        boolean[] done = new boolean[batches];
        int delivered = 0;
        List<Integer> reads = new ArrayList<>();
        while (reads.size() < epoch.size()) {
            while (delivered < batches && done[delivered]) {
                delivered++;
            }
            while (sent < batches && sent < delivered + prefetchFactor * workers) {
                queues.get(sent % workers)
                        .add(new ArrayDeque<>(epoch.subList(sent * batch, Math.min(epoch.size(), (sent + 1) * batch))));
                sent++;
            }
            Deque<Deque<Integer>> queue = queues.get(random.nextInt(workers));
            if (!queue.isEmpty()) {
                Deque<Integer> current = queue.peek();
                reads.add(current.poll());
                if (current.isEmpty()) {
                    queue.poll();
                    done[batchOf(epoch, reads.getLast(), batch)] = true;
                }
            }
        }
        return reads;
    }

    private static int batchOf(List<Integer> epoch, int sample, int batch) {
        return epoch.indexOf(sample) / batch;
    }
}
