package io.clairfs.tools.demo;

import io.clairfs.fs.slow.SourceReads;
import io.clairfs.tools.Progress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Records each epoch of one training with the source's reads during it, and moves the progress bar. */
final class TrainingRecord implements Trainer.Listener {
    private final Supplier<SourceReads> source;
    private final Progress progress;
    private final int batchesPerEpoch;
    private final List<EpochFigures> epochs = new ArrayList<>();
    private final List<Content> contents = new ArrayList<>();
    private SourceReads before;

    /** Starts a record. The source's reads from now on belong to the first epoch. */
    TrainingRecord(Supplier<SourceReads> source, Progress progress, int batchesPerEpoch) {
        this.source = source;
        this.progress = progress;
        this.batchesPerEpoch = batchesPerEpoch;
        before = source.get();
    }

    @Override
    public void batch(int epoch, int batch) {
        progress.at((epoch - 1L) * batchesPerEpoch + batch);
    }

    @Override
    public void epoch(Trainer.Epoch epoch) {
        SourceReads now = source.get();
        SourceReads asked = now.since(before);
        before = now;
        epochs.add(new EpochFigures(
                epoch.number(),
                epoch.seconds(),
                epoch.waitSeconds(),
                epoch.waitSeconds() / epoch.seconds(),
                asked.reads(),
                asked.bytes()));
        contents.add(epoch.content());
    }

    List<EpochFigures> epochs() {
        return epochs;
    }

    double seconds() {
        return epochs.stream().mapToDouble(EpochFigures::seconds).sum();
    }

    /** What the first epoch had. */
    Content first() {
        return contents.getFirst();
    }

    /** Whether exactly {@code count} epochs were read, each with exactly this content. */
    boolean isEachOf(int count, Content content) {
        return contents.size() == count && contents.stream().allMatch(content::equals);
    }
}
