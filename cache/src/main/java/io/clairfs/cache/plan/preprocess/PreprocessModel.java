package io.clairfs.cache.plan.preprocess;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The preprocessing time of a sample by its size and by how many threads preprocess: the portfolio of models of Lobster, section 4.1, one
 * curve for each measured size.
 *
 * <p>The paper takes the curve of the nearest size. This class interpolates between two measured sizes, which is nearer: decoding is a constant and
 * so much per byte. Above the largest measured size the time grows with the bytes; below the smallest it is as there.
 *
 * @param curves by size, sizes ascending
 */
public record PreprocessModel(List<OfSize> curves) {

    public PreprocessModel {
        curves = List.copyOf(curves);
        if (curves.isEmpty()) {
            throw new IllegalArgumentException("no measured size");
        }
        for (int i = 1; i < curves.size(); i++) {
            if (curves.get(i).bytes <= curves.get(i - 1).bytes) {
                throw new IllegalArgumentException("sizes do not ascend: " + curves);
            }
        }
    }

    /**
     * The curve of one size.
     *
     * @param bytes of a sample as it is read
     */
    public record OfSize(long bytes, PreprocessCurve curve) {
        public OfSize {
            if (bytes < 1) {
                throw new IllegalArgumentException("not positive: samples of " + bytes + " bytes");
            }
        }
    }

    /**
     * The model of measured rates.
     *
     * @param rates samples per second of all threads together, by size in bytes and by number of threads
     */
    public static PreprocessModel measured(SortedMap<Long, ? extends Map<Integer, Double>> rates) {
        List<OfSize> curves = new ArrayList<>();
        rates.forEach((bytes, ofSize) -> {
            TreeMap<Integer, Double> seconds = new TreeMap<>();
            ofSize.forEach((threads, rate) -> seconds.put(threads, threads / rate));
            curves.add(new OfSize(bytes, CurveFit.of(seconds)));
        });
        return new PreprocessModel(curves);
    }

    /** A model where nothing was measured: {@code processors} threads do not hinder each other, and each takes so long for any sample. */
    public static PreprocessModel unmeasured(double seconds, int processors) {
        return new PreprocessModel(List.of(new OfSize(1, PreprocessCurve.perProcessor(seconds, processors))));
    }

    /** The curve of samples of so many bytes. */
    public PreprocessCurve curve(long bytes) {
        OfSize below = curves.getFirst();
        if (bytes <= below.bytes || curves.size() == 1) {
            return below.curve;
        }
        for (OfSize above : curves) {
            if (bytes <= above.bytes) {
                return below.curve.towards(above.curve, (double) (bytes - below.bytes) / (above.bytes - below.bytes));
            }
            below = above;
        }
        return below.curve.scaled((double) bytes / below.bytes);
    }

    /** The curve of the nearest measured size, as in the paper. */
    PreprocessCurve nearest(long bytes) {
        OfSize nearest = curves.getFirst();
        for (OfSize each : curves) {
            nearest = Math.abs(each.bytes - bytes) < Math.abs(nearest.bytes - bytes) ? each : nearest;
        }
        return nearest.curve;
    }
}
