package io.clairfs.fs.control;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What open control files may hold together. */
final class OpenContentsTest {
    private static ControlContent holding(int bytes) {
        return ControlContent.of(new byte[bytes]);
    }

    @Test
    void moreHeapThanAllMayHold_isRefused_untilAnotherIsClosed() {
        OpenContents open = new OpenContents(10, 100);
        long first = open.add(holding(60));
        long second = open.add(holding(40));
        assertThat(open.add(holding(1))).isEqualTo(OpenContents.NONE);
        open.close(second);
        long third = open.add(holding(30));
        assertThat(third).isNotIn(OpenContents.NONE, first, second);
        assertThat(open.get(second)).isNull();
        assertThat(open.get(third)).isNotNull();
    }

    @Test
    void oneThatIsLargerThanAllMayHold_isOpenAlone() {
        OpenContents open = new OpenContents(10, 100);
        long large = open.add(holding(500));
        assertThat(large).isNotEqualTo(OpenContents.NONE);
        assertThat(open.add(holding(1))).isEqualTo(OpenContents.NONE);
        open.close(large);
        assertThat(open.add(holding(1))).isNotEqualTo(OpenContents.NONE);
    }

    @Test
    void manyFiles_areNoMoreThanMayBeOpen() {
        OpenContents open = new OpenContents(2, 100);
        long first = open.add(holding(1));
        long _ = open.add(holding(1));
        assertThat(open.hasRoom()).isFalse();
        open.close(first);
        open.close(first);
        assertThat(open.hasRoom()).isTrue();
    }
}
