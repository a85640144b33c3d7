package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.Request;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/** Ends the daemons of a random test and mounts again, with faults meanwhile. */
final class StressEndings {
    private static final List<String> WAYS = List.of("stat", "pread", "readdir");

    private static final long FILLING_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long FILLING_STEP_MS = 50;
    private static final int ENOUGH = 4;
    private static final int MOST_FROM_DISK = 8;

    private final StressReport report;
    private final StressWorld world;
    private final StressJobs jobs;
    private final Random random;
    private final StressDeck<StressNode.Ending> endings;
    private final StressDeck<FaultKind> unlisted;
    private final StressRound.Pace pace;
    private int left;

    /** Ends no more daemons than {@code pace} allows. */
    StressEndings(StressReport report, StressWorld world, StressJobs jobs, Random random, StressRound.Pace pace) {
        this.report = report;
        this.world = world;
        this.jobs = jobs;
        this.random = random;
        endings = new StressDeck<>(random, List.of(StressNode.Ending.values()));
        unlisted =
                new StressDeck<>(random, List.of(FaultKind.EIO, FaultKind.HANG, FaultKind.ETIMEDOUT, FaultKind.HANG));
        this.pace = pace;
        left = pace.endings();
    }

    private boolean mayEnd(int node) {
        if (left == 0) {
            return false;
        }
        left--;
        jobs.forget(world.nodes().get(node));
        return true;
    }

    /**
     * Ends the daemon in one of the ways and mounts again, after an attempt without fusermount. Requests to the source may fail meanwhile.
     */
    void remount(int node) throws Exception {
        boolean lifted = random.nextBoolean();
        if (!mayEnd(node)) {
            return;
        }
        if (lifted || world.source().faults().concernListing()) {
            world.source().lift();
        }
        again(node, true, () -> {
            world.disk(node).putInFront(report);
            refuseWithoutFusermount(node);
        });
    }

    private void refuseWithoutFusermount(int node) throws Exception {
        world.nodes().get(node).requireRefusalWithoutFusermount();
        report.fault("fusermount missing", 1);
    }

    /** Ends the daemon in one of the ways, and mounts again while an inotify resource is scarce and a link lies at the path of its log. */
    private void again(int number, boolean untilListed, Meanwhile between) throws Exception {
        StressNode.Ending ending = endings.next();
        StressNode node = world.nodes().get(number);
        if (random.nextInt(4) > 0) {
            world.disk(number).answerAgain();
        }
        world.source().links().remove(); // a listed link would stay a link
        world.crowd().pace(pace.readsPerSecondMeanwhile());
        world.machine()
                .shortOfReports(
                        report,
                        () -> node.again(ending, untilListed, () -> {
                            world.source().links().plantAt(node.log());
                            between.happens();
                        }));
        world.crowd().pace(pace.readsPerSecond());
        if (!Files.isRegularFile(node.log(), LinkOption.NOFOLLOW_LINKS)) {
            report.failure("a link in place of " + node.log() + " was left there");
        }
        report.fault("link planted for the log", 1);
        report.fault("daemon ended: " + ending, 1);
    }

    /** Ends the daemon and mounts again over a disk that is read only and begins to fail. */
    void remountOnFailingDisk(String when, int node) throws Exception {
        if (!mayEnd(node)) {
            return;
        }
        world.source().lift();
        long start = System.nanoTime();
        fillDisk(node);
        report.took("remounts: filling the disk", start, System.nanoTime());
        again(node, true, () -> {
            world.disk(node).putInFront(report);
            world.disk(node).putBehindFaults();
            refuseWithoutFusermount(node);
        });
        report.fault("disk read only", 1);
        failDisk(when, node, random);
    }

    /**
     * Makes a disk that can fail do so in another way. To send requests to it, the source is slow, and samples that only the disk holds are
     * read past the page cache.
     */
    void failDisk(String when, int number, Random how) throws Exception {
        if (world.disk(number).fail(how)) {
            world.source().beSlow();
            readFromDisk(when, number);
        }
    }

    private void readFromDisk(String when, int number) throws Exception {
        StressNode node = world.nodes().get(number);
        for (String path : node.onDiskAlone(world.source().paths(), MOST_FROM_DISK)) {
            world.reads().read(when, node, "direct", path, 0, 100_000);
        }
    }

    /** Fills the disk by a job, so that it has samples whose reads can fail. */
    private void fillDisk(int number) throws Exception {
        StressNode node = world.nodes().get(number);
        world.machine().unlimitFiles(node.pid());
        world.disk(number).mend();
        jobs.start(node);
        long start = System.nanoTime();
        while (System.nanoTime() - start < FILLING_NS && node.samplesOnDisk() < ENOUGH) {
            TimeUnit.MILLISECONDS.sleep(FILLING_STEP_MS);
        }
        jobs.forget(node);
    }

    /**
     * Mounts again while the source does not list a directory. Requires that requests for its content fail, rather than find nothing, and
     * that the directory is listed when the source recovers. A refusal (EACCES) would be final.
     */
    void remountUnlisted(String when, int number) throws Exception {
        FaultKind kind = unlisted.next();
        String directory = StressSource.DIRECTORIES.get(random.nextInt(StressSource.DIRECTORIES.size()));
        int hangS = random.nextBoolean() ? 60 : StressWorld.READ_TIMEOUT_S + 1;
        String way = WAYS.get(random.nextInt(WAYS.size()));
        if (!mayEnd(number)) {
            return;
        }
        world.reads().awaitRoomForMore();
        world.source().lift();
        StressNode node = world.nodes().get(number);
        FaultSpec spec = FaultSpec.of(kind).on(Request.LIST).at(directory).lasting(Duration.ofSeconds(hangS));
        Fault fault = world.source().faults().inject(spec);
        again(number, kind != FaultKind.HANG, () -> world.disk(number).putInFront(report));
        // The kernel requests the names of one directory one after the other, so three hanging requests take three
        // times as long.
        List<String> ways = kind == FaultKind.HANG ? List.of(way) : WAYS;
        long start = System.nanoTime();
        world.reads().requireErrors(when + ", which fails with " + kind, node, directory, ways);
        report.took("remounts: errors", start, System.nanoTime());
        if (fault.struck() == 0) {
            report.failure(when + ": the directory was never listed");
        }
        world.source().lift();
        start = System.nanoTime();
        JsonNode _ = node.control(() -> node.mount().awaitReady());
        report.took("remounts: ready", start, System.nanoTime());
        report.fault(kind == FaultKind.HANG ? "directory hangs" : "directory not listed", 1);
    }
}
