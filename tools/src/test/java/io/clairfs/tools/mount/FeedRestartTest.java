package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A feeder, and the loader of a trainer, whose mount's daemon is killed (-9) and started again. */
@Timeout(600)
final class FeedRestartTest {
    /** What every script here begins with. */
    private static final String HEAD = """
            import json, os, signal, sys, time

            def status():
                with open(mount + "/.clairfs/status.json", "rb", buffering=0) as opened:
                    return json.loads(opened.readall())

            def answer():
                try:
                    return status()
                except OSError:
                    return None

            def wait(what, condition):
                end = time.monotonic() + 120
                while not condition():
                    assert time.monotonic() < end, what
                    time.sleep(0.02)

            def kill():
                killed = status()["pid"]
                os.kill(killed, signal.SIGKILL)
                wait("nobody answers", lambda: (answer() or {}).get("pid") != killed)
                return killed
            """;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source;
    private LiveMount mount;

    @BeforeEach
    void mountSamples() throws Exception {
        source = fixture.newDirectory("source");
        FeedSamples.make(source);
        mount = fixture.mount(source, "--restarts", "3");
        mount.awaitReady();
        mount.awaitSupervisor();
        mount.job("name=again seed=7 epochs=9 batch=16 subset=train");
        Waiting.until("the job is kept for the next daemon", this::isJobKept);
    }

    private boolean isJobKept() throws IOException {
        try (DirectoryStream<Path> kept =
                Files.newDirectoryStream(fixture.directory().resolve("clairfs"), "*.restart")) {
            for (Path each : kept) {
                Path jobs = each.resolve("jobs");
                if (Files.exists(jobs) && Files.readString(jobs).contains("name=again")) {
                    return true;
                }
            }
            return false;
        }
    }

    @Test
    void order_that_a_feeder_asks_for_while_the_next_daemon_starts_is_waited_for_and_its_reports_go_on()
            throws Exception {
        String script = HEAD + """
                def feeders():
                    return ((answer() or {}).get("jobs") or [{}])[0].get("feeders")
                def read(batches):
                    print(*[int(i) for _, _, indices in batches for i in indices])
                with feed(job="again", decode="raw,dtype=uint8,shape=132", slots=2, threads=2) as f:
                    read(f)
                    wait("it reports", feeders)
                    kill()
                    f.set_epoch(5)
                    batches = iter(f)
                    next(batches)
                    wait("it reports again", feeders)
                    f.set_epoch(5)
                    read(f)
                """;
        List<String> command = new ArrayList<>(fixture.pythonCommand("feed_trainer.py", mount.point(), source, script));
        command.addAll(Clairfs.command());
        List<String> lines =
                Ended.run(command, fixture.environment()).succeeded().lines().toList();
        assertThat(lines)
                .containsExactly(
                        String.join(" ", mount.order("again", 0, 0)), String.join(" ", mount.order("again", 5, 0)));
        fixture.clairfs("umount", mount.point()).succeeded();
        Waiting.until("nothing is left", () -> fixture.processes().isEmpty());
    }

    @Test
    void reports_of_a_loader_go_on_after_a_restart_until_one_is_refused_or_nobody_has_answered_for_a_minute()
            throws Exception {
        Requirements.torch();
        String said = Ended.run(
                        fixture.pythonCommand("""
                                import sys
                                mount, elsewhere = sys.argv[1:]
                                """ + HEAD + """
                                import types
                                sys.path.insert(0, mount + "/.clairfs/python")
                                import clairfs_torch

                                def reporter(control):
                                    return clairfs_torch._Reporter(control, "again", 0, 2, None)
                                line = "job=again rank=0 workers=2 samples=64 read=0.001 transform=0.002\\n"
                                def told():
                                    with open(mount + "/.clairfs/report") as opened:
                                        return opened.read()

                                here = reporter(mount + "/.clairfs")
                                killed = kill()
                                here.tell(line)
                                assert here.works
                                wait("the next daemon", lambda: (answer() or {}).get("pid", killed) != killed)
                                here.tell(line)
                                assert here.works and told().startswith("job=again rank=0 workers=2 samples=64 "), told()
                                here.tell("job=nobody rank=0 workers=2 samples=64 read=0.001 transform=0.002\\n")
                                assert not here.works
                                here.tell(line)

                                now = [0.0]
                                clairfs_torch.time = types.SimpleNamespace(monotonic=lambda: now[0])
                                other = reporter(elsewhere)
                                for begin in (0.0, 1000.0):
                                    for later in (0.0, 60.0):
                                        now[0] = begin + later
                                        other.tell(line)
                                        assert other.works, now
                                    open(elsewhere + "/report", "w").close()
                                    other.tell(line)
                                    os.remove(elsewhere + "/report")
                                now[0] = 2000.0
                                other.tell(line)
                                assert other.works
                                now[0] = 2061.0
                                other.tell(line)
                                assert not other.works
                                print("done")
                                """, mount.point(), fixture.newDirectory("elsewhere")),
                        Map.of())
                .succeeded();
        assertThat(said.strip()).isEqualTo("done");
        fixture.clairfs("umount", mount.point()).succeeded();
    }
}
