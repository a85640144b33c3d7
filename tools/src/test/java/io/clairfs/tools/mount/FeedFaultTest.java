package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Feeders whose job is replaced, or in whose place another one comes, and loaders to a device whose feed fails or is interrupted. */
@Timeout(600)
final class FeedFaultTest {
    private static final String RAW = "raw,dtype=uint8,shape=132";

    /** What every script here begins with: a job is written, and there is as much of torch as a loader to a device uses. */
    private static final String HEAD = """
            import contextlib, os, signal, types
            from clairfs_feed import _Ahead

            raw = "RAW"

            def job(line):
                with open(mount + "/.clairfs/job", "w") as file:
                    file.write(line + "\\n")

            def numbers(indices):
                return [int(i) for i in indices]

            def why(batches):
                try:
                    for batch in batches:
                        pass
                    raise AssertionError("it goes on")
                except FeedError as e:
                    print(e)

            class Copy:
                def __init__(self, array):
                    self.numbers = numbers(array)
                def record_stream(self, stream):
                    pass

            class Tensor:
                def __init__(self, array):
                    self.array = array
                def to(self, device, non_blocking):
                    return Copy(self.array)

            class Event:
                def record(self, stream):
                    pass
                def synchronize(self):
                    pass

            def context(_):
                return contextlib.nullcontext()

            stream = types.SimpleNamespace(wait_event=lambda event: None)
            torch = types.SimpleNamespace(cuda=types.SimpleNamespace(
                device=context, stream=context, Stream=object, Event=Event, current_stream=lambda device: stream))

            def ahead_of(f, batches, tensors=lambda arrays: [Tensor(arrays[2])]):
                f.pin = lambda: False
                return _Ahead(types.SimpleNamespace(_feed=f, _torch=torch, _device="cuda", _tensors=tensors), batches)
            """.replace("RAW", RAW);

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private static LiveMount mount;

    @BeforeAll
    static void mountSamples() throws IOException, InterruptedException {
        source = FIXTURE.newDirectory("source");
        FeedSamples.make(source);
        mount = FIXTURE.mount(source);
        mount.awaitReady();
    }

    @AfterEach
    void stopJobs() throws IOException {
        mount.stopJobs();
    }

