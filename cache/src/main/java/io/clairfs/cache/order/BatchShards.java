package io.clairfs.cache.order;

/**
 * accelerate's {@code BatchSamplerShard}: whole batches dealt to the processes in turn, or, with {@code split_batches}, each batch cut into
 * one piece per process. Source: accelerate/data_loader.py (1.15).
 *
 * <p>Both use the same arithmetic: a round gives every process one piece, and {@code even_batches} fills up an incomplete last round from
 * the order's first round, repeatedly when there is less than one. All numbers are places in the order that is dealt.
 */
public final class BatchShards {
    private final int processes;
    private final int piece;
    private final int inRounds;
    private final int rounded;
    private final int left;
    private final boolean even;

    /** Deals {@code samples} in batches of {@code batch}; a single process gets them unchanged. */
    public BatchShards(int samples, int batch, int processes, boolean split, boolean even, boolean dropLast)
            throws InvalidSpecException {
        if (split && batch % processes != 0) {
            throw new InvalidSpecException(
                    "split_batches needs a batch that is a multiple of world: accelerate refuses " + batch + " for "
                            + processes);
        }
        this.processes = processes;
        this.even = even && processes > 1;
        piece = split ? batch / processes : batch;
        long round = (long) piece * processes;
        inRounds = (int) (samples / round) * piece;
        rounded = inRounds * processes;
        left = dropLast ? 0 : samples - rounded;
    }

    /** How many samples {@code process} gets. */
    public int length(int process) {
        if (even) {
            return inRounds + (left > 0 ? piece : 0);
        }
        return inRounds + Math.clamp(left - (long) process * piece, 0, piece);
    }

    /** The place in the order of the {@code step}-th sample of {@code process}. */
    public int place(int process, int step) {
        long inRound = (long) process * piece + step % piece;
        if (step < inRounds) {
            return (int) ((long) (step / piece) * piece * processes + inRound);
        }
        if (inRound < left) {
            return rounded + (int) inRound;
        }
        long firstRound = rounded > 0 ? (long) piece * processes : left;
        return (int) ((inRound - left) % firstRound);
    }
}
