package io.clairfs.cache.order;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The orders of one job as the planner looks at them, which plans for all jobs of a node: a file that does not answer holds it up for a moment
 * only.
 *
 * <p>Where orders are in files, another thread looks at them, one question at a time ({@link FileLooks}). The planner waits for an answer for
 * its patience at most, and goes on as if there was no such file. It is told when the answer has come; until then further questions are refused
 * at once. A file that is slow rather than silent needs more patience, for a plan asks for many: twice the longest time that an answer took in the
 * last two plans. Orders that are computed take as long as they take, in the caller's thread.
 *
 * <p>Thread-safe. Its lock guards how long answers took; nothing is called under it.
 */
public final class PlannerOrders {
    private final EpochOrders orders;
    private final boolean areInFiles;
    private final String file;
    private final SamplerMaker samplers;
    private final LongSupplier clockNs;
    private final long leastPatienceNs;
    private volatile @Nullable FileLooks looks;
    private volatile boolean abandoned;

    /** For single looks; made with the first of them at which it can be. */
    private volatile @Nullable Sampler own;

    /** The longest time that an answer took since the last plan began, and in the plan before. Guarded by this. */
    private long longestNs;

    private long longestBeforeNs;

    /** Makes samplers of the job. */
    @FunctionalInterface
    public interface SamplerMaker {
        /**
         * A sampler of the job.
         *
         * @throws OrderNotReadyException when it cannot be made now, because a file that it begins with does not answer
         */
        Sampler make() throws InvalidSpecException;
    }

    /** Stands in for a sampler that cannot be made now. */
    private record Unmade(OrderNotReadyException why) implements Sampler {
        @Override
        public EpochOrder epoch(int epoch) throws OrderNotReadyException {
            throw why;
        }

        @Override
        public boolean isReady(int epoch) {
            return false;
        }
    }

    /**
     * The orders of a job.
     *
     * @param orders that the job keeps
     * @param samples in the dataset
     * @param file the name of the order files, with {@link OrderFileSampler#EPOCH} in it; null where orders are computed
     * @param samplers makes samplers of the job without looking at an order's file
     */
    public PlannerOrders(EpochOrders orders, int samples, @Nullable String file, SamplerMaker samplers) {
        this(orders, file, samplers, System::nanoTime, FileLooks.usualPatienceNs(samples));
    }

    /**
     * As the other constructor.
     *
     * @param leastPatienceNs how long the planner waits for an answer where answers have been quick
     */
    PlannerOrders(
            EpochOrders orders,
            @Nullable String file,
            SamplerMaker samplers,
            LongSupplier clockNs,
            long leastPatienceNs) {
        this.orders = orders;
        areInFiles = file != null;
        this.file = file == null ? "" : file;
        this.samplers = samplers;
        this.clockNs = clockNs;
        this.leastPatienceNs = leastPatienceNs;
    }

    /**
     * From now on {@code executor} looks at files; before, the caller does, and waits.
     *
     * @param news told by the executor's thread when an answer has come that the planner has gone on without
     */
    public void lookAside(Executor executor, Runnable news) {
        looks = FileLooks.oneByOne(executor, clockNs, new FileLooks.Listener() {
            @Override
            public void took(long ns) {
                PlannerOrders.this.took(ns);
            }

            @Override
            public void answeredLate() {
                if (!abandoned) {
                    news.run();
                }
            }
        });
    }

    private synchronized void took(long ns) {
        longestNs = Math.max(longestNs, ns);
    }

    /** No file is looked at any more, and nobody hears of late answers. */
    public void abandon() {
        abandoned = true;
    }

    /** A plan begins: how long answers took before the last one is forgotten. */
    public synchronized void beginPlan() {
        longestBeforeNs = longestNs;
        longestNs = 0;
    }

    /**
     * A sampler for a walk over many epochs. It looks at the files whatever the job keeps. Where one does not answer, the order that the job keeps
     * stands in for it; without that it is not ready. No order is ready where the sampler itself cannot be made now.
     */
    public Sampler sampler() throws InvalidSpecException {
        try {
            Sampler sampler = samplers.make();
            return areInFiles ? new Patient(sampler) : sampler;
        } catch (OrderNotReadyException e) {
            return new Unmade(e);
        }
    }

