package io.clairfs.gpufeeder.decode.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.decode.image.ImageForm;
import io.clairfs.gpufeeder.decode.image.ImageForm.Crop;
import io.clairfs.gpufeeder.decode.image.ImageForm.Kind;
import io.clairfs.gpufeeder.decode.image.ImageForm.Layout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DecodeSpecTest {
    private static final Path NO_FILE = Path.of("/nonexistent");

    @Test
    void specs_meanWhatTheySay() throws Exception {
        assertThat(DecodeSpec.parse("raw,dtype=float32,shape=3x224x224"))
                .isEqualTo(new DecodeSpec.Raw(new SampleFormat(ElementType.FLOAT32, List.of(3, 224, 224)), 0));
        assertThat(DecodeSpec.parse("int16,shape=128x128x128x4,offset=8"))
                .isEqualTo(new DecodeSpec.Raw(new SampleFormat(ElementType.INT16, List.of(128, 128, 128, 4)), 8));
        assertThat(DecodeSpec.parse("npy")).isEqualTo(new DecodeSpec.Npy());
        assertThat(DecodeSpec.parse("wav")).isEqualTo(new DecodeSpec.Wav());
        assertThat(DecodeSpec.parse("jpeg,size=224"))
                .isEqualTo(image(Kind.JPEG, 224, 224, Layout.NCHW, Crop.CENTER, 224, false));
        assertThat(DecodeSpec.parse("image,size=224x160,layout=nhwc,resize=256,crop=center,flip=random"))
                .isEqualTo(image(Kind.ANY, 224, 160, Layout.NHWC, Crop.CENTER, 256, true));
        assertThat(DecodeSpec.parse("png,size=32,crop=random"))
                .isEqualTo(image(Kind.PNG, 32, 32, Layout.NCHW, Crop.RANDOM, 32, false));
    }

    private static DecodeSpec image(
            Kind kind, int height, int width, Layout layout, Crop crop, int resize, boolean flip) {
        return new DecodeSpec.Image(new ImageForm(kind, height, width, layout, crop, resize, flip));
    }

    @Test
    void specThatSaysAll_doesNotOpenTheExample() throws Exception {
        assertThat(DecodeSpec.parse("raw,dtype=uint8,shape=5")
                        .decoding(NO_FILE)
                        .format()
                        .bytes())
                .isEqualTo(5);
        assertThat(DecodeSpec.parse("image,size=8,layout=nhwc")
                        .decoding(NO_FILE)
                        .format()
                        .shape())
                .isEqualTo(List.of(8, 8, 3));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '"',
            value = {
                ",size=3;'' is no way to decode; known: raw, int16, npy, wav, image, jpeg, png",
                "tiff,size=3;'tiff' is no way to decode",
                "raw,shape=3;dtype is missing: one of uint8, int16, int32, int64, float16, float32, float64",
                "raw,dtype=bfloat16,shape=3;'bfloat16' is none of uint8, int16",
                "raw,dtype=uint8;shape is missing: extents such as 3x224x224",
                "raw,dtype=uint8,shape=3x;shape='3x' is none",
                "raw,dtype=uint8,shape=3*4;shape='3*4' is none",
                "raw,dtype=uint8,shape=3x0;shape=3x0 is out of range",
                "raw,dtype=uint8,shape=99999x99999;is out of range: a sample has 1 to 4294967296 bytes",
                "raw,dtype=uint8,shape=3,offset=-1;offset=-1 is out of range: 0 to",
                "raw,dtype=uint8,shape=3,size=3;unknown key 'size'; known here: dtype, offset, shape",
                "raw,dtype=uint8,dtype=uint8,shape=3;key 'dtype' is given twice",
                "raw,,dtype=uint8;'' is not key=value",
                "npy,shape=3;npy takes no 'shape': the first file says type and shape",
                "jpeg;size is missing: pixels such as 224",
                "jpeg,size=0;size='0' is none: 1 to 16384 pixels",
                "jpeg,size=224x;size='224x' is none",
                "jpeg,size=224,layout=hwc;layout='hwc' is none of nchw, nhwc",
                "jpeg,size=224,crop=left;crop='left' is none of center, random, none",
                "jpeg,size=224,flip=yes;flip='yes' is none of none, random",
                "jpeg,size=224,resize=200;resize=200 is less than size=224",
                "jpeg,size=224,resize=256,crop=random;resize=256 goes with crop=center alone",
            })
    void wrongSpec_isAnsweredWithTheValueAndWhatIsAllowed(String spec, String message) {
        assertThatThrownBy(() -> DecodeSpec.parse(spec))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining(message);
    }
}
