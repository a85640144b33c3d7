package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.SourceException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A real directory tree, made by a shell, because Java cannot create every name that a disk may hold. */
public final class TestTree {
    private final Path root;
    private final ByteArrayOutputStream script = new ByteArrayOutputStream();
    private final List<AutoCloseable> opened = new ArrayList<>();

    public TestTree(Path root) {
        this.root = root;
    }

    /** An empty file, with the directories above it. */
    public TestTree file(String path) {
        return directory(path.contains("/") ? path.substring(0, path.lastIndexOf('/')) : ".")
                .run(": > '" + path + "'");
    }

    public TestTree directory(String path) {
        return run("mkdir -p '" + path + "'");
    }

    public TestTree link(String path, String target) {
        return run("ln -s '" + target + "' '" + path + "'");
    }

    private TestTree run(String command) {
        return run(command.getBytes(UTF_8));
    }

    /** A line of shell; names stand in single quotes. */
    TestTree run(byte[] command) {
        script.writeBytes(command);
        script.write('\n');
        return this;
    }

    /** Makes everything asked for so far and lists it. */
    public DatasetTree list() throws Exception {
        Process shell = new ProcessBuilder("sh", "-e")
                .directory(root.toFile())
                .inheritIO()
                .redirectInput(ProcessBuilder.Redirect.PIPE)
                .start();
        try (OutputStream in = shell.getOutputStream()) {
            script.writeTo(in);
        }
        if (shell.waitFor() != 0) {
            throw new IOException("the shell failed with " + shell.exitValue());
        }
        DirectorySource source = new DirectorySource(root);
        DatasetTree tree = new DatasetTree(source, 2, line -> {});
        opened.add(tree);
        opened.add(source);
        return tree.complete().join();
    }

    /** The paths of {@code rule} over everything, decoded as Python does. */
    public List<String> paths(String rule) throws Exception {
        DatasetTree tree = list();
        return paths(IndexRule.of(rule).index(tree, tree.root()));
    }

    public static List<String> paths(SampleIndex index) throws SourceException {
        List<String> paths = new ArrayList<>();
        for (int i = 0; i < index.size(); i++) {
            int[] points = PythonText.decode(index.path(i));
            paths.add(new String(points, 0, points.length));
        }
        return paths;
    }

    public void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }
}