    /** As {@link EpochOrders#isReady}; not while the file does not answer, unless the order is kept. */
    public boolean isReady(int epoch) {
        if (!areInFiles) {
            return orders.isReady(epoch);
        }
        try {
            return orders.kept(epoch) != null || own().isReady(epoch);
        } catch (InvalidSpecException e) {
            return false; // the job's ranks meet it themselves
        }
    }

    /**
     * As {@link EpochOrders#peek}.
     *
     * @throws OrderNotReadyException when it cannot be computed yet, or its file does not answer
     */
    public EpochOrder peek(int epoch) throws InvalidSpecException {
        if (!areInFiles) {
            return orders.peek(epoch);
        }
        EpochOrder kept = orders.kept(epoch);
        return kept != null ? kept : own().epoch(epoch);
    }

    /**
     * Whether the file of an epoch is there now, whatever the job has read of it before.
     *
     * @throws OrderNotReadyException when the file does not answer
     */
    public boolean isThere(int epoch) throws InvalidSpecException {
        Sampler fresh = samplers.make();
        return areInFiles
                ? ask(epoch, () -> fresh.isReady(epoch)).orElseThrow(() -> noAnswer(epoch))
                : fresh.isReady(epoch);
    }

    /** What the planner has gone on without, in words; null while all is answered. */
    public @Nullable String unanswered() {
        FileLooks by = looks;
        String late = by == null ? null : by.late();
        return late == null ? null : OrderNotReadyException.noAnswerOf(late);
    }

    /** How long the planner waits for the next answer. */
    synchronized long patienceNs() {
        return Math.max(
                leastPatienceNs, Math.min(2 * Math.max(longestNs, longestBeforeNs), FileLooks.MOST_PATIENCE_NS));
    }

    private Sampler own() throws InvalidSpecException {
        Sampler made = own;
        if (made == null) {
            made = sampler();
            if (!(made instanceof Unmade)) { // it may be made the next time
                own = made;
            }
        }
        return made;
    }

    /** A sampler whose files the other thread looks at. */
    private final class Patient implements Sampler {
        private final Sampler sampler;

        Patient(Sampler sampler) {
            this.sampler = sampler;
        }

        @Override
        public EpochOrder epoch(int epoch) throws InvalidSpecException {
            Optional<EpochOrder> order = ask(epoch, () -> sampler.epoch(epoch));
            if (order.isPresent()) {
                return order.get();
            }
            EpochOrder kept = orders.kept(epoch);
            if (kept == null) {
                throw noAnswer(epoch);
            }
            return kept;
        }

        @Override
        public boolean isReady(int epoch) {
            try {
                return ask(epoch, () -> sampler.isReady(epoch)).orElse(false);
            } catch (InvalidSpecException e) {
                return true; // reading it tells what is wrong
            }
        }

        @Override
        public void requirePossible(int epoch) throws InvalidSpecException {
            sampler.requirePossible(epoch);
        }
    }

    /** The answer to a question about an epoch; empty when it does not come within the patience, or an earlier one has not come yet. */
    private <T> Optional<T> ask(int epoch, FileLooks.Question<T> question) throws InvalidSpecException {
        FileLooks by = looks;
        if (by == null) {
            return Optional.of(question.answer());
        }
        return abandoned ? Optional.empty() : by.ask(file, whatOf(epoch), patienceNs(), question);
    }

    /** What is under way may be another epoch's file: that is the one to look after. */
    private OrderNotReadyException noAnswer(int epoch) {
        FileLooks by = looks;
        String now = by == null ? null : by.lookedAt();
        return OrderNotReadyException.unanswered(now == null ? whatOf(epoch) : now);
    }

    private String whatOf(int epoch) {
        return FileLooks.whatOfOrder(file.replace(OrderFileSampler.EPOCH, Integer.toString(epoch)));
    }
}
