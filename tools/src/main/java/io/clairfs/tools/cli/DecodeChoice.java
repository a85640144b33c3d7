package io.clairfs.tools.cli;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.gpufeeder.decode.Decoding;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.RawDecoding;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What {@code --decode} means: {@code raw,dtype=float32,shape=3x224x224[,offset=N]}. */
final class DecodeChoice {
    private static final String RAW = "raw,";

    private DecodeChoice() {}

    /**
     * The decoding of a spec.
     *
     * @param example a file of the dataset, for specs that leave type or shape to it
     */
    static Decoding of(String spec, Path example) throws CommandFailedException {
        try {
            if (!spec.startsWith(RAW)) {
                throw new InvalidSpecException(
                        "known is raw,dtype=TYPE,shape=SHAPE[,offset=N], such as raw,dtype=float32,shape=3x224x224");
            }
            Keys keys = Keys.parse(spec.substring(RAW.length()).replace(',', ' '));
            ElementType type = ElementType.values()[keys.choice("dtype", typeNames())];
            List<Integer> shape = Arrays.stream(keys.text("shape", "").split("x", -1))
                    .map(Integer::valueOf)
                    .toList();
            int offset = keys.integer("offset", 0, 0, 1 << 30);
            keys.requireAllUsed();
            return new RawDecoding(new SampleFormat(type, shape), offset);
        } catch (InvalidSpecException | IllegalArgumentException e) {
            throw new CommandFailedException("--decode " + spec + " for files like " + example + ": " + e.getMessage());
        }
    }

    private static String[] typeNames() {
        return Arrays.stream(ElementType.values())
                .map(type -> type.name().toLowerCase(Locale.ROOT))
                .toArray(String[]::new);
    }
}
