package io.clairfs.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import org.slf4j.LoggerFactory;

/** Fails if Netty's leak detector, which looks at every buffer in these tests, reported anything since it was opened. */
final class LeakWatch {
    private final ListAppender<ILoggingEvent> reports = new ListAppender<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(ResourceLeakDetector.class);

    LeakWatch() {
        assertThat(ResourceLeakDetector.getLevel()).isEqualTo(ResourceLeakDetector.Level.PARANOID);
        reports.start();
        logger.addAppender(reports);
    }

    void end() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(20);
            ByteBufAllocator.DEFAULT.directBuffer(16).release();
        }
        logger.detachAppender(reports);
        assertThat(reports.list).isEmpty();
    }
}
