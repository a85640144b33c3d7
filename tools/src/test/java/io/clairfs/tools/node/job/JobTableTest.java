package io.clairfs.tools.node.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import io.clairfs.tools.TorchStates;
import io.clairfs.tools.node.UnmountedNode;
import io.clairfs.tools.node.cluster.GroupJobs;
import io.clairfs.tools.node.control.JobControl;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jobs of a node without a mount, with real files, a real index and a real prefetcher that stages into memory. */
final class JobTableTest {
    private static final int SAMPLES = 400;

    private final AtomicLong now = new AtomicLong();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private UnmountedNode node;

    @SuppressWarnings("NullAway.Init")
    private ErrorLog errors;

    @SuppressWarnings("NullAway.Init")
    private Indexes indexes;

    @SuppressWarnings("NullAway.Init")
    private Prefetcher prefetcher;

    @SuppressWarnings("NullAway.Init")
    private JobTable jobs;

    @BeforeEach
    void start() throws Exception {
        node = new UnmountedNode(directory, SAMPLES);
        errors = node.errors;
        prefetcher = node.prefetcher;
        indexes = node.indexes;
        jobs = table(null);
    }

    private JobTable table(@Nullable GroupJobs group) {
        return new JobTable(indexes, prefetcher, group, errors, now::get);
    }

    @AfterEach
    void end() throws Exception {
        node.close();
    }

    private static JobSpec spec(String line) throws Exception {
        return JobSpec.parse(line);
    }

    private List<String> names() {
        return jobs.present().stream().map(JobSpec::name).toList();
    }

    private List<String> seeds() {
        return prefetcher.jobs().stream().map(run -> run.spec().seed()).toList();
    }

    private List<String> messages() {
        return errors.lines().stream().map(ErrorLog.Line::message).toList();
    }

