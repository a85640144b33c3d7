package io.clairfs.peer;

import ch.qos.logback.classic.Logger;
import org.slf4j.LoggerFactory;

/** Loggers as Logback has them, to which tests add appenders. */
public final class LogbackLoggers {
    private LogbackLoggers() {}

    /** The logger of this name. While another thread initialises SLF4J, which is done under this lock, it gives out substitutes. */
    @SuppressWarnings("LockOnNonEnclosingClassLiteral") // it is SLF4J's own lock
    public static Logger named(String name) {
        synchronized (LoggerFactory.class) {
            return (Logger) LoggerFactory.getLogger(name);
        }
    }
}
