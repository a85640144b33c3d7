package io.clairfs.gpufeeder.view;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.view.View;
import io.clairfs.gpufeeder.decode.image.ImageDecoding;
import io.clairfs.gpufeeder.decode.image.ImageForm;
import io.clairfs.gpufeeder.decode.image.ImageForm.Crop;
import io.clairfs.gpufeeder.decode.image.ImageForm.Kind;
import io.clairfs.gpufeeder.decode.spec.DecodeSpec;
import java.util.Map;

/**
 * What a user writes after {@code --view}:
 *
 * <pre>
 * raw
 * decode[,shorter=N]
 * npy[:shorter=N]
 * npy:image,size=224[,layout=nchw|nhwc][,crop=center|none][,resize=256]
 * </pre>
 *
 * <p>{@code decode:shorter=N} is the same as {@code decode,shorter=N}, for places where a comma ends an option.
 */
public sealed interface ViewSpec {
    /** The view of today's mounts. */
    ViewSpec RAW = new Raw();

    /** The view, with its decoders. Says in the log if these are slow. */
    View open();

    /**
     * The spec that {@code text} describes.
     *
     * @throws InvalidSpecException in one line, with the wrong value and what is allowed
     */
    static ViewSpec parse(String text) throws InvalidSpecException {
        if (text.equals("raw")) {
            return RAW;
        }
        if (text.equals("decode") || text.startsWith("decode,") || text.startsWith("decode:")) {
            return new Whole(Container.PPM, shorter(text.substring("decode".length())));
        }
        if (text.startsWith("npy:image,")) {
            return sized(text.substring("npy:".length()));
        }
        if (text.equals("npy") || text.startsWith("npy:")) {
            return new Whole(Container.NPY, shorter(text.substring("npy".length())));
        }
        throw new InvalidSpecException("'" + Keys.shorten(printable(text))
                + "' is no view; known: raw, decode[,shorter=N], npy[:shorter=N], npy:image,size=224[,...]");
    }

    private static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    /** {@code parameter} is empty, or {@code shorter=N} behind one character. */
    private static int shorter(String parameter) throws InvalidSpecException {
        if (parameter.isEmpty()) {
            return WholeImages.AS_THEY_ARE;
        }
        String pair = printable(parameter.substring(1));
        if (!pair.startsWith("shorter=")) {
            throw new InvalidSpecException(
                    "'" + Keys.shorten(pair) + "' is no parameter of a view; known: shorter=N, such as shorter=256");
        }
        return Keys.of(Map.of("shorter", pair.substring("shorter=".length())))
                .integer("shorter", WholeImages.AS_THEY_ARE, 1, ImageForm.LONGEST_SIDE);
    }

    private static ViewSpec sized(String decode) throws InvalidSpecException {
        ImageForm form = DecodeSpec.parse(decode) instanceof DecodeSpec.Image(ImageForm image) ? image : null;
        if (form == null || form.kind() != Kind.ANY) {
            throw new AssertionError("a spec of images: " + decode);
        }
        if (form.crop() == Crop.RANDOM || form.flip()) {
            throw new InvalidSpecException(
                    "a view has the same bytes in every epoch: crop=random and flip=random stay in the trainer");
        }
        return new Sized(form);
    }

    /** The files as they are. */
    record Raw() implements ViewSpec {
        @Override
        public View open() {
            return View.raw();
        }
    }

    /** All pixels of an image; {@code shorter} as of {@link WholeImages}. */
    record Whole(Container container, int shorter) implements ViewSpec {
        @Override
        public View open() {
            ImageDecoding.warnIfSlow();
            return View.of(new WholeImages(container, shorter));
        }
    }

    /** Arrays of one size. */
    record Sized(ImageForm form) implements ViewSpec {
        @Override
        public View open() {
            return View.of(new SizedImages(form));
        }
    }
}
