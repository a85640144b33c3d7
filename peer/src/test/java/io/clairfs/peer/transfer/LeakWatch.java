package io.clairfs.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.clairfs.peer.LogbackLoggers;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;

/** Fails if Netty's leak detector, which looks at every buffer in these tests, reported anything since it was opened. */
public final class LeakWatch {
    private static final long LONGEST_NS = 30_000_000_000L;

    private final ListAppender<ILoggingEvent> reports = new ListAppender<>();
    private final Logger logger = LogbackLoggers.named(ResourceLeakDetector.class.getName());

    public LeakWatch() {
        assertThat(ResourceLeakDetector.getLevel()).isEqualTo(ResourceLeakDetector.Level.PARANOID);
        reports.start();
        logger.addAppender(reports);
    }

    /** Waits until something is reported. */
    public void awaitReport() throws InterruptedException {
        long end = System.nanoTime() + LONGEST_NS;
        while (reports.list.isEmpty()) {
            assertThat(System.nanoTime()).as("a leak is not reported").isLessThan(end);
            look();
        }
    }

    /** Buffers that are lost are found by a collection, and reported when the next one is made. */
    private static void look() throws InterruptedException {
        System.gc();
        Thread.sleep(20);
        ByteBufAllocator.DEFAULT.directBuffer(16).release();
    }

    public void end() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            look();
        }
        logger.detachAppender(reports);
        assertThat(reports.list).isEmpty();
    }
}
