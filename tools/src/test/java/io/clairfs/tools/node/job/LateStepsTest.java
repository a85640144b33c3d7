package io.clairfs.tools.node.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.status.ErrorLog;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The steps that follow the listing of the dataset. */
final class LateStepsTest {
    @Test
    void stepThatFails_isToldOf_andTheOthersAreDone() {
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        List<String> done = new ArrayList<>();
        LateSteps steps = new LateSteps(errors);
        steps.run("watching", () -> {
            throw new DatasetException("no class directories");
        });
        steps.run("starting", () -> {
            throw new ArithmeticException("integer overflow");
        });
        steps.run("recovering", () -> {
            throw new OutOfMemoryError("heap");
        });
        steps.run("planning", () -> done.add("planned"));
        assertThat(done).containsExactly("planned");
        assertThat(errors.lines().stream().map(ErrorLog.Line::message))
                .containsExactly(
                        "index: no class directories",
                        "starting failed: java.lang.ArithmeticException: integer overflow",
                        "recovering failed: java.lang.OutOfMemoryError: heap");
    }
}
