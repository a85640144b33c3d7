package io.clairfs.gpufeeder.decode.spec;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.RawDecoding;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.decode.array.NpyDecoding;
import io.clairfs.gpufeeder.decode.array.WavDecoding;
import io.clairfs.gpufeeder.decode.image.ImageDecoding;
import io.clairfs.gpufeeder.decode.image.ImageForm;
import java.io.IOException;
import java.nio.file.Path;

/**
 * How the files of a feed are decoded: a kind, then {@code key=value} pairs, with commas between them.
 *
 * <pre>
 * raw,dtype=float32,shape=3x224x224[,offset=N]
 * int16,shape=128x128x128x4[,offset=N]
 * npy
 * wav
 * image|jpeg|png,size=224[,layout=nchw|nhwc][,crop=center|random|none][,resize=256][,flip=none|random]
 * </pre>
 */
public sealed interface DecodeSpec {
    /**
     * The spec that {@code text} describes.
     *
     * @throws InvalidSpecException in one line, with the wrong value and what is allowed
     */
    static DecodeSpec parse(String text) throws InvalidSpecException {
        return DecodeSpecParser.parse(text);
    }

    /**
     * What is done to every file of a feed.
     *
     * @param example the first file; {@code npy} and {@code wav} take type and shape from it, the others do not open it
     * @throws io.clairfs.gpufeeder.decode.BadSampleException when the example is not what the spec says; its path is not in the message
     */
    Decoding decoding(Path example) throws IOException;

    /** Elements as they lie in the file, after {@code offset} bytes. */
    record Raw(SampleFormat format, int offset) implements DecodeSpec {
        @Override
        public Decoding decoding(Path example) {
            return new RawDecoding(format, offset);
        }
    }

    /** numpy's files. */
    record Npy() implements DecodeSpec {
        @Override
        public Decoding decoding(Path example) throws IOException {
            return NpyDecoding.like(example);
        }
    }

    /** 16-bit PCM. */
    record Wav() implements DecodeSpec {
        @Override
        public Decoding decoding(Path example) throws IOException {
            return WavDecoding.like(example);
        }
    }

    /** JPEG and PNG files. */
    record Image(ImageForm form) implements DecodeSpec {
        @Override
        public Decoding decoding(Path example) {
            return new ImageDecoding(form);
        }
    }
}
