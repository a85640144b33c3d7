package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The script {@code clairfs} in a checkout of its own, with the program of this build, a source and a mount point. */
abstract class LauncherFixture {
    private static final Path REPOSITORY = Path.of("..").toAbsolutePath().normalize();

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    Path launcher;
    Path source;
    Path point;

    /** Installs the launcher in a built checkout: the script finds the program relative to its own path. */
    @BeforeEach
    void installLauncher() throws IOException {
        Path checkout = fixture.newDirectory("a checkout");
        for (String each : List.of(".mvn", "pom.xml", "cache", "fs", "peer", "gpu-feeder", "tools")) {
            Files.createSymbolicLink(checkout.resolve(each), REPOSITORY.resolve(each));
        }
        Files.createDirectory(checkout.resolve(".ci"));
        Files.copy(REPOSITORY.resolve(".ci/setup.sh"), checkout.resolve(".ci/setup.sh"));
        launcher = Files.copy(REPOSITORY.resolve("clairfs"), checkout.resolve("clairfs"));
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
        Path program = Files.createDirectories(checkout.resolve("target/program"));
        List<String> command = Clairfs.command();
        Files.writeString(program.resolve("class-path"), command.get(command.indexOf("-cp") + 1));
        for (String flag : command) {
            if (flag.startsWith(BuiltProgram.CACHE_FLAG)) {
                Files.createSymbolicLink(
                        program.resolve(BuiltProgram.STARTUP_CACHE),
                        Path.of(flag.substring(BuiltProgram.CACHE_FLAG.length())));
            }
        }
        Files.createFile(program.resolve("begun"));
        source = fixture.newDirectory("source");
        Files.writeString(source.resolve("file"), "content");
        point = fixture.newDirectory("mnt");
    }

    List<String> command(Object... arguments) {
        List<String> command = new ArrayList<>(List.of(launcher.toString()));
        Stream.of(arguments).map(String::valueOf).forEach(command::add);
        return command;
    }

    Ended run(Object... arguments) throws IOException, InterruptedException {
        return Ended.run(command(arguments), fixture.environment());
    }

    Ended mount(Object... options) throws IOException, InterruptedException {
        List<Object> arguments = new ArrayList<>(List.of("mount", source, point, "--memory", "64MiB"));
        arguments.addAll(List.of(options));
        return run(arguments.toArray());
    }

    /** A JDK whose programs are this script. */
    Path jdkWhosePrograms(String doThis) throws IOException {
        Path jdk = fixture.newDirectory("jdk");
        Files.copy(Path.of(System.getProperty("java.home"), "release"), jdk.resolve("release"));
        Files.createDirectory(jdk.resolve("bin"));
        for (String name : List.of("java", "javac")) {
            program(jdk.resolve("bin").resolve(name), doThis);
        }
        return jdk;
    }

    static void program(Path at, String doThis) throws IOException {
        Path program = Files.writeString(at, "#!/bin/sh\n" + doThis + "\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
    }
}
