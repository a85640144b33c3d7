package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Our hook at the start of Python, without a mount: files of it that were copied. TorchOrdersTest has that of a mount. */
@Timeout(120)
final class SitecustomizeTest {
    private static final Path PYTHON = Path.of("/usr/bin/python3");
    private static final String HOOK = "sitecustomize.py";

    /** Says which hook is known in the end, and how many finders there are that change torch. */
    private static final String SHOW =
            "import sitecustomize, sys; print(sitecustomize.__file__, sum('_Finder' in repr(f) for f in sys.meta_path))";

    @TempDir
    private Path directory;

    private Path next;

    @BeforeEach
    void makeAnothersHook() throws IOException {
        assumeTrue(Files.isExecutable(PYTHON), PYTHON + " is not there");
        next = Files.createDirectory(directory.resolve("next"));
        Files.writeString(next.resolve(HOOK), "print('next ran')\n");
    }

    private Path copy(String name) throws IOException {
        Path copy = Files.createDirectory(directory.resolve(name));
        for (String file : List.of(HOOK, "clairfs_finder.py")) {
            try (InputStream in = SitecustomizeTest.class.getResourceAsStream(file)) {
                Files.copy(in, copy.resolve(file));
            }
        }
        return copy;
    }

    private static List<String> said(String path, Map<String, String> variables)
            throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(PYTHON.toString(), "-c", SHOW).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("CLAIRFS_"));
        builder.environment().putAll(variables);
        builder.environment().put("PYTHONPATH", path);
        Process python = builder.start();
        python.getOutputStream().close();
        List<String> lines = python.inputReader(UTF_8).lines().toList();
        assertThat(python.waitFor()).as("%s", lines).isZero();
        return lines;
    }

    @Test
    void copiesInTwoDirectories_passOnToTheNext_andOneOfThemChangesTorch() throws Exception {
        String path = copy("first") + ":" + copy("second") + ":" + next;
        assertThat(said(path, Map.of())).containsExactly("next ran", next.resolve(HOOK) + " 0");
        assertThat(said(path, Map.of("CLAIRFS_JOB", "train", "CLAIRFS_MOUNT", "/none")))
                .containsExactly("next ran", next.resolve(HOOK) + " 1");
    }

    @Test
    void copiesInTwoDirectoriesWithNothingBehindThem_endToo() throws Exception {
        Path first = copy("first");
        Path second = copy("second");
        assertThat(said(first + ":" + second, Map.of()))
                .singleElement()
                .asString()
                .endsWith(HOOK + " 0");
    }

    /** As monitoring agents have it: one that runs the next of the path, without the entry of the path that it is in. */
    private static void writeOneThatPassesOn(Path hook, Path entry) throws IOException {
        Files.createDirectories(hook.getParent());
        Files.writeString(hook, """
                import os, sys
                from importlib.machinery import PathFinder
                from importlib.util import module_from_spec
                print("other ran")
                spec = PathFinder.find_spec("sitecustomize", [each for each in sys.path if os.path.abspath(each) != "%s"])
                module = module_from_spec(spec)
                sys.modules["sitecustomize"] = module
                spec.loader.exec_module(module)
                """.formatted(entry));
    }

    @Test
    void hookThatStandsBefore_andPassesOn_runsOnce() throws Exception {
        Path other = directory.resolve("other");
        writeOneThatPassesOn(other.resolve(HOOK), other);
        assertThat(said(other + ":" + copy("ours") + ":" + next, Map.of()))
                .containsExactly("other ran", "next ran", next.resolve(HOOK) + " 0");
    }

    @Test
    void hookThatIsAPackage_andPassesOn_runsOnce() throws Exception {
        Path other = directory.resolve("other");
        writeOneThatPassesOn(other.resolve("sitecustomize/__init__.py"), other);
        String ours = copy("ours").toString();
        List<String> lines = List.of("other ran", "next ran", next.resolve(HOOK) + " 0");
        assertThat(said(ours + ":" + other + ":" + next, Map.of())).isEqualTo(lines);
        assertThat(said(other + ":" + ours + ":" + next, Map.of())).isEqualTo(lines);
    }
}
