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

    private final ImageForm form;
    private final Supplier<PixelDecoder> jpeg;

    /** JPEG files are decoded by libjpeg-turbo if this system has it, else, with a note in the log, by the JDK. */
    public ImageDecoding(ImageForm form) {
        this(form, TurboJpegLibrary.isPresent());
        if (!TurboJpegLibrary.isPresent() && form.kind() != ImageForm.Kind.PNG) {
            LOG.log(
                    Level.WARNING,
                    "{0} is not installed: JPEG files are decoded by the JDK, which is slower; Debian''s package is libturbojpeg0",
                    TurboJpegLibrary.NAME);
        }
    }

    ImageDecoding(ImageForm form, boolean turbo) {
        this.form = form;
        jpeg = turbo ? TurboJpeg::new : JdkJpeg::new;
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
