package io.clairfs.fs.faulty;

import io.clairfs.cache.posix.PosixException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/** The faults of one source: those in force, and how many there have been. */
final class Faults {
    private final CopyOnWriteArrayList<Fault> known = new CopyOnWriteArrayList<>();
    private final ConcurrentHashMap<String, LongAdder> counts = new ConcurrentHashMap<>();
    private volatile boolean over;

    Fault add(FaultSpec spec) {
        Fault fault = new Fault(spec);
        known.removeIf(f -> !f.isInForce() && f.spec().kind() != FaultKind.HANG);
        known.add(fault);
        if (over) {
            fault.lift();
        }
        return fault;
    }

    void liftAll() {
        for (Fault fault : known) {
            fault.lift();
            known.remove(fault);
        }
    }

    /** Lifts all, and what comes later. */
    void end() {
        over = true;
        liftAll();
    }

    /** Strikes by kind and request, such as {@code eio read}; and changes of files by their names. */
    Map<String, Long> counted() {
        Map<String, Long> all = new TreeMap<>();
        counts.forEach((name, count) -> all.put(name, count.sum()));
        return all;
    }

    void count(String name) {
        counts.computeIfAbsent(name, _ -> new LongAdder()).increment();
    }

    /**
     * Lets every fault have its chance at a request, in the order in which they were added.
     *
     * @return whether the answer is to be short
     * @throws PosixException when that is the fault
     */
    boolean strike(Request request, String path) throws PosixException {
        boolean cut = false;
        for (Fault fault : known) {
            FaultSpec spec = fault.spec();
            if (!spec.concerns(request, path) || !fault.strikes()) {
                continue;
            }
            count((spec.kind() + " " + request).toLowerCase(Locale.ROOT));
            switch (spec.kind()) {
                case EIO, ENOENT, EACCES, ETIMEDOUT, EAGAIN -> throw failure(spec);
                case DELAY -> fault.awaitLifted(spec.duration());
                case HANG -> {
                    if (!fault.awaitLifted(spec.duration())) {
                        throw failure(spec);
                    }
                }
                case SHORT_READ -> cut = true;
            }
        }
        return cut;
    }

    private static PosixException failure(FaultSpec spec) {
        return new PosixException("faulty source", spec.kind().errno());
    }
}
