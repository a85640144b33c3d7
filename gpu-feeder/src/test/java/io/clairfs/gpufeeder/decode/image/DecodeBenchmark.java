package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.PythonScript;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.image.ImageForm.Crop;
import io.clairfs.gpufeeder.decode.image.ImageForm.Kind;
import io.clairfs.gpufeeder.decode.image.ImageForm.Layout;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * JPEG files of 500x375 pixels to 224: images a second of one core, by its processor time, for this decoder, Pillow and torchvision in turns; decode and
 * resize also apart. {@code .ci/long-run decode} runs it. Fails only where nothing is measured.
 */
@Timeout(600)
final class DecodeBenchmark {
    private static final int FILES = 48;
    private static final int WARM_UP_ROUNDS = 25;
    private static final int ROUNDS = 15;
    private static final ImageForm FORM = new ImageForm(Kind.JPEG, 224, 224, Layout.NCHW, Crop.CENTER, 256, false);
    private static final ImageForm RANDOM = new ImageForm(Kind.JPEG, 224, 224, Layout.NCHW, Crop.RANDOM, 256, true);
    private static final List<String> PYTHON = List.of(
            "pillow", "pillow-decode", "pillow-resize", "torchvision", "torchvision-decode", "torchvision-resize");

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Map<String, List<Double>> seconds = new LinkedHashMap<>();

    @TempDir
    Path directory;

    /** One pass over all files. */
    @FunctionalInterface
    private interface Pass {
        void run(MemorySegment file) throws BadSampleException;
    }

    @Test
    void imagesPerSecondOfOneCore() throws Exception {
        assumeTrue(TurboJpegLibrary.isPresent(), TurboJpegLibrary.NAME + " is not installed");
        PythonScript.run(
                directory, "torchvision", "decode_speed.py", "make", directory.toString(), Integer.toString(FILES));
        Process python = new ProcessBuilder(
                        "/usr/bin/python3",
                        directory.resolve("decode_speed.py").toString(),
                        "answer",
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (Arena arena = Arena.ofConfined();
                BufferedReader answers = python.inputReader(UTF_8);
                Writer questions = python.outputWriter(UTF_8);
                SampleDecoder.Content whole = (SampleDecoder.Content) new ImageDecoding(FORM, true).open();
                SampleDecoder.Content random = (SampleDecoder.Content) new ImageDecoding(RANDOM, true).open();
                SampleDecoder.Content jdk = (SampleDecoder.Content) new ImageDecoding(FORM, false).open();
                TurboJpeg decoder = new TurboJpeg()) {
            assertThat(answers.readLine()).isEqualTo("ready");
            List<MemorySegment> files = files(arena);
            MemorySegment slot = arena.allocate(FORM.format().bytes());
            Pixels pixels = decoder.decode(files.getFirst());
            TriangleFilter filter = new TriangleFilter();
            Framing framing = Framing.of(FORM, pixels.width(), pixels.height(), 0);
            Map<String, Pass> passes = new LinkedHashMap<>();
            passes.put("clairfs", file -> whole.decode(file, 0, slot));
            passes.put("clairfs-decode", decoder::decode);
            passes.put("clairfs-resize", file -> filter.resize(pixels, framing, Layout.NCHW, slot));
            passes.put("clairfs-random", file -> random.decode(file, file.address(), slot));
            passes.put("clairfs-jdk", file -> jdk.decode(file, 0, slot));
            for (int round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
                boolean counts = round >= WARM_UP_ROUNDS;
                for (Map.Entry<String, Pass> pass : passes.entrySet()) {
                    double took = time(pass.getValue(), files);
                    if (counts) {
                        put(pass.getKey(), took);
                    }
                }
                for (String name : counts ? PYTHON : List.<String>of()) {
                    put(name, ask(questions, answers, name));
                }
            }
        } finally {
            python.destroyForcibly();
        }
        print();
    }

    private List<MemorySegment> files(Arena arena) throws IOException {
        List<MemorySegment> files = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < FILES; i++) {
            files.add(arena.allocateFrom(JAVA_BYTE, Files.readAllBytes(directory.resolve(i + ".jpg"))));
            bytes += files.getLast().byteSize();
        }
        System.out.printf("decode: %d files of 500x375 pixels, %d bytes on average%n", FILES, bytes / FILES);
        return files;
    }

    private double time(Pass pass, List<MemorySegment> files) throws BadSampleException {
        long begun = threads.getCurrentThreadCpuTime();
        for (MemorySegment file : files) {
            pass.run(file);
        }
        return (threads.getCurrentThreadCpuTime() - begun) / 1e9;
    }

    private static double ask(Writer questions, BufferedReader answers, String name) throws IOException {
        questions.write(name + "\n");
        questions.flush();
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("Python ended at " + name);
        }
        return Double.parseDouble(answer);
    }

    private void put(String name, double took) {
        seconds.computeIfAbsent(name, _ -> new ArrayList<>()).add(took);
    }

    private void print() {
        double pillow = median("pillow");
        System.out.println("decode: medians of " + ROUNDS + " rounds in turns, processor time of one thread");
        for (String name : seconds.keySet()) {
            double[] all = sorted(name);
            System.out.printf(
                    "decode: %-20s %6.0f images/s  %6.3f ms (%.3f to %.3f)  %5.2f x Pillow's whole%n",
                    name,
                    FILES / median(name),
                    1e3 * median(name) / FILES,
                    1e3 * all[0] / FILES,
                    1e3 * all[all.length - 1] / FILES,
                    pillow / median(name));
        }
    }

    private double median(String name) {
        double[] all = sorted(name);
        assertThat(all).hasSize(ROUNDS);
        return all[all.length / 2];
    }

    private double[] sorted(String name) {
        return seconds.getOrDefault(name, List.of()).stream()
                .mapToDouble(s -> s)
                .sorted()
                .toArray();
    }
}
