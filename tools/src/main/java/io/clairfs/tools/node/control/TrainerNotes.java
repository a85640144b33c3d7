package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.tools.node.status.Status;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The control file {@code note}: lines that trainers write, for {@code status} to show, such as why no job follows a DataLoader. They change
 * nothing else.
 *
 * <p>Holds the last {@value #MOST} of at most {@value #MOST_CHARACTERS} characters. A line that is written again is held once; an empty write
 * forgets all. The writer may be anybody, so characters that would steer a terminal are shown by their numbers.
 */
public final class TrainerNotes implements ControlFile {
    static final int MOST = 8;
    static final int MOST_CHARACTERS = 500;

    private final Clock clock;
    private final Deque<Status.Note> notes = new ArrayDeque<>();

    public TrainerNotes(Clock clock) {
        this.clock = clock;
    }

    /** The notes, the oldest first. */
    synchronized List<Status.Note> notes() {
        return List.copyOf(notes);
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public ControlContent content() {
        return ControlContent.of(notes().stream()
                .map(note -> note.time() + " " + note.text() + "\n")
                .collect(Collectors.joining())
                .getBytes(UTF_8));
    }

    @Override
    public synchronized void accept(String text) throws RejectedException {
        List<String> lines =
                text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
        for (String line : lines) {
            if (line.length() > MOST_CHARACTERS) {
                throw new RejectedException("a note has at most " + MOST_CHARACTERS + " characters, and one has "
                        + line.length() + ": shorten it");
            }
        }
        if (lines.isEmpty()) {
            notes.clear();
        }
        String now = Instant.now(clock).toString();
        for (String line : lines) {
            String shown = shown(line);
            notes.removeIf(note -> note.text().equals(shown));
            notes.addLast(new Status.Note(now, shown));
            if (notes.size() > MOST) {
                notes.removeFirst();
            }
        }
    }

    private static String shown(String line) {
        StringBuilder text = new StringBuilder();
        line.codePoints().forEach(c -> {
            switch (Character.getType(c)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.SURROGATE,
                        Character.PRIVATE_USE,
                        Character.UNASSIGNED,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR -> text.append(String.format("\\u%04x", c));
                default -> text.appendCodePoint(c);
            }
        });
        return text.toString();
    }
}
