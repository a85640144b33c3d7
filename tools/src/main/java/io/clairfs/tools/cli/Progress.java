package io.clairfs.tools.cli;

import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress of long work, on the terminal if there is one. */
public final class Progress {
    private Progress() {}

    /** A bar on stderr; silent where stderr is no terminal. */
    public static ProgressBar bar(String task, long steps) {
        ProgressBarBuilder builder = ProgressBar.builder()
                .setTaskName(task)
                .setInitialMax(steps)
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(200);
        return isTerminal()
                ? builder.build()
                : builder.setConsumer(new me.tongfei.progressbar.DelegatingProgressBarConsumer(_ -> {}))
                        .build();
    }

    private static boolean isTerminal() {
        return java.nio.file.Path.of("/proc/self/fd/2").toFile().exists()
                && System.console() != null
                && System.console().isTerminal();
    }
}