    private String listed() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(1 << 16);
            int length = control().content().read(0, into);
            return new String(into.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        }
    }

    private JobControl control() {
        return new JobControl(indexes, jobs, prefetcher.looks(), errors);
    }

    @Test
    void ranksHere_areToldWhileTheyChange() throws Exception {
        Thread changes = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 20_000; i++) {
                jobs.readHere("job-" + i % 3, new Ranks(0, 0));
                jobs.end("job-" + i % 3);
            }
        });
        while (changes.isAlive()) {
            assertThat(jobs.ranksHere()).hasSizeLessThanOrEqualTo(3);
        }
        changes.join();
        assertThat(jobs.ranksHere()).isEmpty();
    }

    @Test
    void begin_aJobRunsAndIsListed() throws Exception {
        jobs.begin(spec("name=a seed=3 sampler=sequential"));
        jobs.begin(spec("name=b seed=4"));
        assertThat(names()).containsExactly("a", "b");
        assertThat(prefetcher.jobs()).extracting(JobRun::spec).isEqualTo(jobs.present());
        assertThat(jobs.isKnown("a")).isTrue();
        assertThat(jobs.isKnown("c")).isFalse();
        assertThat(jobs.present("c")).isNull();
        assertThat(listed()).isEqualTo("""
                        name=a sampler=sequential seed=3 world=1 ranks=0-0
                        name=b sampler=torch-distributed seed=4 world=1 ranks=0-0
                        """);
        assertThat(errors.total()).isZero();
    }

    @Test
    void questions_whileAChangeTakesLong_areAnswered() throws Exception {
        jobs.begin(spec("name=a seed=3"));
        JobTable changed = jobs;
        synchronized (changed) { // as long as the orders of a large job are computed
            Thread asks = Thread.ofVirtual().start(() -> {
                assertThat(listed()).contains("name=a ");
                assertThat(jobs.isKnown("a")).isTrue();
                assertThat(jobs.found()).isNull();
                assertThat(jobs.hasWritten()).isTrue();
                assertThat(jobs.isWrittenFollowed()).isTrue();
                assertThat(jobs.unfinished()).hasSize(1);
                assertThat(jobs.announced()).isEmpty();
            });
            assertThat(asks.join(Duration.ofMinutes(1))).isTrue();
        }
    }

    @Test
    void begin_withTheNameOfAnother_takesItsPlace() throws Exception {
        jobs.begin(spec("name=a seed=3"));
        JobRun before = prefetcher.jobs().getFirst();
        jobs.begin(spec("name=a seed=5"));
        assertThat(seeds()).containsExactly("5");
        assertThat(prefetcher.jobs()).doesNotContain(before);
    }

    @Test
    void end_theJobIsGone_andTheOthersGoOn() throws Exception {
        jobs.begin(spec("name=a seed=3"));
        jobs.begin(spec("name=b seed=4"));
        jobs.end("a");
        jobs.end("never there");
        assertThat(names()).containsExactly("b");
        assertThat(seeds()).containsExactly("4");
        assertThat(jobs.isKnown("a")).isFalse();
    }

    @Test
    void begin_thatTheDatasetRefuses_isOneLineInErrors_andKeepsNoOtherFromRunning() throws Exception {
        jobs.begin(spec("name=bad subset=missing"));
        jobs.begin(spec("name=good"));
        assertThat(names()).containsExactly("good");
        assertThat(messages()).containsExactly("job bad not started: subset=missing is not a directory of the dataset");
    }

    @Test
    void ranksOfAJobToCome_areListed_andItsOwnWhenItComes() throws Exception {
        jobs.readHere("later", Ranks.parse("1-2"));
        assertThat(jobs.announced()).hasSize(1);
        assertThat(jobs.ranksHere()).containsExactly(Map.entry("later", Ranks.parse("1-2")));
        assertThat(listed()).isEqualTo("name=later ranks=1-2\n");
        jobs.begin(spec("name=later world=4 ranks=0-3"));
        assertThat(jobs.announced()).isEmpty();
        jobs.readHere("later", Ranks.parse("3"));
        assertThat(prefetcher.jobs())
                .singleElement()
                .satisfies(run -> assertThat(run.spec().ranks()).isEqualTo(Ranks.parse("3")));
        JobRun run = prefetcher.jobs().getFirst();
        jobs.readHere("later", Ranks.parse("3"));
        assertThat(prefetcher.jobs()).as("the same ranks begin nothing anew").containsExactly(run);
    }

    @Test
    void ranksThatChange_leaveTheTrainersWhereTheyAre() throws Exception {
        jobs.begin(spec("name=a seed=3 batch=4 epochs=5 world=2 ranks=0-1"));
        JobRun run = prefetcher.job("a").orElseThrow();
        for (int epoch = 0; epoch < 2; epoch++) {
            EpochOrder order = run.orders().epoch(epoch);
            for (int step = 0; step < (epoch == 0 ? SAMPLES / 2 : 40); step++) {
                for (int rank = 0; rank < 2; rank++) {
                    prefetcher.read(new int[] {run.index().file(order.sample(rank, step))}, 1);
                }
            }
        }
        jobs.readHere("a", Ranks.parse("1"));
        JobRun now = prefetcher.job("a").orElseThrow();
        assertThat(now).isNotSameAs(run);
        assertThat(now.spec().ranks()).isEqualTo(Ranks.parse("1"));
        assertThat(now.progress().epoch()).isEqualTo(1);
        assertThat(now.progress().position()).isBetween(30, 40);
    }

    // Promise D2
    @Test
    void ranksOfAJobToCome_areThoseThatTheProcessBeforeThisOneWasTold() throws Exception {
        jobs.readHere("later", Ranks.parse("1"));
        jobs.begin(spec("name=now world=4 ranks=2-3"));
        Map<String, Ranks> announced = jobs.announced();
        assertThat(announced).containsExactly(Map.entry("later", Ranks.parse("1")));
        jobs.end("now");

        jobs = table(node.closing(new GroupJobs("here", errors)));
        jobs.goOn(List.of(), announced);
        assertThat(jobs.announced()).hasSize(1);
        Job later = new Job("later", "name=later seed=1 world=2", Map.of("another", "0"));
        jobs.follow(new Jobs.Known(Map.of("later", later), Set.of()));
        assertThat(prefetcher.jobs())
                .singleElement()
                .satisfies(run -> assertThat(run.spec().ranks()).isEqualTo(Ranks.parse("1")));
        assertThat(jobs.announced()).isEmpty();
    }

    /** As many lines as there may be jobs, with these keys beside the name. */
    private static String sixtyFour(String keys) {
        return IntStream.range(0, 64)
                .mapToObj(i -> "name=j" + i + " " + keys + "\n")
                .collect(Collectors.joining());
    }

    @Test
    void sixtyFiveJobs_areRefusedAltogether_andOneLess_isNot() throws Exception {
        String all = sixtyFour("sampler=sequential");
        assertThatThrownBy(() -> control().accept(all + "name=one-more\n"))
                .isInstanceOf(ControlFile.RejectedException.class);
        assertThat(jobs.present()).isEmpty();
        assertThat(messages()).singleElement().asString().contains("there are 64 jobs already; stop one first");
        control().accept(all);
        assertThat(jobs.present()).hasSize(64);
        control().accept("stop=j7\n");
        assertThat(names()).hasSize(63).doesNotContain("j7");
    }

    @Test
    void ranksOfMoreThanSixtyFourJobsToCome_areRefusedAltogether_andThoseOfAKnownOneMayChange() throws Exception {
        jobs = table(node.closing(new GroupJobs("here", errors)));
        String all = sixtyFour("ranks=0");
        assertThatThrownBy(() -> control().accept(all + "name=one-more ranks=0\n"))
                .isInstanceOf(ControlFile.RejectedException.class);
        assertThat(jobs.announced()).isEmpty();
        assertThat(messages()).singleElement().asString().contains("ranks of 64 jobs wait already");
        control().accept(all);
        control().accept("name=j7 ranks=1\n");
        assertThat(jobs.announced()).hasSize(64).containsEntry("j7", Ranks.parse("1"));
    }

    /** Writes the order of an epoch, which nobody writes any more. */
    private static void writeOrder(Path orders, int epoch, String lines) throws Exception {
        Path file = Files.writeString(orders.resolve(Integer.toString(epoch)), lines);
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
    }

    @Test
    void orderFilesOfTheFirstEpochs_mayBeEmpty_ifOneFollowsThatIsNot(@TempDir Path orders) throws Exception {
        String line = " sampler=order-file epochs=40 file=" + orders + "/{epoch}\n";
        writeOrder(orders, 0, "");
        writeOrder(orders, 1, "");
        control().accept("name=to-be-written" + line);
        for (int epoch = 2; epoch < AccessStream.MOST_EMPTY - 1; epoch++) {
            writeOrder(orders, epoch, "");
        }
        writeOrder(orders, AccessStream.MOST_EMPTY - 1, "0\n1\n");
        control().accept("name=late" + line);
        assertThat(names()).containsExactly("to-be-written", "late");

        writeOrder(orders, AccessStream.MOST_EMPTY - 1, "");
        writeOrder(orders, AccessStream.MOST_EMPTY, "0\n1\n");
        assertThatThrownBy(() -> control().accept("name=never" + line))
                .isInstanceOf(ControlFile.RejectedException.class)
                .hasMessageContaining("its ranks here would read no sample: no order file of its first epochs");
        assertThatThrownBy(() -> control().accept("name=short" + line.replace("epochs=40", "epochs=2")))
                .isInstanceOf(ControlFile.RejectedException.class)
                .hasMessageContaining("its ranks here would read no sample");
        assertThat(names()).containsExactly("to-be-written", "late");
    }

    // Promise S2
    @Test
    void jobOfAUser_replacesTheFoundOne_andNoneIsFoundWhileItIsFollowed() throws Exception {
        assertThat(jobs.beginFound(spec("name=found seed=3"), new int[0])).isTrue();
        assertThat(jobs.isWrittenFollowed()).isFalse();
        jobs.begin(spec("name=mine seed=4"));
        assertThat(names()).containsExactly("mine");
        assertThat(jobs.found()).isNull();
        assertThat(jobs.isWrittenFollowed()).isTrue();
        assertThat(jobs.beginFound(spec("name=found seed=3"), new int[0])).isFalse();
        assertThat(names()).containsExactly("mine");
        jobs.end("mine");
        assertThat(jobs.beginFound(spec("name=found seed=3"), new int[0])).isTrue();
        jobs.begin(spec("name=found seed=5"));
        assertThat(seeds()).as("a user's job may have its name").containsExactly("5");
        assertThat(jobs.found()).isNull();
    }

    // Promise S7
    @Test
    void trainerThatComesBackToTheJobOfAUser_isFollowedThere_andNoJobIsFound() throws Exception {
        JobSpec mine = spec("name=mine seed=3 epochs=9");
        jobs.begin(mine);
        JobRun run = prefetcher.jobs().getFirst();
        SampleIndex index = indexes.of("");
        EpochOrder first = mine.sampler(index).epoch(0);
        for (int i = 0; i < SAMPLES / 2; i++) {
            run.read(index.file(first.sample(0, i)));
        }
        Random random = new Random(5);
        while (!run.isLost()) {
            run.read(index.file(random.nextInt(SAMPLES)));
            if (run.wantsSearch()) {
                run.search();
            }
        }
        EpochOrder order = mine.sampler(index).epoch(4);
        int[] read =
                IntStream.range(0, 45).map(i -> index.file(order.sample(0, i))).toArray();
        for (int file : read) { // too few for the next search
            run.read(file);
        }
        assertThat(jobs.isWrittenFollowed()).isFalse();
        assertThat(jobs.beginFound(spec("name=found seed=7"), read)).isFalse();
        assertThat(names()).containsExactly("mine");
        assertThat(jobs.isWrittenFollowed()).isTrue();
        assertThat(run.epoch()).isEqualTo(4);
    }

    // Promise S4
    @Test
    void foundJob_isFollowedByTheNextProcess_thoughAUsersJobThatWasLeftGoesOnToo() throws Exception {
        JobSpec mine = spec("name=mine seed=3 epochs=9");
        JobSpec found = spec("name=found seed=7");
        jobs.goOn(
                List.of(new UnfinishedJob(mine, new long[0], false), new UnfinishedJob(found, new long[0], true)),
                Map.of());
        assertThat(jobs.found()).isNotNull();
        assertThat(jobs.isWrittenFollowed()).as("nobody has read").isFalse();

        JobRun run = prefetcher.job("mine").orElseThrow();
        SampleIndex index = indexes.of("");
        Random random = new Random(5);
        while (!run.isLost()) {
            assertThat(jobs.isWrittenFollowed()).isFalse();
            run.read(index.file(random.nextInt(SAMPLES)));
            if (run.wantsSearch()) {
                run.search();
            }
        }
        assertThat(jobs.isWrittenFollowed()).isFalse();
        EpochOrder order = mine.sampler(index).epoch(4);
        for (int i = 0; run.isLost(); i++) {
            run.read(index.file(order.sample(0, i)));
            if (run.wantsSearch()) {
                run.search();
            }
        }
        assertThat(jobs.isWrittenFollowed()).as("its trainer has come back").isTrue();
    }

    @Test
    void foundJob_hasReadWhatItsTrainerHad_andIsStoppedLikeAnother() throws Exception {
        SampleIndex index = indexes.of("");
        JobSpec spec = spec("name=found seed=3");
        EpochOrder order = spec.sampler(index).epoch(0);
        int[] read =
                IntStream.range(0, 8).map(i -> index.file(order.sample(0, i))).toArray();
        assertThat(jobs.beginFound(spec, read)).isTrue();
        JobRun run = jobs.found();
        assertThat(run).isNotNull().isIn(prefetcher.jobs());
        assertThat(run.progress().position()).isEqualTo(8);
        control().accept("stop=found\n");
        assertThat(jobs.present()).isEmpty();
        assertThat(jobs.found()).isNull();
    }

    @Test
    void inAGroup_noJobIsFound() throws Exception {
        jobs = table(node.closing(new GroupJobs("here", errors)));
        assertThat(jobs.beginFound(spec("name=found seed=3"), new int[0])).isFalse();
        assertThat(jobs.present()).isEmpty();
    }

    @Test
    void follow_startsChangesAndStopsWhatTheGroupSays() throws Exception {
        GroupJobs group = node.closing(new GroupJobs("here", errors));
        jobs = table(group);
        Job first = new Job("g", "name=g seed=1 world=2", Map.of("here", "1"));
        Map<String, Ranks> here = jobs.follow(new Jobs.Known(Map.of("g", first), Set.of()));
        assertThat(here).containsExactly(Map.entry("g", Ranks.parse("1")));
        assertThat(seeds()).containsExactly("1");
        JobRun run = prefetcher.jobs().getFirst();
        jobs.follow(new Jobs.Known(Map.of("g", first), Set.of()));
        assertThat(prefetcher.jobs()).containsExactly(run);
        Job changed = new Job("g", "name=g seed=2 world=2", Map.of());
        jobs.follow(new Jobs.Known(Map.of("g", changed), Set.of()));
        assertThat(seeds()).containsExactly("2");
        jobs.follow(new Jobs.Known(Map.of(), Set.of("g")));
        assertThat(jobs.present()).isEmpty();
        assertThat(jobs.isKnown("g")).as("a late stop of it is no error").isTrue();
    }

    @Test
    void follow_aJobThatRuns_keepsItsRanks_whenAFileThatItsLineNamesIsGone() throws Exception {
        Path state = directory.resolveSibling("state-" + directory.getFileName());
        TorchStates.write(state);
        jobs = table(node.closing(new GroupJobs("here", errors)));
        String line =
                spec("name=g sampler=torch-state state=" + state + " world=1").lineForAll();
        Jobs.Known known = running(new Job("g", line, Map.of("here", "0")));
        assertThat(jobs.follow(known)).containsExactly(Map.entry("g", Ranks.parse("0")));
        JobRun run = prefetcher.jobs().getFirst();

        Files.delete(state);
        assertThat(jobs.follow(known)).containsExactly(Map.entry("g", Ranks.parse("0")));
        TorchStates.write(state);
        assertThat(jobs.follow(known)).containsExactly(Map.entry("g", Ranks.parse("0")));
        assertThat(prefetcher.jobs()).containsExactly(run);
        assertThat(messages()).isEmpty();
        Files.delete(state);
    }

    /** As where a job in its place could not be started, because a file did not answer. */
    @Test
    void follow_aJobThatGoesOn_thoughItWasNotTheLastToBeStarted_endsWithTheGroups() throws Exception {
        jobs = table(node.closing(new GroupJobs("here", errors)));
        JobRun _ = prefetcher.start(spec("name=g seed=1"), indexes.of(""), true);
        jobs.follow(new Jobs.Known(Map.of(), Set.of("g")));
        assertThat(prefetcher.jobs()).isEmpty();
    }

    private static Jobs.Known running(Job... known) {
        return new Jobs.Known(Arrays.stream(known).collect(Collectors.toMap(Job::name, job -> job)), Set.of());
    }

    @Test
    void follow_aJobThatTheGroupHasLost_isToldAgain_butNotForAMomentWithoutIt() throws Exception {
        GroupJobs group = node.closing(new GroupJobs("here", errors));
        jobs = table(group);
        Job job = new Job("g", "name=g seed=1 world=2", Map.of("here", "1"));
        for (int merges = 0; merges < 2; merges++) {
            jobs.follow(running(job));
            jobs.follow(running());
            now.addAndGet(TimeUnit.MILLISECONDS.toNanos(4_900));
            jobs.follow(running());
            assertThat(group.hasUntold()).isFalse();
        }
        now.addAndGet(TimeUnit.MILLISECONDS.toNanos(200));
        jobs.follow(running());
        assertThat(group.hasUntold()).isTrue();
    }

    @Test
    void follow_aJobThatWasStoppedInTheOtherHalfOfTheGroup_isNotStartedAgain_whenTheyMerge() throws Exception {
        GroupJobs group = node.closing(new GroupJobs("here", errors));
        jobs = table(group);
        jobs.follow(running(new Job("g", "name=g seed=1 world=2", Map.of("here", "1"))));
        jobs.follow(running()); // this half's jobs are forgotten, those of the other are still to come
        jobs.follow(new Jobs.Known(Map.of(), Set.of("g")));
        assertThat(jobs.present()).isEmpty();
        assertThat(group.hasUntold()).isFalse();
    }

    @Test
    void follow_whileTheGroupHasNotHeardOfAJobHere_changesNothing() throws Exception {
        jobs = table(node.closing(new GroupJobs("here", errors)));
        jobs.begin(spec("name=mine"));
        jobs.follow(new Jobs.Known(Map.of(), Set.of("mine")));
        assertThat(names()).containsExactly("mine");
    }
}
