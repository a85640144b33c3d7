package io.clairfs.gpufeeder.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.ring.RingLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user may write after {@code --on-device}, and which samples it fits. */
final class ConversionTest {
    private static SampleFormat bytes(int... shape) {
        return new SampleFormat(
                ElementType.UINT8, java.util.Arrays.stream(shape).boxed().toList());
    }

    @Test
    void a_spec_means_what_torchvision_calculates() throws Exception {
        Conversion conversion =
                Conversion.parse("dtype=float16,mean=0.485:0.456:0.406,std=0.229:0.224:0.225,flip=random");
        assertThat(conversion)
                .isEqualTo(new Conversion(
                        ElementType.FLOAT16, List.of(0.485, 0.456, 0.406), List.of(0.229, 0.224, 0.225), true));
        assertThat(200 * conversion.scale(1) + conversion.bias(1)).isCloseTo((200 / 255f - 0.456f) / 0.224f, within());
        Conversion plain = Conversion.parse("dtype=float32");
        assertThat(255 * plain.scale(2) + plain.bias(2)).isCloseTo(1, within());
        assertThat(plain.flip()).isFalse();
    }

    private static org.assertj.core.data.Offset<Float> within() {
        return org.assertj.core.data.Offset.offset(1e-6f);
    }

    @Test
    void images_become_planes_wherever_their_channels_were() throws Exception {
        Conversion conversion = Conversion.parse("dtype=float32");
        for (SampleFormat format : List.of(bytes(3, 20, 30), bytes(20, 30, 3))) {
            conversion.requireFits(format, 65_535);
            RingLayout layout = conversion.layout(new RingLayout(2, 5, format));
            assertThat(layout.format()).isEqualTo(new SampleFormat(ElementType.FLOAT32, List.of(3, 20, 30)));
            assertThat(layout.slots()).isEqualTo(2);
            assertThat(layout.batch()).isEqualTo(5);
        }
        assertThat(Conversion.Planes.of(bytes(3, 20, 30))).isEqualTo(new Conversion.Planes(3, 20, 30, 1, 600));
        assertThat(Conversion.Planes.of(bytes(20, 30, 4))).isEqualTo(new Conversion.Planes(4, 20, 30, 4, 1));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    mean=0.5 | dtype is missing: float16 or float32
                    dtype=int8 | dtype
                    dtype=float16,std=0.1:0 | std=0.1:0 has a 0
                    dtype=float16,std=a | std=a is none: 1 to 4 numbers
                    dtype=float16,mean=1:2:3:4:5 | mean=1:2:3:4:5 is none
                    dtype=float16,mean=NaN | mean=NaN is none
                    dtype=float16,size=3 | size
                    dtype=float16,flip=yes | flip
                    """)
    void what_is_wrong_is_said_in_one_line(String spec, String reason) {
        assertThatThrownBy(() -> Conversion.parse(spec))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void samples_that_are_no_images_are_refused() throws Exception {
        Conversion three = Conversion.parse("dtype=float16,mean=1:2:3");
        for (SampleFormat format : List.of(
                bytes(30),
                bytes(20, 30, 40),
                bytes(3, 30, 4),
                new SampleFormat(ElementType.FLOAT32, List.of(3, 20, 30)))) {
            assertThatThrownBy(() -> three.requireFits(format, 5)).hasMessageContaining("are no images of uint8");
        }
        assertThatThrownBy(() -> three.requireFits(bytes(1, 20, 30), 5))
                .hasMessageContaining("one for each of the 1 channels, not 3");
        assertThatThrownBy(() -> three.requireFits(bytes(3, 20, 30), 65_536)).hasMessageContaining("65535 at most");
    }
}
