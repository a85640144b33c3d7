package io.clairfs.tools.demo;

import java.time.Duration;

/**
 * The parameters of a demonstration.
 *
 * @param files in the dataset, of about 110 KB each
 * @param epochs on each side, directly and through the mount
 * @param bytesPerSecond bandwidth of the slow source, for all readers together
 * @param openLatency latency of each open on the slow source
 * @param compute how long the trainer computes per batch
 * @param workers reader processes of the trainer
 * @param memoryPercent memory for samples, percent of the dataset
 * @param ssdPercent room for samples on the disk of the demonstration's directory, percent of the dataset; 0 for none
 * @param fed whether samples are decoded, and a third training takes its batches from the feeder
 * @param told whether the trainer writes its seed to the mount
 * @param keep whether the dataset and the logs stay afterwards
 */
public record DemoSpec(
        int files,
        int epochs,
        long bytesPerSecond,
        Duration openLatency,
        Duration compute,
        int workers,
        int memoryPercent,
        int ssdPercent,
        boolean fed,
        boolean told,
        boolean keep) {
    /** Samples per batch. */
    public static final int BATCH = 32;

    /** Pixels of a decoded sample in each direction. */
    public static final int PIXELS = 224;

    /** The seed of the dataset's content and of the order. */
    public static final int SEED = 42;

    public DemoSpec {
        require(files >= BATCH && files <= 1_000_000, "the number of files must be 32 to 1000000");
        require(epochs >= 1 && epochs <= 1000, "the number of epochs must be 1 to 1000");
        require(bytesPerSecond >= 1_000_000, "the bandwidth must be at least 1MB (per second)");
        require(within(openLatency, Duration.ofSeconds(1)), "the latency per open must be 0 to 1000 ms");
        require(within(compute, Duration.ofSeconds(10)), "the compute time per batch must be 0 to 10000 ms");
        require(workers >= 1 && workers <= 64, "the number of workers must be 1 to 64");
        require(memoryPercent >= 0 && memoryPercent <= 1000, "memory must be 0 to 1000 percent of the dataset");
        require(ssdPercent >= 0 && ssdPercent <= 1000, "the SSD must be 0 to 1000 percent of the dataset");
    }

    /** Steps of one epoch. */
    public int batches() {
        return Math.ceilDiv(files, BATCH);
    }

    /** The time of an epoch without waits for data. */
    public Duration idealEpoch() {
        return compute.multipliedBy(batches());
    }

    private static boolean within(Duration time, Duration most) {
        return !time.isNegative() && time.compareTo(most) <= 0;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }
}
