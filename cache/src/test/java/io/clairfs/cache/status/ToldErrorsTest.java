package io.clairfs.cache.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ToldErrorsTest {
    @Test
    void messageThatIsRepeatedAtOnce_isToldOnce_andCountedEachTime() {
        List<String> told = new ArrayList<>();
        ErrorLog errors = new ErrorLog(Clock.systemUTC(), told::add);
        for (String message : List.of("a\nline", "a\nline", "b", "a\nline")) {
            errors.add(message);
        }
        assertThat(told).containsExactly("a line", "b", "a line");
        assertThat(errors.total()).isEqualTo(4);
        assertThat(errors.lines()).extracting(ErrorLog.Line::message).containsExactly("a line", "b", "a line");
    }
}
