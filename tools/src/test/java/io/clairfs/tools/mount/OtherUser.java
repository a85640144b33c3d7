package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The user nobody, in a mount table of its own in which everybody may open /dev/fuse, as in distributions. The machine's own device is
 * unchanged.
 */
final class OtherUser {
    private static final String ID = "65534";
    private static final long START_S = 120;

    private final MountFixture fixture;
    private final long namespace;
    private final BuiltProgram program;
    private final Path home;

    private OtherUser(MountFixture fixture, long namespace, BuiltProgram program, Path home) {
        this.fixture = fixture;
        this.namespace = namespace;
        this.program = program;
        this.home = home;
    }

    static OtherUser arrive(MountFixture fixture) throws IOException, InterruptedException {
        Path devices = fixture.newDirectory("devices");
        String setUp =
                "mount -t tmpfs -o mode=755 none '" + devices + "' && mknod -m 666 '" + devices + "/fuse' c 10 229"
                        + " && mount --bind '" + devices + "/fuse' /dev/fuse && echo ready && exec sleep 36000";
        Process holder = fixture.start("namespace", List.of("unshare", "-m", "sh", "-c", setUp));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_S);
        while (Files.size(fixture.said("namespace")) == 0) {
            if (!holder.isAlive() || System.nanoTime() > deadline) {
                throw new AssertionError("the namespace was not set up: "
                        + Files.readString(fixture.directory().resolve("namespace.err")));
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        OtherUser user = new OtherUser(
                fixture, holder.pid(), Clairfs.copiedTo(fixture.newDirectory("program")), fixture.newDirectory("home"));
        user.give(user.home);
        return user;
    }

    /** The home directory. */
    Path home() {
        return home;
    }

    /** Makes this user the owner of {@code path}. */
    void give(Path path) throws IOException {
        Files.setAttribute(path, "unix:uid", Integer.parseInt(ID));
    }

    /** Runs {@code clairfs arguments...} as this user. */
    Ended clairfs(Object... arguments) throws IOException, InterruptedException {
        return run(command(arguments));
    }

    List<String> command(Object... arguments) {
        return Clairfs.commandOf(
                program, Stream.of(arguments).map(String::valueOf).toArray(String[]::new));
    }

    Ended run(List<String> command) throws IOException, InterruptedException {
        List<String> asUser =
                new ArrayList<>(List.of("setpriv", "--reuid=" + ID, "--regid=" + ID, "--clear-groups", "--"));
        asUser.addAll(command);
        return runAsRoot(asUser);
    }

    /** Runs a command as root, where this user's mounts can be seen. */
    Ended runAsRoot(List<String> command) throws IOException, InterruptedException {
        List<String> inside = new ArrayList<>(List.of("nsenter", "--mount=/proc/" + namespace + "/ns/mnt", "--"));
        inside.addAll(command);
        return Ended.run(inside, Map.of("HOME", home.toString(), "XDG_STATE_HOME", ""));
    }

    /** Runs a script as this user to its successful end. */
    String python(String script, Object... arguments) throws IOException, InterruptedException {
        return run(fixture.pythonCommand(script, arguments)).succeeded();
    }
}
