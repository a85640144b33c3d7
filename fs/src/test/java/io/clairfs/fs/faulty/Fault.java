package io.clairfs.fs.faulty;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A fault that is in force until it has struck often enough or is lifted. */
public final class Fault {
    private final FaultSpec spec;
    private final SplittableRandom random;
    private final CountDownLatch lifted = new CountDownLatch(1);
    private long struck;

    Fault(FaultSpec spec) {
        this.spec = spec;
        random = new SplittableRandom(spec.seed());
    }

    public FaultSpec spec() {
        return spec;
    }

    /** Ends it: no request is struck any more, and those that it holds up go on. */
    public void lift() {
        lifted.countDown();
    }

    /** How many requests it has struck. */
    public synchronized long struck() {
        return struck;
    }

    /** Whether it can strike again. */
    synchronized boolean isInForce() {
        return lifted.getCount() > 0 && struck < spec.times();
    }

    /** Decides about one request that it concerns. */
    synchronized boolean strikes() {
        if (!isInForce() || (spec.chance() < 1 && random.nextDouble() >= spec.chance())) {
            return false;
        }
        struck++;
        return true;
    }

    /** Waits until it is lifted. Returns whether it was, rather than the time being over. */
    boolean awaitLifted(Duration longest) {
        boolean interrupted = false;
        try {
            long deadline = System.nanoTime() + longest.toNanos();
            while (true) {
                try {
                    return lifted.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
