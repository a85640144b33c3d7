package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A feeder on a real mount, read by the trainer's module in Python. */
@Timeout(600)
final class FeedTest {

    private static final int SAMPLES = FeedSamples.SAMPLES;
    private static final int THREADS = 3;

    /**
     * A read counts as one out of turn when its thread stands still while the others read what the follower remembers. On a busy machine all but one
     * may, again and again.
     */
    private static final int MOST_OUT_OF_TURN = (THREADS - 1) * 2 * SAMPLES / 16;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private static LiveMount mount;

    @BeforeAll
    static void mountSamples() throws IOException, InterruptedException {
        source = FIXTURE.newDirectory("source");
        FeedSamples.make(source);
        Files.createDirectories(source.resolve("bad/a"));
        for (int i = 0; i < 8; i++) {
            Files.write(source.resolve("bad/a/" + i + ".jpg"), new byte[i == 3 ? 7 : 40]);
        }
        mount = FIXTURE.mount(source);
        mount.awaitReady();
    }

    @AfterEach
    void stopJobs() throws IOException {
        mount.stopJobs();
    }

    /** Runs a piece of a training script, which has {@code feed(...)} to make a feed of this build's program, and {@code root}, the source. */
    private static List<String> train(String script) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(FIXTURE.pythonCommand("feed_trainer.py", mount.point(), source, script));
        command.addAll(Clairfs.command());
        Ended ended = Ended.run(command, FIXTURE.environment());
        assertThat(FIXTURE.processes()).as("only the daemon is left").hasSize(1);
        return ended.succeeded().lines().toList();
    }

    private static List<String> order(String job, int epoch) throws IOException {
        return mount.order(job, epoch, 0);
    }

    @Test
    void bytes_labels_and_order_are_exact_over_two_epochs_with_an_incomplete_batch() throws Exception {
        mount.job("name=two seed=7 epochs=2 batch=16 subset=train");
        List<String> lines = train("""
                with feed(job="two", decode="raw,dtype=float32,shape=6x5,offset=12", threads=THREADS) as f:
                    assert f.epochs == 2 and f.shape == (6, 5) and f.dtype == numpy.float32
                    for epoch in range(f.first_epoch, f.epochs):
                        assert len(f) == 7, len(f)
                        read = []
                        sizes = []
                        for batch, labels, indices in f:
                            assert batch.ctypes.data % 4096 == 0 and batch.base is not None
                            sizes.append(len(batch))
                            for one, label, index in zip(batch, labels, indices):
                                check("two", int(index), int(label), one, 12)
                                read.append(int(index))
                        assert sizes == [16] * 6 + [7], sizes
                        print(*read)
                    try:
                        next(iter(f))
                        raise AssertionError("a third epoch")
                    except FeedError as e:
                        assert "has 2 epochs" in str(e), e
                    assert f.stats()["samples"] == 206 and f.stats()["feeder"]["samples"] == 206, f.stats()
                """.replace("THREADS", String.valueOf(THREADS)));
        assertThat(lines).hasSize(2);
        assertThat(List.of(lines.get(0).split(" ", -1))).isEqualTo(order("two", 0));
        assertThat(List.of(lines.get(1).split(" ", -1))).isEqualTo(order("two", 1));
        assertThat(lines.get(0)).isNotEqualTo(lines.get(1));
        JsonNode job = mount.await(
                "followed",
                s -> s.at("/jobs/0/done").asBoolean() || s.path("jobs").isEmpty());
        assertThat(job.at("/jobs/0/in_sync").asBoolean(true)).isTrue();
        assertThat(job.at("/jobs/0/deviations").asInt()).isLessThanOrEqualTo(MOST_OUT_OF_TURN);
    }

    @Test
    void a_run_resumes_at_a_step_and_goes_to_any_epoch() throws Exception {
        mount.job("name=again seed=3 epochs=4 batch=10 subset=train start_epoch=1 start_step=2");
        List<String> lines = train("""
                def read(f):
                    print(*[int(i) for _, _, indices in f for i in indices])
                with feed(job="again", decode="raw,dtype=uint8,shape=132", drop_last=True) as f:
                    assert f.first_epoch == 1 and f.epochs == 4
                    read(f)
                    read(f)
                    f.set_epoch(1, step=9)
                    read(f)
                    f.set_epoch(3)
                    for batch in f:
                        break
                    f.set_epoch(0)
                    read(f)
                with feed(job="again", decode="raw,dtype=uint8,shape=132", epoch=2, step=8, batch=12) as f:
                    read(f)
                """);
        assertThat(lines)
                .containsExactly(
                        joined(1, 20, 100),
                        joined(2, 0, 100),
                        joined(1, 90, 100),
                        joined(0, 0, 100),
                        joined(2, 96, 103));
    }

    private static String joined(int epoch, int from, int to) throws IOException {
        Path order = mount.control("order/again/" + epoch + "/0.i64");
        long[] numbers = new long[SAMPLES];
        java.nio.ByteBuffer.wrap(Files.readAllBytes(order))
                .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                .asLongBuffer()
                .get(numbers);
        return String.join(
                " ",
                IntStream.range(from, to)
                        .mapToObj(i -> Long.toString(numbers[i]))
                        .toList());
    }

    @Test
    void two_ranks_are_fed_at_once_and_the_status_shows_their_feeders_while_they_run() throws Exception {
        mount.job("name=both seed=5 epochs=1 batch=8 world=2 ranks=0-1 subset=train");
        List<String> lines = train("""
                import json, os, signal, time
                def content(file):
                    with open(mount + "/.clairfs/" + file, "rb", buffering=0) as opened:
                        return opened.readall()
                def feeders():
                    return {f["rank"]: f for f in json.loads(content("status.json"))["jobs"][0]["feeders"]}
                def shown():
                    return [l.strip() for l in content("status").decode().splitlines() if "feeder of rank" in l]
                def wait(what, look, condition):  # a feeder that has been held up for some seconds is not shown until it reports again
                    end = time.monotonic() + 120
                    while not condition(now := look()):
                        assert time.monotonic() < end, (what, now)
                        time.sleep(0.1)
                    return now
                def held_up(f):
                    pid = f._link.process.pid  # its ring has four of the seven batches at most
                    poll = f._link._poll
                    def poll_and_go_on(*what):  # called when there is no message to take
                        f._link._poll = poll
                        os.kill(pid, signal.SIGCONT)
                        poll(*what)
                    f._link._poll = poll_and_go_on
                    os.kill(pid, signal.SIGSTOP)
                    while open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] != "T":
                        time.sleep(0.001)
                options = dict(job="both", decode="raw,dtype=uint8,shape=132", threads=2)
                with feed(rank=0, **options) as first, feed(rank=1, **options) as second:
                    wait("both report", feeders, lambda now: sorted(now) == [0, 1])
                    for f in (first, second):
                        held_up(f)
                        print(*[int(i) for _, _, indices in f for i in indices])
                    waited = [f.stats()["waited_s"] for f in (first, second)]
                    assert min(waited) > 0, waited
                    now = wait("both have fed all", feeders, lambda now: sorted(now) == [0, 1] and all(
                        of["batches"] == 7 and abs(of["waited_seconds"] - waited[rank]) < 1e-5 for rank, of in now.items()))
                    for rank, of in now.items():
                        assert of["samples"] == 52 and of["bad"] == 0 and of["bytes"] == 52 * 132, of
                        assert of["slots"] == 4 and of["pid"] > 0 and of["read_seconds"] > 0, of
                    print(*wait("both are shown", shown, lambda lines: len(lines) == 2), sep="; ")
                wait("both are gone", feeders, lambda now: now == {})
                """);
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).isEqualTo(String.join(" ", mount.order("both", 0, 0)));
        assertThat(lines.get(1)).isEqualTo(String.join(" ", mount.order("both", 0, 1)));
        assertThat(lines.get(2))
                .matches("feeder of rank 0: \\d of 4 batches ready, 7 fed \\(0 bad\\), .*; feeder of rank 1: .*");
    }

    @Test
    void a_bad_sample_is_an_error_of_its_batch_alone_with_its_path() throws Exception {
        mount.job("name=bad sampler=sequential epochs=1 batch=2 subset=bad");
        List<String> lines = train("""
                with feed(job="bad", decode="raw,dtype=int64,shape=5", labels="none") as f:
                    batches = iter(f)
                    while True:
                        try:
                            batch, labels, indices = next(batches)
                            print(*indices, *labels)
                        except SampleError as e:
                            print(e)
                        except StopIteration:
                            break
                """);
        assertThat(lines).hasSize(4);
        assertThat(lines.get(0)).isEqualTo("0 1 -1 -1");
        assertThat(lines.get(1))
                .startsWith("clairfs: epoch 0, batch 1: sample 3 (" + mount.point() + "/bad/a/3.jpg): ")
                .contains("7 bytes");
        assertThat(lines.get(2)).isEqualTo("4 5 -1 -1");
        assertThat(lines.get(3)).isEqualTo("6 7 -1 -1");
    }

    @Test
    void tensors_come_as_from_a_loader_and_held_batches_stay_valid() throws Exception {
        mount.job("name=torch seed=1 epochs=1 batch=20 subset=train");
        List<String> lines = train("""
                import torch
                with feed(job="torch", decode="raw,dtype=uint8,shape=132", slots=4, hold=3) as f:
                    loader, last = f.loader(indices=True), []
                    assert len(loader) == 6
                    for images, labels, indices in loader:
                        assert images.dtype == torch.uint8 and images.shape[1:] == (132,)
                        last = (last + [(images, labels, indices)])[-3:]
                        for i, l, n in last:
                            for one, label, index in zip(i, l, n):
                                check("torch", int(index), int(label), one.numpy(), 0)
                    assert f.pin() == torch.cuda.is_available()
                print("done")
                """);
        assertThat(lines).containsExactly("done");
    }

    @Test
    void what_cannot_be_fed_is_one_clear_line() throws Exception {
        mount.job("name=here seed=1 epochs=1 subset=train");
        List<String> lines = train("""
                def why(**options):
                    try:
                        feed(**options)
                        raise AssertionError("it feeds " + str(options))
                    except FeedError as e:
                        print(e)
                why(job="nobody", decode="raw,dtype=uint8,shape=132")
                why(job="here", decode="raw,dtype=uint8,shape=132")
                why(job="here", decode="cubes", batch=4)
                why(job="here", decode="raw,dtype=uint8,shape=132", batch=4, rank=2)
                why(job="here")
                why(job="here", decode="raw,dtype=uint8,shape=132", command="/no/such/clairfs")
                why(job="here", command=None, timeout_s=0.2)
                why(job="here", decode="raw,dtype=uint8,shape=132", batch=4, step=3)
                """);
        assertThat(lines).hasSize(8).allSatisfy(line -> assertThat(line).startsWith("clairfs: "));
        assertThat(lines.get(0)).contains("there is no job 'nobody'", "clairfs job start");
        assertThat(lines.get(1)).contains("--batch N");
        assertThat(lines.get(2)).contains("cubes");
        assertThat(lines.get(3)).contains("rank 2");
        assertThat(lines.get(4)).contains("give decode=");
        assertThat(lines.get(5)).contains("/no/such/clairfs");
        assertThat(lines.get(6)).contains("start it: clairfs feed ");
        assertThat(lines.get(7)).contains("give epoch= too");
    }

    @Test
    void a_feeder_of_its_own_serves_one_trainer_after_another_until_its_job_ends() throws Exception {
        mount.job("name=own seed=9 epochs=1 batch=16 subset=train");
        Process feeder = FIXTURE.start(
                "feeder",
                Clairfs.command(
                        "feed",
                        mount.point().toString(),
                        "--job",
                        "own",
                        "--decode",
                        "raw,dtype=uint8,shape=132",
                        "--threads",
                        "2"));
        String script = """
                from clairfs_feed import Feed
                with Feed(mount, job="own", command=None) as f:
                    print(*[int(i) for _, _, indices in f for i in indices])
                """;
        for (int trainer = 0; trainer < 2; trainer++) {
            Ended ended = Ended.run(FIXTURE.pythonCommand("feed_trainer.py", mount.point(), source, script), Map.of());
            assertThat(ended.succeeded().strip()).isEqualTo(String.join(" ", order("own", 0)));
        }
        Ended second = FIXTURE.clairfs("feed", mount.point(), "--job", "own", "--decode", "raw,dtype=uint8,shape=132");
        assertThat(second.complainedWith(1)).contains("has a feeder already");
        mount.job("stop=own");
        assertThat(feeder.waitFor(120, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
        assertThat(feeder.exitValue()).isZero();
        assertThat(Files.readString(FIXTURE.directory().resolve("feeder.err"))).contains("fed 14 batches (0 bad)");
    }

    @Test
    void a_trainer_that_a_feeder_of_its_own_cannot_serve_is_told_why() throws Exception {
        mount.job("name=told seed=9 epochs=1 batch=16 subset=train");
        Process feeder = FIXTURE.start(
                "told",
                Clairfs.command(
                        "feed",
                        mount.point().toString(),
                        "--job",
                        "told",
                        "--decode",
                        "raw,dtype=uint8,shape=132",
                        "--threads",
                        "2"));
        String script = """
                import subprocess
                from clairfs_feed import Feed, FeedError
                def why(use):
                    try:
                        with Feed(mount, job="told", command=None) as f:
                            use(f)
                        raise AssertionError("it feeds")
                    except FeedError as e:
                        print(e)
                def stammer(f):
                    f._link.socket.send(b"x" * 39)
                    for batch in f:
                        pass
                why(stammer)
                subprocess.run(["prlimit", "--pid", "%d", "--fsize=8192:unlimited"], check=True)  # the ring has 24 KB
                why(list)
                """.formatted(feeder.pid());
        Ended ended = Ended.run(FIXTURE.pythonCommand("feed_trainer.py", mount.point(), source, script), Map.of());
        List<String> lines = ended.succeeded().lines().toList();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).startsWith("clairfs: the trainer sent 39 bytes in place of 40");
        assertThat(lines.get(1)).startsWith("clairfs: allocate ").contains("bytes of shared memory");
        mount.job("stop=told");
        assertThat(feeder.waitFor()).isZero();
    }

    @Test
    void what_a_feeder_says_last_is_heard_also_where_it_has_not_read_all_that_it_was_sent() throws Exception {
        assertThat(FIXTURE.python("""
                import socket, sys, types
                sys.path.insert(0, sys.argv[1] + "/.clairfs/python")
                import clairfs_feed
                link = clairfs_feed._Link(types.SimpleNamespace())
                link.socket, feeder = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                link.socket.setblocking(False)
                link.send(clairfs_feed._FREE, 0)
                feeder.send(clairfs_feed._TO_TRAINER.pack(clairfs_feed._FAILED, 0, 0, 0, 0, 0, 0) + b"no room")
                feeder.close()
                print(link.receive(60)[-1], link.receive(60))
                """, mount.point()).strip()).isEqualTo("no room None");
    }

    @Test
    void a_command_that_is_given_no_rank_takes_that_of_its_environment() throws Exception {
        mount.job("name=ranks seed=1 epochs=1 batch=4 subset=train");
        assertThat(feedWhereRankIs("7").complainedWith(1)).contains("rank 7 is none of the job 'ranks'");
        assertThat(feedWhereRankIs("first").complainedWith(2)).contains("RANK is 'first'", "give --rank R");
        assertThat(feedWhereRankIs("first", "--rank", "5").complainedWith(1)).contains("rank 5 is none of the job");
    }

    private static Ended feedWhereRankIs(String rank, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(Clairfs.command(
                "feed", mount.point().toString(), "--job", "ranks", "--decode", "raw,dtype=uint8,shape=132"));
        command.addAll(List.of(options));
        Map<String, String> environment = new TreeMap<>(FIXTURE.environment());
        environment.put("RANK", rank);
        return Ended.run(command, environment);
    }
}
