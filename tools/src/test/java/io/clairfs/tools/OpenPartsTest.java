package io.clairfs.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenPartsTest {
    private final List<String> ended = new ArrayList<>();
    private final OpenParts parts = new OpenParts("a test");

    private void begin(String name) {
        AutoCloseable part = parts.add(() -> ended.add(name));
        assertThat(part).isNotNull();
    }

    @Test
    void partsEnd_inReverse_eachOnce() {
        begin("first");
        begin("second");
        begin("third");
        parts.close();
        parts.close();
        assertThat(ended).containsExactly("third", "second", "first");
    }

    @Test
    void partThatFailsToEnd_keepsNoOtherFromIt() {
        begin("first");
        AutoCloseable failing = parts.add(() -> {
            throw new IllegalStateException("for a test");
        });
        assertThat(failing).isNotNull();
        begin("third");
        parts.close();
        assertThat(ended).containsExactly("third", "first");
    }

    @Test
    void partThatBeginsWhileOthersEnd_isEndedAsWell() {
        begin("first");
        AutoCloseable late = parts.add(() -> begin("late"));
        assertThat(late).isNotNull();
        parts.close();
        assertThat(ended).containsExactly("late", "first");
    }
}