    private static List<String> run(String script) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(FIXTURE.pythonCommand("feed_trainer.py", mount.point(), source, HEAD + script));
        command.addAll(Clairfs.command());
        return Ended.run(command, FIXTURE.environment()).succeeded().lines().toList();
    }

    /** The same for scripts that start their feeders. */
    private static List<String> train(String script) throws IOException, InterruptedException {
        List<String> lines = run(script);
        assertThat(FIXTURE.processes()).as("only the daemon is left").hasSize(1);
        return lines;
    }

    private static String order(String job) throws IOException {
        return String.join(" ", mount.order(job, 0, 0));
    }

    @Test
    void a_trainer_that_comes_right_behind_a_new_job_is_fed_that_one_or_told_why_not() throws Exception {
        mount.job("name=anew seed=1 epochs=1 batch=16 subset=train");
        String before = order("anew");
        Process feeder = FIXTURE.start(
                "anew",
                Clairfs.command("feed", mount.point().toString(), "--job", "anew", "--decode", RAW, "--threads", "2"));
        Path said = FIXTURE.directory().resolve("anew.err");
        Waiting.until(
                "the feeder waits for a trainer", () -> Files.readString(said).contains("waits for Feed("));
        List<String> lines = run("""
                job("name=anew seed=2 epochs=1 batch=16 subset=train")
                with Feed(mount, job="anew", command=None) as f:
                    print(*[i for _, _, indices in f for i in numbers(indices)])
                job("name=anew seed=3 epochs=1 subset=train")
                try:
                    Feed(mount, job="anew", command=None)
                    raise AssertionError("it feeds")
                except FeedError as e:
                    print(e)
                job("name=anew seed=2 epochs=1 batch=16 subset=train")
                with Feed(mount, job="anew", command=None) as f:
                    print(*[i for _, _, indices in f for i in numbers(indices)])
                """);
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).isEqualTo(order("anew")).isNotEqualTo(before);
        assertThat(lines.get(1)).contains("how many samples has a batch? give --batch N");
        assertThat(lines.get(2)).isEqualTo(lines.get(0));
        mount.job("stop=anew");
        assertThat(feeder.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(feeder.exitValue()).isZero();
        assertThat(Files.readString(said)).contains("the job 'anew' was replaced; feeds the new one");
    }

    @Test
    void a_trainer_whose_job_is_replaced_gets_the_rest_of_its_epoch_and_then_an_error() throws Exception {
        mount.job("name=old seed=7 epochs=2 batch=16 subset=train");
        String before = order("old");
        List<String> lines = train("""
                with feed(job="old", decode=raw, slots=2, threads=3) as f:
                    batches = iter(f)
                    read = numbers(next(batches)[2])
                    job("name=old seed=8 epochs=2 batch=16 subset=train")
                    for _, _, indices in batches:
                        read += numbers(indices)
                    print(*read)
                    why(f)
                """);
        assertThat(lines).containsExactly(before, "clairfs: the job 'old' was replaced: make the Feed again");
    }

    @Test
    void a_feeder_in_the_place_of_one_that_was_killed_feeds_the_same_or_nothing() throws Exception {
        mount.job("name=kept seed=7 epochs=1 batch=16 subset=train");
        String before = order("kept");
        List<String> lines = train("""
                def killed_behind(steps, change):
                    with feed(job="kept", decode=raw, slots=2, threads=2) as f:
                        batches = iter(f)
                        read = [i for _ in range(steps) for i in numbers(next(batches)[2])]
                        change(f._command)
                        os.kill(f._link.process.pid, signal.SIGKILL)
                        yield from read
                        for _, _, indices in batches:
                            yield from numbers(indices)
                def more_slots(command):
                    command[command.index("--slots") + 1] = "3"
                print(*killed_behind(2, lambda command: None))
                why(killed_behind(1, more_slots))
                why(killed_behind(1, lambda command: command.append("--drop-last")))
                why(killed_behind(2, lambda command: job("name=kept seed=8 epochs=1 batch=16 subset=train")))
                """);
        assertThat(lines).hasSize(4);
        assertThat(lines.get(0)).isEqualTo(before);
        assertThat(lines.get(1)).contains("was started again with slots=3 in place of 2: start it as before");
        assertThat(lines.get(2)).contains("was started again with another --decode, --on-device, --labels or --drop");
        assertThat(lines.get(3))
                .isEqualTo("clairfs: the job 'kept' was replaced while its feeder was started again: make the Feed"
                        + " again");
    }

    @Test
    void a_batch_that_cannot_be_copied_to_a_device_gives_its_slot_back() throws Exception {
        mount.job("name=full seed=2 epochs=1 batch=16 subset=train");
        List<String> lines = train("""
                class Refused:
                    def to(self, device, non_blocking):
                        raise RuntimeError("CUDA out of memory")
                with feed(job="full", decode=raw, slots=2, timeout_s=60) as f:
                    ahead, refused = ahead_of(f, iter(f), lambda arrays: [Refused()]), 0
                    while True:
                        try:
                            next(ahead)
                        except StopIteration:
                            break
                        except RuntimeError as e:
                            assert str(e) == "CUDA out of memory", e
                            refused += 1
                    print(refused)
                """);
        assertThat(lines).as("all batches of the epoch, through two slots").containsExactly("7");
    }

    @Test
    void an_interrupt_while_the_next_batch_is_awaited_costs_neither_a_batch_nor_a_slot() throws Exception {
        mount.job("name=stopped seed=2 epochs=1 batch=16 subset=train");
        List<String> lines = train("""
                class Interrupted:
                    def __init__(self, batches):
                        self.batches, self.again = batches, True
                    def __next__(self):
                        self.again = not self.again
                        if not self.again:
                            raise KeyboardInterrupt
                        return next(self.batches)
                with feed(job="stopped", decode=raw, slots=2, timeout_s=60) as f:
                    ahead, read, interrupts = ahead_of(f, Interrupted(iter(f))), [], 0
                    while True:
                        try:
                            read += next(ahead)[0].numbers
                        except KeyboardInterrupt:
                            interrupts += 1
                        except StopIteration:
                            break
                    print(*read)
                    print(interrupts)
                """);
        assertThat(lines).containsExactly(order("stopped"), "8");
    }

    @Test
    void a_feed_that_ends_costs_no_batch_that_is_on_the_device_and_its_own_error_is_the_last_word() throws Exception {
        mount.job("name=ends seed=2 epochs=1 batch=16 subset=train");
        List<String> lines = train("""
                with feed(job="ends", decode=raw, slots=2) as f:
                    begun, read = [], []
                    def tensors(arrays):
                        begun.append(numbers(arrays[2]))
                        return [Tensor(arrays[2])]
                    ahead = ahead_of(f, iter(f), tensors)
                    read.append(next(ahead)[0].numbers)
                    f._link.socket.send(b"x" * 39)  # the feeder refuses that, and ends
                    try:
                        while True:
                            read.append(next(ahead)[0].numbers)
                    except FeedError as e:
                        print(e)
                    assert len(read) >= 2 and read == begun, (read, begun)
                with feed(job="ends", decode=raw, slots=2) as f:
                    ahead, complaints = ahead_of(f, iter(f)), []
                    next(ahead)
                    f.close()
                    sys.unraisablehook = complaints.append
                    del ahead  # with a batch that nobody came for
                    assert not complaints, complaints
                """);
        assertThat(lines).singleElement().asString().startsWith("clairfs: the trainer sent 39 bytes in place of 40");
    }
}
