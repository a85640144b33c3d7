package io.clairfs.cache.order;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at files that may not answer, as on the file system of a server that is gone: another thread looks, and who asks waits for a bounded time.
 *
 * <p>While an answer about a file is late, further questions about it are refused at once, and so they are while very many are under way. A look
 * that is late goes on until the file answers; nobody gets what it finds. A file that is slow rather than silent needs more patience next time: twice
 * what the last look at it took.
 *
 * <p>Thread-safe. Its lock guards what is under way and how long looks took; nothing is called under it.
 */
public final class FileLooks {
    /** How long an answer is waited for: this, and what a file of paths may take for each sample. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private static final long PATIENCE_PER_SAMPLE_NS = TimeUnit.MICROSECONDS.toNanos(5);

    /** How long an answer is waited for at most. */
    static final long MOST_PATIENCE_NS = TimeUnit.MINUTES.toNanos(1);

    /** The same where the last look at the file took long. */
    static final long MOST_PATIENCE_WITH_SLOW_NS = TimeUnit.MINUTES.toNanos(5);

    /** A look that took so long is remembered, and so many of them are. */
    private static final long SLOW_NS = PATIENCE_NS / 2;

    private static final int MOST_SLOW = 64;

    private static final String ORDER_FILE = "order file ";

    /** Most looks under way at one file, and at all: each has a thread, and may hang. */
    private static final int MOST_OF_A_FILE = 64;

    private static final int MOST = 256;

    private final Executor executor;
    private final IntToLongFunction patienceNs;
    private final int mostOfAFile;
    private final LongSupplier clockNs;
    private final Listener listener;

    /** Guarded by this. */
    private final List<Look> underWay = new ArrayList<>();

    /** What the last look at a file took, where that was long, by file, the latest last. Guarded by this. */
    private final Map<String, Long> slow = new LinkedHashMap<>();

    /** What only a file can answer. */
    @FunctionalInterface
    public interface Question<T> {
        T answer() throws InvalidSpecException;
    }

    /** Hears of looks, from the threads that look. */
    interface Listener {
        /** A look has taken so long. */
        void took(long ns);

        /** An answer has come that somebody has gone on without. */
        void answeredLate();
    }

    private static final Listener NOBODY = new Listener() {
        @Override
        public void took(long ns) {}

        @Override
        public void answeredLate() {}
    };

    private static final class Look {
        final String file;
        final String what;
        final long sinceNs;

        /** Whether somebody has gone on without its answer. */
        boolean isLate;

        Look(String file, String what, long sinceNs) {
            this.file = file;
            this.what = what;
            this.sinceNs = sinceNs;
        }
    }

    /** Threads of their own look at files. */
    public FileLooks() {
        this(FileLooks::startThread, FileLooks::usualPatienceNs);
    }

    /**
     * As the other constructor.
     *
     * @param executor looks at files
     * @param patienceNs how long an answer about a dataset of so many samples is waited for
     */
    public FileLooks(Executor executor, IntToLongFunction patienceNs) {
        this(executor, patienceNs, MOST_OF_A_FILE, System::nanoTime, NOBODY);
    }

    /** As the other constructor, by this clock, which is as {@link System#nanoTime}. */
    FileLooks(Executor executor, IntToLongFunction patienceNs, LongSupplier clockNs) {
        this(executor, patienceNs, MOST_OF_A_FILE, clockNs, NOBODY);
    }

    private FileLooks(
            Executor executor, IntToLongFunction patienceNs, int mostOfAFile, LongSupplier clockNs, Listener listener) {
        this.executor = executor;
        this.patienceNs = patienceNs;
        this.mostOfAFile = mostOfAFile;
        this.clockNs = clockNs;
        this.listener = listener;
    }

    /** Looks of which one at a time is under way at a file. */
    static FileLooks oneByOne(Executor executor, LongSupplier clockNs, Listener listener) {
        return new FileLooks(executor, FileLooks::usualPatienceNs, 1, clockNs, listener);
    }

    /** It may hang in a file system, and then outlives whoever asked. */
    private static void startThread(Runnable look) {
        Thread.ofPlatform().daemon().name("order-look").start(look);
    }

    /** How long an answer about a dataset of so many samples is waited for. */
    static long usualPatienceNs(int samples) {
        return Math.min(PATIENCE_NS + samples * PATIENCE_PER_SAMPLE_NS, MOST_PATIENCE_NS);
    }

    /** The same, as these looks have it. */
    long patienceNs(int samples) {
        return patienceNs.applyAsLong(samples);
    }

    /** The same for a file: the last look at it may have taken longer. */
    long patienceNs(String file, int samples) {
        return Math.max(patienceNs(samples), 2 * Math.min(lastNs(file), MOST_PATIENCE_WITH_SLOW_NS / 2));
    }

    private synchronized long lastNs(String file) {
        return slow.getOrDefault(file, 0L);
    }

    private synchronized void took(String file, long ns) {
        slow.remove(file);
        if (ns >= SLOW_NS) {
            slow.put(file, ns);
            if (slow.size() > MOST_SLOW) {
                slow.remove(slow.keySet().iterator().next());
            }
        }
    }

