package io.clairfs.tools.cli;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.image.ImageForm;
import io.clairfs.gpufeeder.decode.spec.DecodeSpec;
import java.io.IOException;
import java.nio.file.Path;

/** What {@code --decode} means: see {@link DecodeSpec}. */
final class DecodeChoice {
    private DecodeChoice() {}

    /** Whether a spec that has a decoding mirrors some of the samples. */
    static boolean mirrors(String spec) throws InvalidSpecException {
        return DecodeSpec.parse(spec) instanceof DecodeSpec.Image(ImageForm form) && form.flip();
    }

    /**
     * The decoding of a spec.
     *
     * @param example a file of the dataset, for specs that leave type or shape to it
     */
    static Decoding of(String spec, Path example) throws CommandFailedException {
        try {
            return DecodeSpec.parse(spec).decoding(example);
        } catch (InvalidSpecException | IOException e) {
            throw new CommandFailedException("--decode " + spec + " for files like " + example + ": " + e.getMessage());
        }
    }
}
