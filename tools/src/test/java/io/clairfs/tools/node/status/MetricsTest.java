package io.clairfs.tools.node.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class MetricsTest {
    private static final Path PAGE = Path.of("..", "docs", "METRICS.md");

    /** Collects the path of each number in {@code status.json}, from the types alone. */
    private static void numbers(Type type, String path, Set<String> into) {
        switch (type) {
            case ParameterizedType generic
            when generic.getRawType() == List.class -> numbers(generic.getActualTypeArguments()[0], path + "[]", into);
            case ParameterizedType generic
            when generic.getRawType() == Map.class -> numbers(generic.getActualTypeArguments()[1], path + ".*", into);
            case Class<?> record
            when record.isRecord() -> {
                for (RecordComponent component : record.getRecordComponents()) {
                    String name =
                            component.getName().replaceAll("(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
                    numbers(component.getGenericType(), path.isEmpty() ? name : path + "." + name, into);
                }
            }
            case Class<?> plain -> {
                if (Set.of(int.class, long.class, double.class, Integer.class, Long.class)
                        .contains(plain)) {
                    into.add(path);
                }
            }
            default -> throw new AssertionError("what is " + type + " at " + path);
        }
    }

    @Test
    void everyNumberOfTheStatus_isInTheTable_andNoOther() {
        Set<String> numbers = new TreeSet<>();
        numbers(Status.class, "", numbers);
        assertThat(Metrics.ALL.stream().map(Metrics.Metric::path)).doesNotHaveDuplicates();
        assertThat(new TreeSet<>(Metrics.ALL.stream().map(Metrics.Metric::path).toList()))
                .isEqualTo(numbers)
                .hasSizeGreaterThan(40);
    }

    @Test
    void thePageOfTheMetrics_isTheTable() throws Exception {
        assertThat(Files.readString(PAGE)).contains(Metrics.markdown());
    }
}
