package io.clairfs.tools.cli;

import io.clairfs.tools.Progress;
import io.clairfs.tools.warm.Amounts;
import io.clairfs.tools.warm.WarmPace;
import io.clairfs.tools.warm.WarmText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Fills the tiers of a mount before somebody trains. */
@Command(
        name = "warm",
        mixinStandardHelpOptions = true,
        description = {
            "Fills memory and SSD with what the jobs of a mount read, as planned, and waits until it is there.",
            "Without a job they are filled with as many samples as fit, in index order, and keep them for the job to come."
        })
final class WarmCommand implements Callable<Integer> {
    private static final JsonMapper JSON = new JsonMapper();

    /** With the number of the process, the job that stands for the one to come: several of these commands may run at once. */
    private static final String OWN_JOB = "warm-";

    private static final String OWN_SAMPLER = "sequential";
    private static final long SHORTEST_LOOK_MS = 250;
    private static final long LINE_MS = 10_000;

    /** Counting the samples may take no more than a tenth of the daemon's time. */
    private static final int TENTH = 10;

    private static final long LISTING_PATIENCE_S = 60;

    @Parameters(paramLabel = "MOUNTPOINT", description = "The mount point, or any path below it.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(names = "--job", paramLabel = "NAME", description = "Waits for the samples of this job alone.")
    private @Nullable String job;

    @Option(
            names = "--check",
            description = "Says how much is there, and fetches nothing; exit code 1 if something is missing.")
    private boolean check;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        ControlClient client = new ControlClient(mountPoint);
        JsonNode status = JSON.readTree(client.read("status.json"));
        List<String> jobs = new ArrayList<>();
        boolean isOwn = true;
        for (JsonNode each : status.path("jobs")) {
            String name = each.path("name").asString();
            jobs.add(name);
            isOwn &= isOwn(name, each);
        }
        if (job != null && !jobs.contains(job)) {
            throw new CommandFailedException("there is no job '" + job + "' here"
                    + (jobs.isEmpty() ? "" : ", but " + String.join(", ", jobs)) + "; start it: clairfs job start "
                    + client.root() + " name=" + job + " seed=...");
        }
        if (check) {
            Amounts now = amounts(client);
            System.out.println(WarmText.checked(now, status));
            long samples = status.path("samples").asLong();
            boolean isThere = now.isPlanned() ? now.isComplete() : now.residentSamples() >= samples;
            return isThere ? Main.DONE : Main.FAILED;
        }
        awaitListing(client, status);
        if (!isOwn) {
            return fill(client);
        }
        if (!status.path("group").isNull()) {
            throw new CommandFailedException(
                    "in a group of nodes a job has to say which node reads what; start it, then: clairfs warm "
                            + client.root() + " --job NAME");
        }
        for (String name : jobs) {
            if (isLeft(name)) {
                stopOwn(client, name);
            }
        }
        String own = OWN_JOB + ProcessHandle.current().pid();
        Thread stop = new Thread(() -> stopOwn(client, own));
        Runtime.getRuntime().addShutdownHook(stop);
        try {
            client.writeJob("name=" + own + " sampler=" + OWN_SAMPLER);
            return fill(client);
        } finally {
            stopOwn(client, own);
            Runtime.getRuntime().removeShutdownHook(stop);
        }
    }

    private static boolean isOwn(String name, JsonNode job) {
        return name.startsWith(OWN_JOB) && job.path("sampler").asString().equals(OWN_SAMPLER);
    }

    /** Whether such a job is of a command that was killed. */
    private static boolean isLeft(String name) {
        try {
            return ProcessHandle.of(Long.parseLong(name.substring(OWN_JOB.length())))
                    .isEmpty();
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static void stopOwn(ControlClient client, String own) {
        try {
            client.writeJob("stop=" + own);
        } catch (IOException | CommandFailedException e) {
            System.err.println("clairfs: the job '" + own + "' could not be stopped: " + e.getMessage());
        }
    }

    private Amounts amounts(ControlClient client) throws IOException, CommandFailedException {
        return Amounts.of(JSON.readTree(client.read("warm.json")), job);
    }

    /** The plan of tiers needs the whole listing. */
    private static void awaitListing(ControlClient client, JsonNode before) throws IOException, CommandFailedException {
        long found = before.path("samples").asLong();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LISTING_PATIENCE_S);
        JsonNode now = before;
        while (!now.path("ready").asBoolean()) {
            if (!now.path("index_error").isNull()) {
                throw new CommandFailedException(now.path("index_error").asString());
            }
            if (System.nanoTime() > deadline) {
                throw new CommandFailedException("the source has listed nothing more for " + LISTING_PATIENCE_S
                        + " s, after " + found + " files");
            }
            pause(SHORTEST_LOOK_MS);
            now = JSON.readTree(client.read("status.json"));
            if (now.path("samples").asLong() > found) {
                found = now.path("samples").asLong();
                deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LISTING_PATIENCE_S);
            }
        }
    }

    /** Waits until all that is wanted is there, while something comes. */
    private int fill(ControlClient client) throws IOException, CommandFailedException {
        boolean terminal = Progress.isTerminal();
        long start = System.nanoTime();
        WarmPace pace = new WarmPace();
        long lineDue = start + TimeUnit.MILLISECONDS.toNanos(LINE_MS);
        while (true) {
            long looked = System.nanoTime();
            Amounts now = amounts(client);
            long done = System.nanoTime();
            pace.saw(done, now);
            if (now.isComplete()) {
                clear(terminal);
                JsonNode status = JSON.readTree(client.read("status.json"));
                System.out.println(WarmText.complete(now, status, (done - start) / 1e9));
                return Main.DONE;
            }
            if (pace.isStuck()) {
                clear(terminal);
                throw new CommandFailedException(stuck(now, Math.round(pace.secondsWithoutNews()), client.root()));
            }
            if (terminal) {
                System.err.print("\r" + WarmText.line(now, pace) + "\u001b[K");
                System.err.flush();
            } else if (done > lineDue) {
                System.err.println(WarmText.line(now, pace));
                lineDue += TimeUnit.MILLISECONDS.toNanos(LINE_MS);
            }
            pause(Math.max(SHORTEST_LOOK_MS, TENTH * TimeUnit.NANOSECONDS.toMillis(done - looked)));
        }
    }

    private static String stuck(Amounts now, long seconds, Path root) {
        return now.isPlanned()
                ? String.format(
                        Locale.ROOT,
                        "%,d of %,d samples are missing and nothing came for %d s; the reason may be in %s/.clairfs/errors",
                        now.wantedSamples() - now.thereSamples(),
                        now.wantedSamples(),
                        seconds,
                        root)
                : "there is no plan after " + seconds + " s without news; 'clairfs status " + root
                        + "' says what it waits for, such as ranks that no node has claimed";
    }

    private static void clear(boolean terminal) {
        if (terminal) {
            System.err.print("\r\u001b[K");
            System.err.flush();
        }
    }

    private static void pause(long ms) throws CommandFailedException {
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailedException("interrupted");
        }
    }
}
