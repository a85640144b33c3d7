package io.clairfs.tools.mount;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Records what a daemon does while a read takes unexplainably long: its threads and its last errors, in a file. */
final class StressWitness {
    private static final Path DIRECTORY = Path.of("target");
    private static final int MOST = 5;
    private static final int LINES = 40;

    private final AtomicInteger looked = new AtomicInteger();

    /** Looks at the daemon at once, without blocking the caller. */
    void look(StressNode node, String why) {
        int number = looked.incrementAndGet();
        if (number <= MOST) {
            Thread.ofPlatform().daemon().name("stress witness").start(() -> write(node, why, number));
        }
    }

    private static void write(StressNode node, String why, int number) {
        try {
            String jcmd =
                    Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
            String threads = Ended.run(List.of(jcmd, Long.toString(node.pid()), "Thread.print"), Map.of())
                    .out();
            List<String> errors = node.control(() -> node.mount().lines("errors"));
            String status = node.control(() -> node.mount().status().toPrettyString());
            Path file = DIRECTORY.resolve("stress-witness-" + number + ".txt");
            Files.writeString(
                    file,
                    why + "\n\n"
                            + String.join("\n", errors.subList(Math.max(0, errors.size() - LINES), errors.size()))
                            + "\n\n" + status + "\n\n" + threads);
            System.out.println("what the daemon was doing is in " + file);
        } catch (Exception | AssertionError e) {
            System.out.println("what the daemon was doing cannot be seen: " + e);
        }
    }
}
