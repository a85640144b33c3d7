package io.clairfs.tools.mount;

import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A sequence of random steps: reads, jobs, faults and endings.
 *
 * <p>The steps follow from the seed alone. Their timing against daemons and readers does not, so a failure may need several repetitions of
 * its seed.
 */
final class StressRound {
    private static final int CHURN = 20_000;
    private static final int FLOOD_MS = 500;

    private final MountFixture fixture;
    private final StressReport report;
    private final long seed;
    private final Pace pace;
    private final Random random;
    private int step;

    StressRound(MountFixture fixture, StressReport report, long seed, Pace pace) {
        this.fixture = fixture;
        this.report = report;
        this.seed = seed;
        this.pace = pace;
        random = new Random(seed);
    }

    /**
     * The parameters of a round.
     *
     * @param soak whether the round has everything; else the seed decides
     * @param pauseMs the longest pause between steps
     * @param endings how many times daemons may be ended at most
     * @param firstMortal the nodes before this one are never ended
     * @param changing the number of files whose content may change: a changed file cannot be read before the next mount
     * @param readsPerSecond reads per second of the crowd
     * @param readsPerSecondMeanwhile the same while a daemon is ended and mounted again, which takes three times as long beside a fast crowd
     */
    record Pace(
            boolean soak,
            int pauseMs,
            int endings,
            int firstMortal,
            int changing,
            int readsPerSecond,
            int readsPerSecondMeanwhile) {
        /** As many steps as possible in a short time. */
        static final Pace DENSE = new Pace(false, 30, 2, 0, Integer.MAX_VALUE, 4000, 4000);

        /** As much of everything as possible, for hours: node 0 lives through all of it. */
        static final Pace SOAK = new Pace(true, 10, Integer.MAX_VALUE, 1, 8, 4000, 1500);
    }

    /** Says whether there is another step. May also look at the daemons from outside. */
    @FunctionalInterface
    interface Watch {
        boolean goesOn(int step, StressWorld world) throws Exception;
    }

    /** Runs steps while {@code watch} allows. Failures are in the report. */
    void run(Watch watch) throws Exception {
        StressWorld.Arrangement arrangement =
                pace.soak() ? StressWorld.Arrangement.ALL : StressWorld.Arrangement.of(seed);
        try (StressWorld world = new StressWorld(fixture, report, arrangement, random)) {
            StressJobs jobs = new StressJobs(report, world.reads(), world.crowd(), random);
            StressEndings endings = new StressEndings(report, world, jobs, random, pace);
            StressDeck<StressStep> deck = pace.soak() ? StressStep.ofSoak(random) : StressStep.ofRound(random);
            world.crowd().pace(pace.readsPerSecond());
            while (!report.failed() && watch.goesOn(step, world)) {
                world.crowd().during(when());
                StressStep what = deck.next();
                long start = System.nanoTime();
                step(world, jobs, endings, what);
                report.did(step, what.name(), start, System.nanoTime());
                TimeUnit.MILLISECONDS.sleep(random.nextInt(pace.pauseMs()));
                step++;
            }
            world.end(when());
        }
    }

    private String when() {
        return "seed " + seed + " step " + step;
    }

    private void step(StressWorld world, StressJobs jobs, StressEndings endings, StressStep what) throws Exception {
        int number = random.nextInt(world.nodes().size());
        int mortal = Math.max(number, pace.firstMortal());
        StressNode node = world.nodes().get(number);
        StressSource source = world.source();
        StressReads reads = world.reads();
        String path = source.paths().get(random.nextInt(source.paths().size()));
        Random apart = new Random(random.nextLong()); // for choices that depend on the current state
        Meanwhile reading = () -> reads.any(when(), node, apart);
        switch (what) {
            case READ -> reads.any(when(), node, random);
            case STAT -> reads.read(when(), node, "stat", path, 0, 0);
            case LIST -> reads.list(when(), node, StressSource.DIRECTORIES.get(random.nextInt(3)));
            case FOLLOW -> jobs.follow(when(), node);
            case DROP_PAGES -> reads.other("drop", node, path, path, 0);
            case INJECT -> source.inject(random, path);
            case LIFT -> source.lift();
            case CHANGE -> source.change(random, pace.changing());
            case STOP_SOURCE -> report.fault("source's process stopped", source.stop(random, reading));
            case KILL_SOURCE -> report.fault("source's process killed", source.kill(reading));
            case START_JOB -> jobs.start(node);
            case WRONG_JOB -> jobs.startWrong(when(), node);
            case STOP_JOB -> jobs.stop(node, apart);
            case DAMAGE_DISK -> world.disk(number).damage(report, source.links(), apart);
            case FILL_DISK -> report.fault("disk full", world.disk(number).fill(random.nextInt(100_000)));
            case LOCK_DISK -> report.fault("disk read only", world.disk(number).lock());
            case LIMIT_DISK ->
                report.fault("disk refuses writes", world.machine().limitFiles(node.pid(), random.nextInt(100_000)));
            case FAIL_DISK -> endings.failDisk(when(), mortal, apart);
            case MEND_DISK -> {
                world.machine().unlimitFiles(node.pid());
                world.disk(number).mend();
            }
            case PLANT_LINK -> {
                source.links().plant();
                report.fault("link planted in the source", 1);
            }
            case SUSPEND -> {
                reads.awaitRoomForMore();
                node.suspend(100 + random.nextInt(900), reading);
                report.fault("daemon suspended", 1);
            }
            case FLOOD -> {
                reads.other("churn", node, source.paths().get(0), source.paths().get(1), CHURN);
                node.suspend(FLOOD_MS, () -> {}); // more closed files than the queue of their reports holds
                report.fault("reports flooded", 1);
            }
            case SHIFT_CLOCK -> report.fault("clock jump", world.machine().shiftClock(random));
            case SQUEEZE_MEMORY -> {
                reads.awaitRoomForMore();
                report.fault("memory squeezed", world.machine().squeeze(random, reading));
            }
            case LIE -> {
                if (world.peers() != null) {
                    world.peers().lie();
                }
            }
            case REMOUNT -> endings.remount(mortal);
            case REMOUNT_UNLISTED -> endings.remountUnlisted(when(), mortal);
            case REMOUNT_ON_FAILING_DISK -> endings.remountOnFailingDisk(when(), mortal);
        }
    }
}
