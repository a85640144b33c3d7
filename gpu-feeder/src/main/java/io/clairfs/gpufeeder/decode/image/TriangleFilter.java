package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.clairfs.gpufeeder.decode.BadSampleException;
import io.clairfs.gpufeeder.decode.image.Framing.Region;
import io.clairfs.gpufeeder.decode.image.ImageForm.Layout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Resizes as Pillow's bilinear filter does, which weighs all pixels that a resized pixel covers: first along the rows, rounded to 8 bits, then along the
 * columns.
 *
 * <p>The columns are filtered row by row, with plain loops over whole rows that the compiler turns into vector instructions. Of the rows only those that
 * the next resized row needs are kept, as one {@code int} for each value, so that they stay in a core's first cache. Rows and columns that the window
 * does not need are not touched.
 */
final class TriangleFilter {
    private static final int CHANNELS = Pixels.CHANNELS;

    /** For rows that wait; met only by an image of many thousand rows for a sample of few. */
    private static final long MOST_LINE_BYTES = 256L << 20;

    private byte[] input = new byte[0];
    private int[][] lines = new int[0][];
    private int[] sums = new int[0];
    private byte[] output = new byte[0];

    /** Writes the window of {@code framing} to {@code slot}. */
    void resize(Pixels image, Framing framing, Layout layout, MemorySegment slot) throws BadSampleException {
        Region region = framing.region();
        TriangleWeights across =
                TriangleWeights.of(region.width(), framing.resizedWidth(), framing.windowLeft(), framing.windowWidth());
        TriangleWeights down = TriangleWeights.of(
                region.height(), framing.resizedHeight(), framing.windowTop(), framing.windowHeight());
        int values = CHANNELS * framing.windowWidth();
        if ((long) Integer.BYTES * values * down.mostInputs() > MOST_LINE_BYTES) {
            throw new BadSampleException("image of " + image.width() + "x" + image.height()
                    + " pixels: too tall to be resized to " + framing.resizedWidth() + "x" + framing.resizedHeight());
        }
        prepare(down.mostInputs(), values);
        int filtered = down.first(0);
        for (int row = 0; row < framing.windowHeight(); row++) {
            int first = down.first(row);
            int end = first + down.count(row);
            for (filtered = Math.max(filtered, first); filtered < end; filtered++) {
                filterRow(image, region, filtered, across, framing.mirrored(), layout);
            }
            mixRows(down, row, values);
            write(row, framing, layout, slot);
        }
    }

    private void prepare(int rows, int values) {
        if (lines.length != rows || sums.length != values) {
            lines = new int[rows][values];
            sums = new int[values];
            output = new byte[values];
        }
    }

    /** Filters one row of the region into its line. */
    private void filterRow(
            Pixels image, Region region, int row, TriangleWeights across, boolean mirrored, Layout layout) {
        int outputs = across.outputs();
        int begin = across.first(0);
        int last = outputs - 1;
        int bytes = CHANNELS * (across.first(last) + across.count(last) - begin);
        // Behind the row, weights of zero meet whatever is there.
        int padded = bytes + CHANNELS * (across.mostInputs() + 1);
        if (input.length < padded) {
            input = new byte[padded];
        }
        long at = (region.top() + row) * image.rowBytes() + (long) CHANNELS * (region.left() + begin);
        MemorySegment.copy(image.rgb(), JAVA_BYTE, at, input, 0, bytes);
        int[] line = lines[row % lines.length];
        int channelStep = switch (layout) {
            case NCHW -> outputs;
            case NHWC -> 1;
        };
        int step = layout == Layout.NCHW ? 1 : CHANNELS;
        filter(input, across, line, mirrored ? last * step : 0, mirrored ? -step : step, channelStep);
    }

