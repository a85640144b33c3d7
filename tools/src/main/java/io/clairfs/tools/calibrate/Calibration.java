package io.clairfs.tools.calibrate;

import io.clairfs.tools.Progress;
import io.clairfs.tools.config.ConfigFile;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.config.ModelFile.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Measures the chosen devices one after the other, with a progress bar. */
public final class Calibration {
    private Calibration() {}

    /**
     * Measures.
     *
     * @param ssd a directory on the disk to measure; null for none
     * @param memory whether to measure memory
     * @param decode how files of the source are decoded; null for no measurement of that
     * @param stepMs how long each step takes, milliseconds
     */
    public static ConfigFile run(
            Path source, @Nullable Path ssd, boolean memory, @Nullable DecodeOperation decode, long stepMs)
            throws IOException {
        int steps = SourceSpeed.steps()
                + (ssd == null ? 0 : SsdSpeed.steps())
                + (memory ? MemorySpeed.steps() : 0)
                + (decode == null ? 0 : DecodeSpeed.steps());
        AtomicInteger done = new AtomicInteger();
        try (Progress progress = Progress.begin("calibrating", steps)) {
            Runnable step = () -> progress.at(done.incrementAndGet());
            progress.note("source");
            Device ofSource = SourceSpeed.measure(source, stepMs, step);
            progress.note("ssd");
            Device ofSsd = ssd == null ? null : SsdSpeed.measure(ssd, stepMs, step);
            progress.note("memory");
            Device ofMemory = memory ? MemorySpeed.measure(stepMs, step) : null;
            progress.note("decode");
            Map<String, Map<Long, Map<Integer, Double>>> ofDecode =
                    decode == null ? null : Map.of(decode.name(), DecodeSpeed.measure(source, decode, stepMs, step));
            return new ConfigFile(null, new ModelFile(ofSource, ofMemory, ofSsd, null, null, null, null, ofDecode));
        }
    }
}
