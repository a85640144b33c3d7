package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.FileContent;
import io.clairfs.tools.node.MountLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/** One mount of a random test: its daemon, the listed files, and the times of its remounts. */
final class StressNode {
    private static final long CONTROL_TIMEOUT_S = 180;
    private static final int ERRORS_SHOWN = 8;

    private final MountFixture fixture;
    private final StressSource source;
    private final StressMachine machine;
    private final Path point;
    private final Supplier<List<String>> options;
    private final UnaryOperator<String[]> place;
    private final LiveMount mount;
    private final Watcher watcher;
    private final List<Disturbance> disturbances = new ArrayList<>();
    private volatile Map<String, FileContent> listed = Map.of();
    private volatile Map<String, FileContent> listedBefore = Map.of();
    private volatile long listedNs;
    private ProcessHandle daemon;

    /** A period in which reads may fail because the mount went away. Times are those of {@link System#nanoTime}. */
    private record Disturbance(long fromNs, long toNs) {}

    /** Follows the listings of the mount. */
    interface Watcher {
        /** A daemon will be mounted and will list {@code next}. The previous listing may still be read. */
        void lists(StressNode node, Map<String, FileContent> next);

        /** Reads that begin from now on see only the last listing. */
        void settled(StressNode node);

        /** The daemon will be ended. */
        void ends(StressNode node) throws Exception;

        /** A part of a remount that began at this time has ended. */
        void took(String part, long startNs);
    }

    private StressNode(
            MountFixture fixture,
            StressSource source,
            StressMachine machine,
            Path point,
            Watcher watcher,
            Supplier<List<String>> options,
            UnaryOperator<String[]> place) {
        this.fixture = fixture;
        this.source = source;
        this.machine = machine;
        this.point = point;
        this.watcher = watcher;
        this.options = options;
        this.place = place;
        mount = new LiveMount(point);
        daemon = ProcessHandle.current();
    }

    /**
     * Mounts and waits until all is listed. The source must not change meanwhile. {@code options} supplies the options of each mount, and
     * {@code place} changes its command.
     */
    static StressNode mount(
            MountFixture fixture,
            StressSource source,
            StressMachine machine,
            Watcher watcher,
            Supplier<List<String>> options,
            UnaryOperator<String[]> place)
            throws Exception {
        StressNode node =
                new StressNode(fixture, source, machine, fixture.newDirectory("mnt"), watcher, options, place);
        node.begin(true);
        watcher.settled(node);
        return node;
    }

    private void begin(boolean untilListed) throws Exception {
        Map<String, FileContent> next = new HashMap<>();
        for (String path : source.paths()) {
            next.put(path, source.truth().now(path));
        }
        watcher.lists(this, next);
        long start = System.nanoTime();
        fixture.mountAt(place, point, source.point(), options.get().toArray(String[]::new));
        watcher.took("mounting", start);
        start = System.nanoTime();
        JsonNode status = control(() -> mount.await(
                "listed, or told why not",
                s -> !untilListed
                        || s.path("ready").asBoolean()
                        || s.path("index_error").isString()));
        watcher.took("listing", start);
        daemon = ProcessHandle.of(status.path("pid").asLong()).orElseThrow();
        machine.adopt(daemon.pid());
        listedBefore = listed;
        listed = next;
        listedNs = System.nanoTime();
    }

    /** Ends the daemon in the given way, runs {@code between}, and mounts again. */
    void again(Ending ending, boolean untilListed, Meanwhile between) throws Exception {
        watcher.ends(this);
        long from = System.nanoTime();
        synchronized (disturbances) {
            disturbances.add(new Disturbance(from, Long.MAX_VALUE));
        }
        switch (ending) {
            case UMOUNT -> umount();
            case TERMINATE -> end(daemon.destroy());
            case KILL -> end(daemon.destroyForcibly());
        }
        watcher.took("ending, " + ending, from);
        long ended = System.nanoTime();
        between.happens();
        watcher.took("between", ended);
        begin(untilListed);
        synchronized (disturbances) {
            disturbances.removeLast();
            disturbances.add(new Disturbance(from, System.nanoTime()));
        }
        watcher.settled(this);
    }