    /** Adds the weighed inputs two and three at a time: a loop over so few would take longer than what is in it. */
    private static void filter(byte[] in, TriangleWeights across, int[] line, int to, int step, int channelStep) {
        Arrays.fill(line, TriangleWeights.HALF);
        int left = across.mostInputs();
        int k = 0;
        while (left > 0) {
            if (left == 3 || left > 4) {
                addThree(in, across, k, line, to, step, channelStep);
                k += 3;
                left -= 3;
            } else {
                addTwo(in, across, k, line, to, step, channelStep);
                k += 2;
                left -= 2;
            }
        }
        for (int i = 0; i < line.length; i++) {
            line[i] = rounded(line[i]);
        }
    }

    private static void addTwo(
            byte[] in, TriangleWeights across, int k, int[] line, int to, int step, int channelStep) {
        int[] weights = across.weights();
        int[] firsts = across.firsts();
        int stride = across.stride();
        int skipped = firsts[0] - k;
        int at = k;
        for (int first : firsts) {
            int from = CHANNELS * (first - skipped);
            int w0 = weights[at];
            int w1 = weights[at + 1];
            line[to] += w0 * (in[from] & 0xFF) + w1 * (in[from + 3] & 0xFF);
            line[to + channelStep] += w0 * (in[from + 1] & 0xFF) + w1 * (in[from + 4] & 0xFF);
            line[to + 2 * channelStep] += w0 * (in[from + 2] & 0xFF) + w1 * (in[from + 5] & 0xFF);
            at += stride;
            to += step;
        }
    }

    private static void addThree(
            byte[] in, TriangleWeights across, int k, int[] line, int to, int step, int channelStep) {
        int[] weights = across.weights();
        int[] firsts = across.firsts();
        int stride = across.stride();
        int skipped = firsts[0] - k;
        int at = k;
        for (int first : firsts) {
            int from = CHANNELS * (first - skipped);
            int w0 = weights[at];
            int w1 = weights[at + 1];
            int w2 = weights[at + 2];
            line[to] += w0 * (in[from] & 0xFF) + w1 * (in[from + 3] & 0xFF) + w2 * (in[from + 6] & 0xFF);
            line[to + channelStep] +=
                    w0 * (in[from + 1] & 0xFF) + w1 * (in[from + 4] & 0xFF) + w2 * (in[from + 7] & 0xFF);
            line[to + 2 * channelStep] +=
                    w0 * (in[from + 2] & 0xFF) + w1 * (in[from + 5] & 0xFF) + w2 * (in[from + 8] & 0xFF);
            at += stride;
            to += step;
        }
    }

    private void mixRows(TriangleWeights down, int row, int values) {
        int[] sum = sums;
        int count = down.count(row);
        int first = down.first(row);
        multiply(lines[first % lines.length], down.weight(row, 0), sum, values);
        for (int k = 1; k < count; k++) {
            add(lines[(first + k) % lines.length], down.weight(row, k), sum, values);
        }
        round(sum, output, values);
    }

    private static void multiply(int[] line, int weight, int[] sum, int values) {
        for (int i = 0; i < values; i++) {
            sum[i] = TriangleWeights.HALF + weight * line[i];
        }
    }

    private static void add(int[] line, int weight, int[] sum, int values) {
        for (int i = 0; i < values; i++) {
            sum[i] += weight * line[i];
        }
    }

    private static void round(int[] sum, byte[] output, int values) {
        for (int i = 0; i < values; i++) {
            output[i] = (byte) rounded(sum[i]);
        }
    }

    /** Weights are not negative, so no sum is; rounded weights may sum to a little more than one. */
    private static int rounded(int sum) {
        return Math.min(sum >> TriangleWeights.PRECISION_BITS, 255);
    }

    private void write(int row, Framing framing, Layout layout, MemorySegment slot) {
        int width = framing.windowWidth();
        switch (layout) {
            case NHWC ->
                MemorySegment.copy(output, 0, slot, JAVA_BYTE, (long) row * CHANNELS * width, CHANNELS * width);
            case NCHW -> {
                long plane = (long) width * framing.windowHeight();
                for (int channel = 0; channel < CHANNELS; channel++) {
                    MemorySegment.copy(
                            output, channel * width, slot, JAVA_BYTE, channel * plane + (long) row * width, width);
                }
            }
        }
    }
}
