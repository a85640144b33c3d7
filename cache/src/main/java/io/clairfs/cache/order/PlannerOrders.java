package io.clairfs.cache.order;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The orders of one job as the planner looks at them, which plans for all jobs of a node: a file that does not answer holds it up for a moment
 * only.
 *
 * <p>Where orders are in files, another thread looks at them, one question at a time. The planner waits for an answer for its patience at most,
 * and goes on as if there was no such file. It is told when the answer has come; until then further questions are refused at once.
 * A file that is slow rather than silent needs more patience, for a plan asks for many: twice the longest time that an answer took in the
 * last two plans. Orders that are computed take as long as they take, in the caller's thread.
 *
 * <p>Thread-safe. Its lock guards what is asked; nothing is called under it.
 */
public final class PlannerOrders {
    /** How long the planner waits for an answer where answers have been quick: this, and what a file of paths may take for each sample. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private static final long PATIENCE_PER_SAMPLE_NS = TimeUnit.MICROSECONDS.toNanos(5);

    /** How long it waits at most. */
    static final long MOST_PATIENCE_NS = TimeUnit.MINUTES.toNanos(1);

    private final EpochOrders orders;
    private final boolean areInFiles;
    private final String file;
    private final SamplerMaker samplers;
    private final LongSupplier clockNs;
    private final long leastPatienceNs;
    private volatile @Nullable Aside aside;

    /** For single looks; made with the first of them. */
    private volatile @Nullable Sampler own;

    /** What the other thread works on; guarded by this, as all that follows. */
    private @Nullable Asked underWay;

    /** The longest time that an answer took since the last plan began, and in the plan before. */
    private long longestNs;

    private long longestBeforeNs;
    private boolean abandoned;

    /** Makes samplers of the job. */
    @FunctionalInterface
    public interface SamplerMaker {
        Sampler make() throws InvalidSpecException;
    }

    /** What only a file can answer. */
    @FunctionalInterface
    private interface Question<T> {
        T answer() throws InvalidSpecException;
    }

    /** Who looks at files, and who hears of late answers. */
    private record Aside(Executor executor, Runnable news) {}

    /** A question about an epoch. */
    private static final class Asked {
        final int epoch;
        final long sinceNs;

        /** Whether somebody has gone on without its answer. */
        boolean isLate;

        Asked(int epoch, long sinceNs) {
            this.epoch = epoch;
            this.sinceNs = sinceNs;
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
        this(orders, file, samplers, System::nanoTime, PATIENCE_NS + samples * PATIENCE_PER_SAMPLE_NS);
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
        aside = new Aside(executor, news);
    }

    /** No file is looked at any more, and nobody hears of late answers. */
    public synchronized void abandon() {
        abandoned = true;
    }

    /** A plan begins: how long answers took before the last one is forgotten. */
    public synchronized void beginPlan() {
        longestBeforeNs = longestNs;
        longestNs = 0;
    }

    /**
     * A sampler for a walk over many epochs. It looks at the files whatever the job keeps. Where one does not answer, the order that the job keeps
     * stands in for it; without that it is not ready.
     */
    public Sampler sampler() throws InvalidSpecException {
        Sampler sampler = samplers.make();
        return areInFiles ? new Patient(sampler) : sampler;
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
    public synchronized @Nullable String unanswered() {
        return underWay == null || !underWay.isLate ? null : noAnswerOf(underWay.epoch);
    }

    /** How long the planner waits for the next answer. */
    synchronized long patienceNs() {
        return Math.max(leastPatienceNs, Math.min(2 * Math.max(longestNs, longestBeforeNs), MOST_PATIENCE_NS));
    }

    private Sampler own() throws InvalidSpecException {
        Sampler made = own;
        if (made == null) {
            made = sampler();
            own = made;
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
    private <T> Optional<T> ask(int epoch, Question<T> question) throws InvalidSpecException {
        Aside by = aside;
        if (by == null) {
            return Optional.of(question.answer());
        }
        Asked asked = new Asked(epoch, clockNs.getAsLong());
        long mostNs = patienceNs();
        if (!isBegun(asked)) {
            return Optional.empty();
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        try {
            by.executor.execute(() -> lookFor(answer, asked, question, by.news));
        } catch (OutOfMemoryError noThread) {
            boolean _ = isNews(asked, () -> answer.cancel(false));
            return Optional.empty();
        }
        return await(answer, asked, mostNs);
    }

    private synchronized boolean isBegun(Asked asked) {
        if (underWay != null) {
            underWay.isLate = true; // who asks now goes on without an answer
            return false;
        }
        if (abandoned) {
            return false;
        }
        underWay = asked;
        return true;
    }

    private <T> void lookFor(CompletableFuture<T> answer, Asked asked, Question<T> question, Runnable news) {
        BooleanSupplier completion;
        try {
            T found = question.answer();
            completion = () -> answer.complete(found);
        } catch (Throwable t) { // the planner meets it
            completion = () -> answer.completeExceptionally(t);
        }
        if (isNews(asked, completion)) {
            news.run();
        }
    }

    /** Ends what is under way. Returns whether somebody has gone on without the answer. */
    private synchronized boolean isNews(Asked asked, BooleanSupplier completion) {
        boolean _ = completion.getAsBoolean();
        underWay = null;
        longestNs = Math.max(longestNs, clockNs.getAsLong() - asked.sinceNs);
        return asked.isLate && !abandoned;
    }

    private <T> Optional<T> await(CompletableFuture<T> answer, Asked asked, long mostNs) throws InvalidSpecException {
        boolean isLate = false;
        try {
            T _ = answer.get(mostNs, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            isLate = isGivenUp(answer, asked);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            isLate = isGivenUp(answer, asked);
        } catch (ExecutionException e) {
            // looked at below
        }
        if (isLate) {
            return Optional.empty();
        }
        return switch (answer.state()) {
            case SUCCESS -> Optional.of(answer.resultNow());
            case FAILED -> throw failure(answer.exceptionNow());
            case RUNNING, CANCELLED -> throw new AssertionError("a question about epoch " + asked.epoch + " was lost");
        };
    }

    /** Goes on without an answer, unless it has come at the last moment. */
    private synchronized boolean isGivenUp(CompletableFuture<?> answer, Asked asked) {
        asked.isLate = !answer.isDone();
        return asked.isLate;
    }

    private static InvalidSpecException failure(Throwable thrown) {
        return switch (thrown) {
            case InvalidSpecException invalid -> invalid;
            case RuntimeException bug -> throw bug;
            case Error error -> throw error;
            default -> throw new AssertionError(thrown);
        };
    }

    /** What is under way may be another epoch's file: that is the one to look after. */
    private synchronized OrderNotReadyException noAnswer(int epoch) {
        return new OrderNotReadyException(noAnswerOf(underWay == null ? epoch : underWay.epoch));
    }

    private String noAnswerOf(int epoch) {
        String name = file.replace(OrderFileSampler.EPOCH, Integer.toString(epoch));
        return "order file " + Keys.shorten(name) + " does not answer: look at its file system";
    }
}
