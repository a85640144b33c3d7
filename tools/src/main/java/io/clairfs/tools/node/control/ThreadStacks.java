package io.clairfs.tools.node.control;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;

/** The stacks of all threads, for a report on a mount that is slow or stuck. A JVM without the JDK's tools has nothing else to make them. */
final class ThreadStacks {
    private static final double NANOS_PER_SECOND = 1e9;

    private ThreadStacks() {}

    /** Each thread with its state, its processor time and its stack. */
    static String text() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        StringBuilder text = new StringBuilder();
        Arrays.stream(threads.dumpAllThreads(false, false, Integer.MAX_VALUE))
                .sorted(Comparator.comparing(ThreadInfo::getThreadName))
                .forEach(thread -> add(text, thread, threads.getThreadCpuTime(thread.getThreadId())));
        return text.toString();
    }

    private static void add(StringBuilder text, ThreadInfo thread, long cpuNs) {
        text.append(String.format(
                Locale.ROOT,
                "%s: %s, %.2f s of processor time%s%n",
                thread.getThreadName(),
                thread.getThreadState().name().toLowerCase(Locale.ROOT),
                Math.max(0, cpuNs) / NANOS_PER_SECOND,
                thread.getLockName() == null
                        ? ""
                        : ", on " + thread.getLockName()
                                + (thread.getLockOwnerName() == null ? "" : " of " + thread.getLockOwnerName())));
        for (StackTraceElement frame : thread.getStackTrace()) {
            text.append("    ").append(frame).append('\n');
        }
        text.append('\n');
    }
}
