package io.clairfs.tools;

import io.clairfs.cache.posix.NativeFunction;
import java.io.PrintStream;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * Shows the progress of a long step on standard error: a bar on a terminal, elsewhere one line when the step begins.
 *
 * <p>This class prints the bar rather than its library. The library asks for the terminal's width in a way that resets SIGINT to its default
 * action, and Ctrl-C would then end the process without its shutdown hooks.
 */
public final class Progress implements AutoCloseable {
    private static final int STDERR = 2;
    private static final int UPDATE_MS = 200;
    private static final int NAME_WIDTH = 28;
    private static final int LINE_WIDTH = 79;

    private final @Nullable ProgressBar bar;
    private final PrintStream out;

    private Progress(@Nullable ProgressBar bar, PrintStream out) {
        this.bar = bar;
        this.out = out;
    }

    /** Begins a step of {@code total} parts. */
    public static Progress begin(String what, long total) {
        return begin(what, total, System.err, isTerminal());
    }

    static Progress begin(String what, long total, PrintStream out, boolean terminal) {
        if (!terminal) {
            out.println(what + " ...");
            return new Progress(null, out);
        }
        ProgressBar bar = new ProgressBarBuilder()
                .setTaskName(what + " ".repeat(Math.max(0, NAME_WIDTH - what.length())))
                .setInitialMax(total)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(UPDATE_MS)
                .setConsumer(new DelegatingProgressBarConsumer(line -> out.print('\r' + line), LINE_WIDTH))
                .build();
        return new Progress(bar, out);
    }

    /** Whether standard error is a terminal. */
    public static boolean isTerminal() {
        return (int) NativeFunction.of("isatty").call(STDERR) == 1;
    }

    /** Reports that {@code parts} of the step are done. Any thread may call it. */
    public void at(long parts) {
        if (bar != null) {
            bar.stepTo(parts);
        }
    }

    /** Shows the current action. */
    public void note(String now) {
        if (bar != null) {
            bar.setExtraMessage(now);
        }
    }

    /** Removes the bar to make room for a line of a result; it is drawn again below. */
    public void clear() {
        if (bar != null) {
            out.print('\r' + " ".repeat(LINE_WIDTH) + '\r');
            out.flush();
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
            out.println();
        }
    }
}
