package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** A host of another name with a mount table of its own, which shares all files with this one, as nodes of a cluster share homes. It ends with the test. */
final class OtherHost {
    private final MountFixture fixture;
    private final String name;
    private final long namespaces;

    private OtherHost(MountFixture fixture, String name, long namespaces) {
        this.fixture = fixture;
        this.name = name;
        this.namespaces = namespaces;
    }

    static OtherHost make(MountFixture fixture, String name) throws Exception {
        String setUp = "hostname " + name + " && echo named && exec sleep 36000";
        Process holder = fixture.start(name, List.of("unshare", "--mount", "--uts", "sh", "-c", setUp));
        Waiting.until("there is " + name, () -> Files.size(fixture.said(name)) > 0);
        return new OtherHost(fixture, name, holder.pid());
    }

    String name() {
        return name;
    }

    /** Runs a command there. */
    Ended run(List<String> command) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("nsenter", "--target", "" + namespaces, "--mount", "--uts", "--"));
        all.addAll(command);
        return Ended.run(all, fixture.environment());
    }

    /** Runs {@code clairfs arguments...} there. */
    Ended clairfs(Object... arguments) throws IOException, InterruptedException {
        return run(Clairfs.command(Stream.of(arguments).map(String::valueOf).toArray(String[]::new)));
    }

    /** What a file has there; null if it cannot be read. */
    @Nullable
    String read(Path file) throws IOException, InterruptedException {
        Ended cat = run(List.of("cat", file.toString()));
        return cat.exit() == 0 ? cat.out() : null;
    }

    /** The process of the mount at {@code point}, 0 while none answers. */
    long daemon(Path point) throws IOException, InterruptedException {
        String status = read(point.resolve(".clairfs/status.json"));
        try {
            return status == null
                    ? 0
                    : new JsonMapper().readTree(status).path("pid").asLong();
        } catch (JacksonException halfRead) {
            return 0;
        }
    }
}
