package io.clairfs.gpufeeder.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.InvalidSpecException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ViewSpecTest {
    @Test
    void rawIsNoTransformation() throws Exception {
        assertThat(ViewSpec.parse("raw").open().isRaw()).isTrue();
        assertThat(ViewSpec.parse("raw").open().identity()).isEmpty();
    }

    // Promise V5
    @Test
    void identitiesOfDifferentViewsDiffer_andNameTheDecoder() throws Exception {
        List<String> identities = List.of(
                identity("decode"),
                identity("decode,shorter=256"),
                identity("decode,shorter=257"),
                identity("npy"),
                identity("npy:shorter=256"),
                identity("npy:image,size=256"),
                identity("npy:image,size=256,layout=nhwc"),
                identity("npy:image,size=256,crop=none"),
                identity("npy:image,size=256x200"),
                identity("npy:image,size=256,resize=300"));
        assertThat(identities).doesNotHaveDuplicates().allMatch(identity -> identity.matches("\\p{Print}+"));
        assertThat(identities)
                .allMatch(identity -> identity.matches(".* jpeg=(libjpeg-turbo/[0-9a-f]{16}|jdk/.*) pixels=2"));
        assertThat(identity("decode:shorter=256")).isEqualTo(identity("decode,shorter=256"));
        assertThat(identity("npy:image,size=256,resize=256"))
                .as("the same in other words")
                .isEqualTo(identity("npy:image,size=256x256,layout=nchw,crop=center"));
    }

    private static String identity(String text) throws InvalidSpecException {
        return ViewSpec.parse(text).open().identity();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "| '' is no view; known: raw, decode[,shorter=N], npy[:shorter=N], npy:image,size=224[,...]",
                "Decode | 'Decode' is no view",
                "decoded | 'decoded' is no view",
                "raw,shorter=4 | 'raw,shorter=4' is no view",
                "decode, | '' is no parameter of a view; known: shorter=N, such as shorter=256",
                "decode,longer=4 | 'longer=4' is no parameter of a view",
                "decode,shorter= | shorter='' is not an integer",
                "decode,shorter=4,5 | shorter='4,5' is not an integer",
                "decode,shorter=0 | shorter=0 is out of range: 1 to 16384",
                "decode,shorter=16385 | shorter=16385 is out of range: 1 to 16384",
                "npy,shorter=4 | 'npy,shorter=4' is no view",
                "npy:image,sise=4 | size is missing",
                "npy:image,size=4,sise=4 | unknown key 'sise'",
                "npy:jpeg,size=4 | 'jpeg,size=4' is no parameter of a view",
                "npy:image,size=4,crop=random | a view has the same bytes in every epoch",
                "npy:image,size=4,flip=random | a view has the same bytes in every epoch"
            })
    void whatIsNoView_isRefusedInOneLine(String text, String said) {
        assertThatThrownBy(() -> ViewSpec.parse(text == null ? "" : text))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining(said)
                .hasMessageNotContaining("\n");
    }
}
