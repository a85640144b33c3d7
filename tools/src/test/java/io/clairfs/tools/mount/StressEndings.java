package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.Request;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import tools.jackson.databind.JsonNode;

/** How daemons of a random test end and are mounted again, and what may be wrong meanwhile. */
final class StressEndings {
    private static final FaultKind[] UNLISTED = {FaultKind.EIO, FaultKind.ETIMEDOUT, FaultKind.HANG};

    private static final List<String> WAYS = List.of("stat", "pread", "readdir");

    private final StressReport report;
    private final StressWorld world;
    private final StressJobs jobs;
    private final Random random;
    private int left;

    /** Ends no more than {@code most} daemons. */
    StressEndings(StressReport report, StressWorld world, StressJobs jobs, Random random, int most) {
        this.report = report;
        this.world = world;
        this.jobs = jobs;
        this.random = random;
        left = most;
    }

    private boolean mayEnd(int node) {
        if (left == 0) {
            return false;
        }
        left--;
        jobs.forget(world.nodes().get(node));
        return true;
    }

    /** Ends it in one way or another, and mounts again, perhaps after an attempt without fusermount, or while inotify has too little. Requests of the source may go wrong meanwhile. */
    void remount(int node) throws Exception {
        StressNode.Ending ending = anyEnding();
        boolean refusedFirst = random.nextBoolean();
        boolean lifted = random.nextBoolean();
        if (!mayEnd(node)) {
            return;
        }
        if (lifted || world.source().faults().concernListing()) {
            world.source().lift();
        }
        world.machine()
                .shortOfReports(
                        random,
                        report,
                        () -> world.nodes().get(node).again(ending, true, () -> {
                            world.disk(node).putInFront(report);
                            if (refusedFirst) {
                                world.nodes().get(node).requireRefusalWithoutFusermount();
                                report.fault("fusermount missing", 1);
                            }
                        }));
        report.fault("daemon ended: " + ending, 1);
    }

    private StressNode.Ending anyEnding() {
        return StressNode.Ending.values()[random.nextInt(StressNode.Ending.values().length)];
    }

    /** Mounts again over a disk that is read only and begins to fail. */
    void remountOnFailingDisk(int node) throws Exception {
        StressNode.Ending ending = anyEnding();
        if (!mayEnd(node)) {
            return;
        }
        world.source().lift();
        world.nodes().get(node).again(ending, true, () -> {
            world.disk(node).putInFront(report);
            world.disk(node).putBehindFaults();
        });
        world.disk(node).fail(random);
        report.fault("daemon ended: " + ending, 1);
    }

    /**
     * Mounts again while the source does not list a directory, and requires that this is an error for who asks for what is in it, not an absence; and
     * that it is listed after all when the source is well again. A refusal (EACCES) would stay as it is.
     */
    void remountUnlisted(String when, int number) throws Exception {
        FaultKind kind = UNLISTED[random.nextInt(UNLISTED.length)];
        String directory = StressSource.DIRECTORIES.get(random.nextInt(StressSource.DIRECTORIES.size()));
        int hangS = random.nextBoolean() ? 60 : StressWorld.READ_TIMEOUT_S + 1;
        String way = WAYS.get(random.nextInt(WAYS.size()));
        if (!mayEnd(number)) {
            return;
        }
        world.reads().awaitRoom(0);
        world.source().lift();
        StressNode node = world.nodes().get(number);
        FaultSpec spec = FaultSpec.of(kind).on(Request.LIST).at(directory).lasting(Duration.ofSeconds(hangS));
        Fault fault = world.source().faults().inject(spec);
        node.again(
                StressNode.Ending.UMOUNT,
                kind != FaultKind.HANG,
                () -> world.disk(number).putInFront(report));
        // The kernel asks for the names of one directory one after the other, so three that hang take three times as
        // long.
        List<String> ways = kind == FaultKind.HANG ? List.of(way) : WAYS;
        world.reads().requireErrors(when + ", which fails with " + kind, node, directory, ways);
        if (fault.struck() == 0) {
            report.failure(when + ": the directory was never listed");
        }
        world.source().lift();
        JsonNode _ = node.control(() -> node.mount().awaitReady());
        report.fault("daemon ended: " + StressNode.Ending.UMOUNT, 1);
    }
}
