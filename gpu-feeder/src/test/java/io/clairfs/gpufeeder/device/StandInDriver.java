package io.clairfs.gpufeeder.device;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A library in place of NVIDIA's driver, for processes that a test starts: one device whose memory are files. It refuses what a GPU would take wrongly.
 *
 * @param directory of its files: {@code left} says what a process did not free, a file {@code busy} there keeps kernels from ending,
 *     a file {@code broken} has those of a trainer fail
 */
public record StandInDriver(Path directory) {
    public static final String IDENTITY = "GPU-00112233-4455-6677-8899-aabbccddeeff";

    private static final String SOURCE = "cuda-stand-in.c";

    /** Whether it can be made here. */
    public static boolean canBeMade() {
        return Files.isExecutable(Path.of("/usr/bin/gcc"));
    }

    /** Makes it in a directory, which becomes its own. */
    public static StandInDriver make(Path directory) throws IOException, InterruptedException {
        Path library = Files.createDirectory(directory.resolve("library"));
        Path source = library.resolve(SOURCE);
        try (InputStream text = StandInDriver.class.getResourceAsStream(SOURCE)) {
            Files.copy(text, source);
        }
        Process compiler = new ProcessBuilder(
                        "gcc",
                        "-shared",
                        "-fPIC",
                        "-o",
                        library.resolve(CudaDriver.LIBRARY).toString(),
                        source.toString())
                .inheritIO()
                .start();
        if (compiler.waitFor() != 0) {
            throw new IOException("gcc cannot make " + CudaDriver.LIBRARY);
        }
        return new StandInDriver(directory);
    }

    /** What a process needs to find it. */
    public Map<String, String> environment() {
        return Map.of(
                "LD_LIBRARY_PATH", directory.resolve("library").toString(), "CUDA_STAND_IN", directory.toString());
    }

    /** The same for a process in which one call fails; with {@code CALL:N}, after N that succeeded. */
    public Map<String, String> environment(String failing) {
        return Map.of(
                "LD_LIBRARY_PATH",
                directory.resolve("library").toString(),
                "CUDA_STAND_IN",
                directory.toString(),
                "CUDA_STAND_IN_FAILS",
                failing);
    }

    /** Names of memory that is still allocated. */
    public List<String> allocated() throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name ->
                            !List.of("library", "busy", "broken", "left").contains(name))
                    .toList();
        }
    }

    /** What processes said at their end that they had not freed. */
    public String left() throws IOException {
        Path left = directory.resolve("left");
        return Files.exists(left) ? Files.readString(left) : "";
    }
}
