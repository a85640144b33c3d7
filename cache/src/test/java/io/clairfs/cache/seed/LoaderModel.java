package io.clairfs.cache.seed;

import io.clairfs.cache.order.EpochOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The reads of a training as PyTorch's DataLoader makes them: each rank deals its batches to its workers in turn, a worker reads one sample
 * after another, and is at most two batches ahead. Which worker reads next is chance.
 */
final class LoaderModel {
    private static final int PREFETCH_FACTOR = 2;
    private static final int FIRST_READER = 1000;

    private final FirstReads reads;
    private final List<Rank> ranks = new ArrayList<>();
    private final RandomGenerator random;
    private final boolean unknownReaders;

    /**
     * @param workers of each rank; without any the rank reads by itself
     * @param unknownReaders whether all readers have the id 0
     */
    LoaderModel(
            int samples,
            EpochOrder order,
            int firstRank,
            int lastRank,
            int batch,
            int workers,
            boolean unknownReaders,
            RandomGenerator random) {
        reads = new FirstReads(samples);
        this.random = random;
        this.unknownReaders = unknownReaders;
        for (int rank = firstRank; rank <= lastRank; rank++) {
            ranks.add(new Rank(order, rank, batch, Math.max(1, workers)));
        }
    }

    /** The first reads of the model, {@code count} of them where the epoch has so many. */
    FirstReads.Snapshot first(int count) {
        while (reads.count() < count) {
            List<Worker> ready = ranks.stream()
                    .flatMap(rank -> rank.workers.stream())
                    .filter(Worker::isReady)
                    .toList();
            if (ready.isEmpty()) {
                break;
            }
            ready.get(random.nextInt(ready.size())).read();
        }
        return reads.snapshot();
    }

    /** A read by a process that is none of the workers. */
    void foreign(int reader, int sample) {
        reads.read(reader, sample);
    }

    /** A read of something else by the first worker. */
    void foreignOfWorker(int sample) {
        reads.read(ranks.getFirst().workers.getFirst().reader, sample);
    }

    private final class Rank {
        private final EpochOrder order;
        private final int number;
        private final int batch;
        private final List<Worker> workers = new ArrayList<>();

        Rank(EpochOrder order, int number, int batch, int workerCount) {
            this.order = order;
            this.number = number;
            this.batch = batch;
            for (int i = 0; i < workerCount; i++) {
                workers.add(new Worker(this, i, FIRST_READER + number * 100 + i));
            }
        }

        /** Batches that the trainer has taken: all those before the first that is not finished. */
        private int taken() {
            return workers.stream().mapToInt(worker -> worker.at).min().orElse(0);
        }
    }

    private final class Worker {
        private final Rank rank;
        private final int reader;
        private int at;
        private int inBatch;

        Worker(Rank rank, int number, int reader) {
            this.rank = rank;
            this.reader = reader;
            at = number;
        }

        private int step() {
            return at * rank.batch + inBatch;
        }

        boolean isReady() {
            return step() < rank.order.length(rank.number) && at < rank.taken() + PREFETCH_FACTOR * rank.workers.size();
        }

        void read() {
            reads.read(unknownReaders ? FirstReads.UNKNOWN : reader, rank.order.sample(rank.number, step()));
            if (++inBatch == rank.batch) {
                inBatch = 0;
                at += rank.workers.size();
            }
        }
    }
}
