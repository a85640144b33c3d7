package io.clairfs.fs.faulty;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A {@link FaultyMount} in a process of its own, to be killed or stopped: {@code FaultyCommand DIRECTORY POINT [OPTIONS...]}.
 *
 * <p>It says {@code mounted} and then answers each line of its input with one line, {@code ok ...} or {@code error ...}; see {@link #answer}. It unmounts and
 * ends when its input ends, after an hour at the latest.
 */
public final class FaultyCommand {
    private static final long LIFE_S = TimeUnit.HOURS.toSeconds(1);

    private final FaultyMount mount;
    private final List<Fault> injected = new ArrayList<>();

    private FaultyCommand(FaultyMount mount) {
        this.mount = mount;
    }

    public static void main(String[] arguments) throws IOException {
        String[] options = List.of(arguments).subList(2, arguments.length).toArray(String[]::new);
        try (FaultyMount mount =
                        FaultyMount.mount(Path.of(arguments[0]), Path.of(arguments[1]), FaultyMount.FAST, options);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
            Thread.ofPlatform().daemon().start(() -> endAfterLife(mount));
            FaultyCommand command = new FaultyCommand(mount);
            System.out.println("mounted");
            String line;
            while ((line = in.readLine()) != null) {
                System.out.println(command.answer(line));
            }
        }
        System.exit(0); // readers that hold a file of the detached mount open would keep its threads
    }

    private static void endAfterLife(FaultyMount mount) {
        try {
            TimeUnit.SECONDS.sleep(LIFE_S);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        mount.close();
        System.exit(1);
    }

    /**
     * Does what a line says: {@code inject} with a {@link FaultSpec#parse fault} (answers its number), {@code lift [NUMBER]}, {@code replace PATH SEED [SIZE]}, {@code truncate PATH SIZE},
     * {@code cut PATH LENGTH}, {@code uncut PATH}, {@code restore PATH}, {@code counts}.
     */
    private String answer(String line) {
        String[] words = line.strip().split(" +");
        try {
            return switch (words[0]) {
                case "inject" -> {
                    injected.add(mount.inject(FaultSpec.parse(line.strip().substring("inject".length()))));
                    yield "ok " + (injected.size() - 1);
                }
                case "lift" -> {
                    if (words.length > 1) {
                        injected.get(Integer.parseInt(words[1])).lift();
                    } else {
                        mount.liftAll();
                    }
                    yield "ok";
                }
                case "counts" -> "ok " + mount.counted();
                case "replace", "truncate", "cut", "uncut", "restore" -> "ok " + change(words);
                default -> "error: no such command: " + words[0];
            };
        } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
            return "error: " + e;
        }
    }

    private FileContent change(String[] words) throws IOException {
        SourceFiles files = mount.files();
        String path = words[1];
        return switch (words[0]) {
            case "replace" -> {
                long seed = Long.parseLong(words[2]);
                yield words.length > 3
                        ? files.replace(path, seed, Long.parseLong(words[3]))
                        : files.replace(path, seed);
            }
            case "truncate" -> files.truncate(path, Long.parseLong(words[2]));
            case "cut" -> files.cut(path, Long.parseLong(words[2]));
            case "uncut" -> files.uncut(path);
            default -> files.restore(path);
        };
    }
}
