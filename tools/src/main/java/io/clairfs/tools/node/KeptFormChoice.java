package io.clairfs.tools.node;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.plan.preprocess.PreprocessCurve;
import io.clairfs.cache.plan.preprocess.PreprocessModel;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.view.KeptForm;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.node.config.ViewCache;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What tiers hold in a view: what the user said, or with {@code auto} what costs an epoch less, by the sizes, the tiers and the measurements. */
final class KeptFormChoice {
    /** What one processor decodes of JPEG files where nothing was measured. */
    private static final double USUAL_BYTES_PER_SECOND = 25e6;

    private KeptFormChoice() {}

    /**
     * What is known before the dataset is listed. The nodes of a group have to agree on the form before they know each other's room, so with {@code
     * auto} they keep what was made.
     *
     * @param before what the process before this one decided, which holds for the mount; undecided for a new mount
     */
    static KeptForm atMount(ViewCache said, boolean inGroup, KeptForm before) {
        return switch (said) {
            case MADE -> KeptForm.MADE;
            case RAW -> KeptForm.RAW;
            case AUTO -> inGroup ? KeptForm.MADE : before;
        };
    }

    /** Decides for a dataset that is listed, if that is to be decided. */
    static void decide(DatasetTree tree, List<Tier> tiers, ModelFile model) {
        if (tree.view().kept() != KeptForm.UNDECIDED) {
            return;
        }
        long raw = 0;
        long made = 0;
        int files = 0;
        for (int file = 0; file < tree.entryCount(); file++) {
            if (tree.isMade(file)) {
                raw += tree.entry(file).file().size();
                made += tree.fileSize(file);
                files++;
            }
        }
        tree.view()
                .decide(KeptForm.cheaper(
                        raw,
                        made,
                        tiers.stream().mapToLong(Tier::sampleRoomBytes).sum(),
                        model.model().source().at(1),
                        makingBytesPerSecond(
                                model.preprocessing(),
                                raw / Math.max(1, files),
                                Runtime.getRuntime().availableProcessors())));
    }

    private static double makingBytesPerSecond(@Nullable PreprocessModel measured, long bytes, int processors) {
        if (measured == null || bytes == 0) {
            return processors * USUAL_BYTES_PER_SECOND;
        }
        PreprocessCurve curve = measured.curve(bytes);
        return bytes * curve.rate(curve.fewestAtPeak(curve.measuredThreads()));
    }
}
