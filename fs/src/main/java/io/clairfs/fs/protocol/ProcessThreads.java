package io.clairfs.fs.protocol;

import java.nio.file.Files;
import java.nio.file.Path;

/** What is left of a process that was killed. */
final class ProcessThreads {
    private ProcessThreads() {}

    /** How many of its threads have not ended, or only just; 0 when it is gone. */
    static int of(long process) {
        String[] threads =
                Path.of("/proc", Long.toString(process), "task").toFile().list();
        if (threads == null) {
            return 0;
        }
        int left = 0;
        for (String thread : threads) {
            left += hasEnded(Path.of("/proc", Long.toString(process), "task", thread, "stat")) ? 0 : 1;
        }
        return left;
    }

    private static boolean hasEnded(Path stat) {
        try {
            String text = Files.readString(stat, java.nio.charset.StandardCharsets.ISO_8859_1);
            String state = text.substring(text.lastIndexOf(')') + 1).strip();
            return state.startsWith("Z") || state.startsWith("X");
        } catch (java.io.IOException e) {
            return !Files.exists(stat); // else it could not be read for a moment
        }
    }
}
