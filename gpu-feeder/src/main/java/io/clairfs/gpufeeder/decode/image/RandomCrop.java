package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.image.Framing.Region;

/**
 * The rectangle of torchvision's RandomResizedCrop: 8 to 100 % of the area, an aspect ratio of 3/4 to 4/3, drawn up to ten times until it fits;
 * then the middle of the image.
 *
 * <p>{@code StrictMath}, because other implementations may differ between machines in the last bit, and so by a pixel.
 */
final class RandomCrop {
    private static final double LEAST_AREA = 0.08;
    private static final double NARROWEST = 3.0 / 4;
    private static final double WIDEST = 4.0 / 3;
    private static final int TRIES = 10;

    private RandomCrop() {}

    static Region of(Draws draws, int width, int height) {
        double area = (double) width * height;
        for (int i = 0; i < TRIES; i++) {
            double wanted = area * draws.between(LEAST_AREA, 1);
            double ratio = StrictMath.exp(draws.between(StrictMath.log(NARROWEST), StrictMath.log(WIDEST)));
            long w = (long) Math.rint(Math.sqrt(wanted * ratio));
            long h = (long) Math.rint(Math.sqrt(wanted / ratio));
            if (w > 0 && w <= width && h > 0 && h <= height) {
                int top = draws.below(height - (int) h + 1);
                int left = draws.below(width - (int) w + 1);
                return new Region(left, top, (int) w, (int) h);
            }
        }
        return middle(width, height);
    }

    private static Region middle(int width, int height) {
        double ratio = (double) width / height;
        int w = width;
        int h = height;
        if (ratio < NARROWEST) {
            h = (int) Math.rint(w / NARROWEST);
        } else if (ratio > WIDEST) {
            w = (int) Math.rint(h * WIDEST);
        }
        return new Region((width - w) / 2, (height - h) / 2, w, h);
    }
}