    /** Tries to mount without fusermount. No daemon may be running. */
    void requireRefusalWithoutFusermount() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of("mount", "--restarts", "0", source.point().toString(), point.toString()));
        command.addAll(options.get());
        machine.requireRefusalWithoutFusermount(command);
    }

    /** How a daemon ends. */
    enum Ending {
        UMOUNT,
        TERMINATE,
        KILL
    }

    private void end(boolean asked) throws InterruptedException, TimeoutException {
        if (!asked) {
            throw new AssertionError("daemon " + daemon.pid() + " cannot be ended");
        }
        ProcessEnd.await(daemon, CONTROL_TIMEOUT_S);
    }

    void umount() throws IOException, InterruptedException {
        fixture.clairfs("umount", point).succeeded();
    }

    /** Stops the daemon for a while. */
    void suspend(int millis, Meanwhile meanwhile) throws Exception {
        signal("-STOP");
        try {
            meanwhile.happens();
            TimeUnit.MILLISECONDS.sleep(millis);
        } finally {
            signal("-CONT");
        }
    }

    private void signal(String signal) throws IOException, InterruptedException {
        Ended.run(List.of("kill", signal, Long.toString(daemon.pid())), Map.of())
                .succeeded();
    }

    /** Whether the mount was away at some moment between these times, so that a read may have failed. */
    boolean disturbed(long startNs, long endNs) {
        synchronized (disturbances) {
            return disturbances.stream()
                    .anyMatch(d -> d.fromNs() - endNs <= 0 && (d.toNs() == Long.MAX_VALUE || startNs - d.toNs() <= 0));
        }
    }

    /** Uses the control files, within a bound. */
    <T> T control(Callable<T> action) throws Exception {
        FutureTask<T> task = new FutureTask<>(action);
        Thread.ofPlatform().daemon().name("stress control").start(task);
        try {
            return task.get(CONTROL_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("HANG: the control files of " + point + " do not answer", e);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case Exception x -> throw x;
                case Error x -> throw x;
                default -> throw e;
            }
        }
    }

    LiveMount mount() {
        return mount;
    }

    /** The number of samples on its SSD, without those in memory. */
    int samplesOnDisk() throws Exception {
        int samples = 0;
        for (JsonNode tier : control(mount::status).path("tiers")) {
            samples += tier.path("name").asString().equals("memory")
                    ? 0
                    : tier.path("samples").asInt();
        }
        return samples;
    }

    /** At most {@code most} of {@code paths} whose samples only its SSD holds, not even the page cache. */
    List<String> onDiskAlone(List<String> paths, int most) throws Exception {
        List<String> found = new ArrayList<>();
        for (String path : paths) {
            if (found.size() == most) {
                break;
            }
            JsonNode at = control(() -> mount.where(path)).path("at");
            JsonNode tiers = at.path("tiers");
            if (!at.path("staged").asBoolean()
                    && tiers.size() == 1
                    && !tiers.get(0).asString().equals("memory")) {
                found.add(path);
            }
        }
        return found;
    }

    /** Its mount point, its process, and the daemon's last errors about a file, for a message. */
    String lastErrors(String path) {
        String who = point + " of process " + daemon.pid() + (daemon.isAlive() ? "" : ", which has ended") + ": ";
        try {
            List<String> lines = control(() -> mount.lines("errors")).stream()
                    .filter(line -> line.contains(path))
                    .toList();
            return who + lines.subList(Math.max(0, lines.size() - ERRORS_SHOWN), lines.size());
        } catch (Exception | AssertionError e) {
            return who + e;
        }
    }

    Path point() {
        return point;
    }

    /** The log of its daemon. */
    Path log() {
        String name = MountLog.name(point);
        return fixture.directory().resolve("clairfs").resolve(name);
    }

    long pid() {
        return daemon.pid();
    }

    /** The content of each file that this mount shows. */
    Map<String, FileContent> listed() {
        return listed;
    }

    /** The content of each file that the mount at this time showed. */
    Map<String, FileContent> listedAt(long timeNs) {
        return timeNs - listedNs < 0 && !listedBefore.isEmpty() ? listedBefore : listed;
    }

    /** The content of each file that the previous mount at the same place showed. */
    Map<String, FileContent> listedBefore() {
        return listedBefore;
    }
}
