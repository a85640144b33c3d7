package io.clairfs.tools.cli.training;

import io.clairfs.tools.cli.Main;

/**
 * Runs the commands that end soon once each on a mount, so that a recording JVM ({@code -XX:AOTCacheOutput}) writes a cache with which such
 * commands start sooner. They have a cache of their own: loading what a mount needs would take longer than they run.
 */
public final class CommandTraining {
    private static final String JOB = "trained";

    private CommandTraining() {}

    /** Takes a mount point of {@link StartupTraining}. Where nothing is mounted each command says so, which is worth something, too. */
    public static void main(String[] arguments) {
        String point = arguments[0];
        run("order", "--samples", "3", "--seed", "1");
        run("status", point);
        run("where", point, StartupTraining.SAMPLE);
        run("job", "start", point, "seed=3", "batch=2", "epochs=2", "name=" + JOB);
        run("job", "list", point);
        run("job", "stop", point, JOB);
        run("top", "--count", "1", "--every", "100ms", point);
        run("doctor", point);
        run("umount", point + "/" + StartupTraining.SAMPLE); // a file is not unmounted
    }

    private static void run(String... arguments) {
        int _ = Main.run(arguments);
    }
}
