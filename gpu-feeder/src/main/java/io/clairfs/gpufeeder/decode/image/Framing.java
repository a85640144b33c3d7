package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.BadSampleException;

/**
 * Which part of an image becomes the sample: a region of the image is resized as if it were an image of its own, and the sample is a window of the
 * result. Only what the window needs is computed.
 *
 * @param region of the image
 * @param resizedWidth of the region once it is resized
 * @param resizedHeight of the region once it is resized
 * @param windowLeft of the resized region
 * @param windowTop of the resized region
 * @param mirrored whether the window is mirrored left to right
 */
record Framing(
        Region region,
        long resizedWidth,
        long resizedHeight,
        long windowLeft,
        long windowTop,
        int windowWidth,
        int windowHeight,
        boolean mirrored) {

    /** A rectangle of an image, pixels. */
    record Region(int left, int top, int width, int height) {}

    /** The framing of an image of this size. {@code key} decides what is random. */
    static Framing of(ImageForm form, int width, int height, long key) throws BadSampleException {
        Draws draws = new Draws(key);
        // Drawn first, and drawn always, so that neither of crop and flip changes the other.
        boolean mirrored = draws.between(0, 1) < 0.5 && form.flip();
        return switch (form.crop()) {
            case NONE -> resized(new Region(0, 0, width, height), form, mirrored);
            case RANDOM -> resized(RandomCrop.of(draws, width, height), form, mirrored);
            case CENTER -> center(form, width, height, mirrored);
        };
    }

    private static Framing resized(Region region, ImageForm form, boolean mirrored) {
        return new Framing(region, form.width(), form.height(), 0, 0, form.width(), form.height(), mirrored);
    }

    /** As torchvision's Resize of one number, then CenterCrop: the longer side is rounded down, the margins half to even. */
    private static Framing center(ImageForm form, int width, int height, boolean mirrored) throws BadSampleException {
        long shorter = form.resize();
        long longer = (long) ((double) (shorter * Math.max(width, height)) / Math.min(width, height));
        long resizedWidth = width <= height ? shorter : longer;
        long resizedHeight = width <= height ? longer : shorter;
        if (longer > Integer.MAX_VALUE) {
            throw new BadSampleException(
                    "image of " + width + "x" + height + " pixels: too long and narrow to be resized");
        }
        return new Framing(
                new Region(0, 0, width, height),
                resizedWidth,
                resizedHeight,
                (long) Math.rint((resizedWidth - form.width()) / 2.0),
                (long) Math.rint((resizedHeight - form.height()) / 2.0),
                form.width(),
                form.height(),
                mirrored);
    }
}
