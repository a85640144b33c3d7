package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.tools.Version;
import io.clairfs.tools.node.mount.ControlRead;
import io.clairfs.tools.node.mount.MountProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The archive for a report: texts by name, in a zip file for its owner alone. Secrets of the group are taken out of every text, wherever they
 * come from.
 */
public final class DoctorBundle {
    private static final String TAKEN_OUT = "[secret]";

    /** A secret can be found in a text by its whole content only; the files are read for nothing else. */
    private static final int LEAST_SECRET = 8;

    /** Of a long text its end is packed. */
    private static final int MOST_BYTES = 8 << 20;

    private static final List<String> CONTROL_FILES =
            List.of("status", "status.json", "errors", "job", "note", "report", "metrics", "threads");
    private static final long ANSWER_TIMEOUT_MS = 10_000;

    private final Map<String, String> texts = new LinkedHashMap<>();
    private final List<String> secrets;

    /** An archive without the contents of these files. One that cannot be read cannot have been read into a text either. */
    public DoctorBundle(Set<Path> secretFiles) {
        secrets = secretFiles.stream()
                .flatMap(DoctorBundle::texts)
                .filter(text -> text.length() >= LEAST_SECRET)
                .distinct()
                .toList();
    }

    private static Stream<String> texts(Path file) {
        try {
            byte[] content = Files.readAllBytes(file);
            return Stream.of(new String(content, UTF_8).strip(), new String(content, ISO_8859_1).strip());
        } catch (IOException unreadable) {
            return Stream.empty();
        }
    }

    /** Adds a text. */
    public void add(String name, String text) {
        texts.put(name, text.length() > MOST_BYTES ? text.substring(text.length() - MOST_BYTES) : text);
    }

    /** Adds the end of a file, or why there is none. */
    public void addFile(String name, Path file) {
        try (FileChannel in = FileChannel.open(file)) {
            ByteBuffer end = ByteBuffer.allocate((int) Math.min(in.size(), MOST_BYTES));
            in.position(Math.max(0, in.size() - MOST_BYTES));
            int n = 0;
            while (end.hasRemaining() && n >= 0) {
                n = in.read(end);
            }
            add(name, new String(end.array(), 0, end.position(), UTF_8));
        } catch (IOException e) {
            add(name, "not there: " + e + "\n");
        }
    }

    /** The texts that are in it. */
    public Set<String> names() {
        return texts.keySet();
    }

    /** Adds what the machine says of itself. */
    public void addMachine() {
        StringBuilder about = new StringBuilder();
        about.append("clairfs ").append(Version.TEXT).append('\n');
        about.append("java ").append(Runtime.version()).append('\n');
        for (String file : List.of(
                "/proc/version",
                "/proc/meminfo",
                "/proc/self/cgroup",
                "/proc/self/limits",
                "/proc/sys/fs/inotify/max_user_watches")) {
            about.append("\n# ").append(file).append('\n').append(content(Path.of(file)));
        }
        add("machine.txt", about.toString());
    }

    /** Adds what a mount says of itself, its log and its stacks. One that does not answer is made to write its stacks to its log. */
    public void addMount(Path mountPoint, long pid) throws IOException {
        add("options.txt", String.join(" ", MountProcess.given(pid)) + "\n");
        Path control = mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY);
        boolean answers = true;
        for (String name : CONTROL_FILES) {
            answers = answers && addControl(control, name);
        }
        if (!answers && MountProcess.isOurs(pid)) {
            MountProcess.writeStacks(pid);
        }
        Path log = MountProcess.log(pid);
        if (Files.isRegularFile(log)) {
            addFile("mount.log", log);
            Path older = log.resolveSibling(log.getFileName() + ".1");
            if (Files.isRegularFile(older)) {
                addFile("mount.log.1", older);
            }
        }
    }

    private boolean addControl(Path control, String name) throws IOException {
        switch (ControlRead.read(control.resolve(name), ANSWER_TIMEOUT_MS)) {
            case ControlRead.Answer.Content(String text) -> add(name, text);
            case ControlRead.Answer.Refused(String reason) -> add(name, "not there: " + reason + "\n");
            case ControlRead.Answer.Silence() -> {
                add(name, "no answer within " + ANSWER_TIMEOUT_MS / 1000 + " s\n");
                return false;
            }
        }
        return true;
    }

    private static String content(Path file) {
        try {
            return Machine.read(file);
        } catch (IOException e) {
            return "not there\n";
        }
    }

    /** Writes the archive, a new file. */
    public void write(Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(
                        Files.createFile(
                                file,
                                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
                        StandardOpenOption.WRITE);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Map.Entry<String, String> text : texts.entrySet()) {
                zip.putNextEntry(new ZipEntry("clairfs/" + text.getKey()));
                zip.write(withoutSecrets(text.getValue()).getBytes(UTF_8));
                zip.closeEntry();
            }
        }
    }

    private String withoutSecrets(String text) {
        String clean = text;
        for (String secret : secrets) {
            clean = clean.replace(secret, TAKEN_OUT);
        }
        return clean;
    }
}