    /**
     * The answer to a question about the orders of a job.
     *
     * @param file the name of the job's order files; null where its orders are computed: the caller does that, and takes as long as it takes
     * @param samples in the dataset
     * @throws OrderNotReadyException when the file does not answer: see {@link OrderNotReadyException#isUnanswered}
     */
    public <T> T ofOrder(@Nullable String file, int samples, Question<T> question) throws InvalidSpecException {
        return file == null ? question.answer() : within(patienceNs(file, samples), file, question);
    }

    /** As {@link #ofOrder}, for an order file and a number of nanoseconds. */
    <T> T within(long mostNs, String file, Question<T> question) throws InvalidSpecException {
        return answer(file, whatOfOrder(file), mostNs, question);
    }

    /**
     * The answer to a question about another file.
     *
     * @param kind what the file is, in words
     * @throws OrderNotReadyException when the file does not answer: see {@link OrderNotReadyException#isUnanswered}
     */
    public <T> T of(String kind, String file, Question<T> question) throws InvalidSpecException {
        return of(kind, file, 0, question);
    }

    /** The same about a file that may have a line for each sample. */
    public <T> T of(String kind, String file, int samples, Question<T> question) throws InvalidSpecException {
        return answer(file, kind + " " + Keys.shorten(file), patienceNs(file, samples), question);
    }

    private <T> T answer(String file, String what, long mostNs, Question<T> question) throws InvalidSpecException {
        return ask(file, what, mostNs, question).orElseThrow(() -> OrderNotReadyException.unanswered(what));
    }

    /** An order file in words. */
    static String whatOfOrder(String file) {
        return ORDER_FILE + Keys.shorten(file);
    }

    /** What is looked at now, in words; null when nothing is. */
    synchronized @Nullable String lookedAt() {
        return underWay.isEmpty() ? null : underWay.getFirst().what;
    }

    /** What is late, in words; null when nothing is. */
    synchronized @Nullable String late() {
        return underWay.stream()
                .filter(look -> look.isLate)
                .map(look -> look.what)
                .findFirst()
                .orElse(null);
    }

    /**
     * The answer to a question; empty when it does not come in time, or is not asked because an earlier answer is late.
     *
     * @param file what questions are about that have to do with one another
     * @param what the file in words
     * @param mostNs how long to wait
     */
    <T> Optional<T> ask(String file, String what, long mostNs, Question<T> question) throws InvalidSpecException {
        Look look = new Look(file, what, clockNs.getAsLong());
        if (!isBegun(look)) {
            return Optional.empty();
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        try {
            executor.execute(() -> lookFor(answer, look, question));
        } catch (OutOfMemoryError noThread) {
            boolean _ = end(look, () -> answer.cancel(false));
            return Optional.empty();
        }
        return await(answer, look, mostNs);
    }

    private synchronized boolean isBegun(Look look) {
        List<Look> same =
                underWay.stream().filter(other -> other.file.equals(look.file)).toList();
        if (same.size() >= mostOfAFile || same.stream().anyMatch(other -> other.isLate)) {
            if (mostOfAFile == 1) {
                same.forEach(other -> other.isLate = true); // who asks now goes on without its answer
            }
            return false;
        }
        return underWay.size() < MOST && underWay.add(look);
    }

    private <T> void lookFor(CompletableFuture<T> answer, Look look, Question<T> question) {
        BooleanSupplier completion;
        try {
            T found = question.answer();
            completion = () -> answer.complete(found);
        } catch (Throwable t) { // who asked meets it
            completion = () -> answer.completeExceptionally(t);
        }
        long tookNs = clockNs.getAsLong() - look.sinceNs;
        took(look.file, tookNs);
        listener.took(tookNs);
        if (end(look, completion)) {
            listener.answeredLate();
        }
    }

    /** Ends a look. Returns whether somebody has gone on without its answer. */
    private synchronized boolean end(Look look, BooleanSupplier completion) {
        boolean _ = completion.getAsBoolean();
        boolean _ = underWay.remove(look);
        return look.isLate;
    }

    private <T> Optional<T> await(CompletableFuture<T> answer, Look look, long mostNs) throws InvalidSpecException {
        boolean isLate = false;
        try {
            T _ = answer.get(mostNs, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            isLate = isGivenUp(answer, look);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            isLate = isGivenUp(answer, look);
        } catch (ExecutionException e) {
            // looked at below
        }
        if (isLate) {
            return Optional.empty();
        }
        return switch (answer.state()) {
            case SUCCESS -> Optional.of(answer.resultNow());
            case FAILED -> throw failure(answer.exceptionNow());
            case RUNNING, CANCELLED -> throw new AssertionError("a look at " + look.what + " was lost");
        };
    }

    /** Goes on without an answer, unless it has come at the last moment. */
    private synchronized boolean isGivenUp(CompletableFuture<?> answer, Look look) {
        boolean isGivenUp = !answer.isDone();
        look.isLate |= isGivenUp;
        return isGivenUp;
    }

    private static InvalidSpecException failure(Throwable thrown) {
        return switch (thrown) {
            case InvalidSpecException invalid -> invalid;
            case RuntimeException bug -> throw bug;
            case Error error -> throw error;
            default -> throw new AssertionError(thrown);
        };
    }
}
