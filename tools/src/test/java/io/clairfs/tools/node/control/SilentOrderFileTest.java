package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.Await;
import io.clairfs.fs.control.ControlFile.UnavailableException;
import io.clairfs.fs.control.ControlTree.FileNode;
import io.clairfs.fs.control.ControlTree.Node;
import io.clairfs.tools.node.UnmountedNode;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.JobTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job whose order file does not answer, as the control files show it. The dataset, its index and the prefetcher are real; a look at an order file
 * is taken at once, or put aside as long as the file is silent. Nobody waits for one that was put aside.
 */
@Timeout(300)
final class SilentOrderFileTest {
    private static final int SAMPLES = 40;

    /** More than a job keeps the orders of. */
    private static final int EPOCHS = 200;

    private final List<Runnable> untaken = new CopyOnWriteArrayList<>();
    private final FileLooks looks = new FileLooks(this::look, _ -> 0);
    private volatile boolean isSilent;

    @SuppressWarnings("NullAway.Init")
    private UnmountedNode node;

    @SuppressWarnings("NullAway.Init")
    private ErrorLog errors;

    @SuppressWarnings("NullAway.Init")
    private Prefetcher prefetcher;

    @SuppressWarnings("NullAway.Init")
    private JobTable jobs;

    @SuppressWarnings("NullAway.Init")
    private JobControl control;

    @SuppressWarnings("NullAway.Init")
    private OrderFiles orders;

    @SuppressWarnings("NullAway.Init")
    private WhereFiles where;

    /** The keys of a job with an order file. */
    @SuppressWarnings("NullAway.Init")
    private String inFile;

    private void look(Runnable look) {
        if (isSilent) {
            untaken.add(look);
        } else {
            look.run();
        }
    }

    private void answer() {
        isSilent = false;
        untaken.forEach(Runnable::run);
        untaken.clear();
    }

    @BeforeEach
    void start(@TempDir Path dataset, @TempDir Path written) throws Exception {
        Path order = Files.write(
                written.resolve("order"),
                IntStream.range(0, SAMPLES).mapToObj(Integer::toString).toList());
        Files.setLastModifiedTime(order, FileTime.fromMillis(0));
        inFile = " sampler=order-file epochs=" + EPOCHS + " file=" + order;
        node = new UnmountedNode(dataset, SAMPLES, looks);
        errors = node.errors;
        prefetcher = node.prefetcher;
        Indexes indexes = node.indexes;
        jobs = new JobTable(indexes, prefetcher, null, errors, System::nanoTime);
        control = new JobControl(indexes, jobs, prefetcher.looks(), errors);
        orders = new OrderFiles(jobs, prefetcher, errors);
        where = new WhereFiles(node.dataset.tree, indexes, prefetcher, _ -> null, errors);
    }

    @AfterEach
    void end() throws Exception {
        node.close();
    }

    private List<String> names() {
        return jobs.present().stream().map(JobSpec::name).toList();
    }

    private List<String> running() {
        return prefetcher.jobs().stream().map(run -> run.spec().name()).toList();
    }

    private JobRun run(String name) {
        return prefetcher.job(name).orElseThrow();
    }

    /** The writer gets EIO, and the last line of the errors says why. */
    private void assertUnanswered(ThrowingCallable asked) {
        assertUnanswered(Errno.EIO, asked);
    }

    private void assertUnanswered(int errno, ThrowingCallable asked) {
        long before = errors.total();
        assertThatThrownBy(asked)
                .isInstanceOfSatisfying(
                        UnavailableException.class, e -> assertThat(e.errno()).isEqualTo(errno));
        assertThat(errors.total()).as("one line").isEqualTo(before + 1);
        assertThat(errors.lines().getLast().message())
                .contains("order file ")
                .endsWith(" does not answer: look at its file system");
    }

