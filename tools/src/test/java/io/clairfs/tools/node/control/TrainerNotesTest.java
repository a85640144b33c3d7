package io.clairfs.tools.node.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.control.ControlFile.RejectedException;
import io.clairfs.tools.node.status.Status;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

final class TrainerNotesTest {
    private static final String NOW = "2024-05-01T10:00:00Z";

    private final TrainerNotes notes = new TrainerNotes(Clock.fixed(Instant.parse(NOW), ZoneOffset.UTC));

    @Test
    void repeatedNote_isHeldOnce() throws Exception {
        notes.accept("no job follows it\n");
        notes.accept("another\n\n");
        notes.accept("  no job follows it");
        assertThat(notes.notes())
                .containsExactly(new Status.Note(NOW, "another"), new Status.Note(NOW, "no job follows it"));
        notes.accept("\n");
        assertThat(notes.notes()).isEmpty();
    }

    @Test
    void charactersThatSteerATerminal_areShownByTheirNumbers() throws Exception {
        notes.accept("a\u001b[31mb\u202ec\u0007 \u00e9\n");
        assertThat(notes.notes()).extracting(Status.Note::text).containsExactly("a\\u001b[31mb\\u202ec\\u0007 \u00e9");
    }

    @Test
    void numberAndLength_areBounded() throws Exception {
        for (int i = 0; i < TrainerNotes.MOST + 3; i++) {
            notes.accept("note " + i);
        }
        assertThat(notes.notes()).hasSize(TrainerNotes.MOST);
        assertThat(notes.notes().getFirst().text()).isEqualTo("note 3");
        assertThatThrownBy(() -> notes.accept("fine\n" + "x".repeat(TrainerNotes.MOST_CHARACTERS + 1)))
                .isInstanceOf(RejectedException.class)
                .hasMessageContaining("501");
        assertThat(notes.notes()).extracting(Status.Note::text).doesNotContain("fine");
    }
}
