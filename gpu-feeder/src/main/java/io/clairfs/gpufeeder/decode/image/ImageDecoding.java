package io.clairfs.gpufeeder.decode.image;

import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.SampleDecoder;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.Supplier;

/** JPEG and PNG files to samples of one size. */
public final class ImageDecoding implements Decoding {
    private static final Logger LOG = System.getLogger(ImageDecoding.class.getName());

    /** To be raised with every change of this package that may change a pixel. */
    private static final int PIXELS_VERSION = 2;

    private final ImageForm form;
    private final Supplier<PixelDecoder> jpeg;

    /** JPEG files are decoded by libjpeg-turbo if this system has it, else, with a note in the log, by the JDK. */
    public ImageDecoding(ImageForm form) {
        this(form, TurboJpegLibrary.isPresent());
        if (form.kind() != ImageForm.Kind.PNG) {
            warnIfSlow();
        }
    }

    /** A note in the log where JPEG files are decoded by the JDK. */
    public static void warnIfSlow() {
        if (!TurboJpegLibrary.isPresent()) {
            LOG.log(
                    Level.WARNING,
                    "{0} is not installed: JPEG files are decoded by the JDK, which is slower; Debian''s package is libturbojpeg0",
                    TurboJpegLibrary.NAME);
        }
    }

    ImageDecoding(ImageForm form, boolean turbo) {
        this.form = form;
        jpeg = jpegDecoders(turbo);
    }

    static Supplier<PixelDecoder> jpegDecoders(boolean turbo) {
        return turbo ? TurboJpeg::new : JdkJpeg::new;
    }

    /**
     * The decoders whose pixels these are: the same text, the same pixels. libjpeg-turbo is named by the content of its file, for its version cannot be
     * asked for; the JDK's JPEG decoder by the JDK's version. PNG is lossless, and what is made of its values is this package's.
     */
    public static String decoders() {
        String jpeg = TurboJpegLibrary.isPresent()
                ? "libjpeg-turbo/" + TurboJpegLibrary.digest()
                : "jdk/" + Runtime.version() + "/" + System.getProperty("java.vendor");
        return "jpeg=" + jpeg + " pixels=" + PIXELS_VERSION;
    }

    @Override
    public SampleFormat format() {
        return form.format();
    }

    @Override
    public SampleDecoder open() {
        return new ImageDecoder(form, jpeg);
    }
}