    private static String read(@Nullable Node node) throws UnavailableException {
        assertThat(node).isInstanceOf(FileNode.class);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(1 << 16);
            int length = node instanceof FileNode(var file) ? file.content().read(0, into) : 0;
            return new String(into.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), UTF_8);
        }
    }

    private String order(String job, int epoch, String file) throws UnavailableException {
        return read(orders.orders(List.of(job, Integer.toString(epoch), file)));
    }

    private String where() throws UnavailableException {
        return read(where.find(List.of("s000007")));
    }

    // Promise J22
    @Test
    void jobLine_isRefusedInOneLine_andTheSameIsTakenWhenTheFileAnswers() throws Exception {
        control.accept("name=mine seed=3\n");
        JobRun mine = run("mine");
        isSilent = true;
        assertUnanswered(() -> control.accept("name=silent" + inFile));
        assertUnanswered(() -> control.accept("name=silent" + inFile));
        assertUnanswered(() -> control.accept("name=one seed=1\nname=two" + inFile + "\nname=three seed=3\n"));
        assertUnanswered(() -> control.accept("name=mine" + inFile));
        assertThat(untaken).as("a file that is silent is looked at once").hasSize(1);
        assertThat(names()).containsExactly("mine");
        assertThat(prefetcher.jobs()).as("it has not been replaced").containsExactly(mine);
        assertThat(jobs.ranksHere()).doesNotContainKey("silent");
        assertThat(jobs.isKnown("silent")).isFalse();
        control.accept("name=other seed=4\n");
        assertThat(running()).containsExactly("mine", "other");

        answer();
        control.accept("name=silent" + inFile);
        assertThat(running()).containsExactly("mine", "other", "silent");
        control.accept("stop=silent\n");
        assertThat(names()).containsExactly("mine", "other");
    }

    // Promise J22
    @Test
    void jobThatNobodyWaitsFor_beginsWithoutItsOrder_andIsStagedWhenItIsRead() throws Exception {
        isSilent = true;
        jobs.begin(JobSpec.parse("name=silent" + inFile)); // as on another node, or when the dataset is listed
        assertThat(running()).containsExactly("silent");
        assertThat(errors.lines()).noneMatch(line -> line.message().contains("not started"));
        JobRun run = run("silent");
        Await.until("its samples are staged", () -> run.stream(0).stagedAhead() > 0);
    }

    // Promise J22
    @Test
    void orderOfATrainer_isOneLine_andTheTrainerWaitsAsForAFileStillToBeWritten() throws Exception {
        control.accept("name=mine seed=3 epochs=2\nname=silent" + inFile);
        String before = order("silent", EPOCHS - 2, "0.i64");
        isSilent = true;
        assertUnanswered(Errno.EAGAIN, () -> order("silent", EPOCHS - 1, "0"));
        assertUnanswered(Errno.EAGAIN, () -> order("silent", EPOCHS - 1, "0.i64"));
        assertThat(untaken).hasSize(1);
        assertThat(order("silent", EPOCHS - 2, "0.i64"))
                .as("what another rank has read last")
                .isEqualTo(before);
        assertThat(order("mine", 1, "0").lines()).hasSize(SAMPLES);
        assertThat(running()).containsExactly("mine", "silent");

        answer();
        assertThat(order("silent", EPOCHS - 1, "0").lines().toList())
                .isEqualTo(
                        IntStream.range(0, SAMPLES).mapToObj(Integer::toString).toList());
        assertThat(order("silent", EPOCHS - 1, "0.i64")).hasSize(SAMPLES * Long.BYTES);
    }

    // Promise J22
    @Test
    void where_needsNoFileOfAnOrderThatIsKept_andIsAnErrorWhileAnotherIsSilent() throws Exception {
        control.accept("name=kept" + inFile.replace("epochs=" + EPOCHS, "epochs=1"));
        Await.until("its order is there", () -> run("kept").orders().kept(0) != null);
        isSilent = true;
        assertThat(where()).contains("\"job\":\"kept\"");
        assertThat(untaken).isEmpty();

        jobs.begin(JobSpec.parse("name=later" + inFile + ".{epoch}"));
        assertThatThrownBy(this::where)
                .isInstanceOfSatisfying(
                        UnavailableException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
        assertThat(errors.lines())
                .anyMatch(line -> line.message().startsWith("where: order file ")
                        && line.message().endsWith(" does not answer: look at its file system"));

        answer();
        assertThat(where()).contains("\"job\":\"kept\"");
    }
}
