package io.clairfs.tools.simulate.scenario;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/** Scenarios as YAML: users' files, and the scenarios that come with the program, by name. */
public final class ScenarioFile {
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
            .enable(YAMLWriteFeature.MINIMIZE_QUOTES)
            .disable(YAMLWriteFeature.WRITE_DOC_START_MARKER)
            .addMixIn(Scenario.Device.class, WithoutDerived.class)
            .build();

    /** The keys of the source's rate. One of them is enough. */
    private static final List<String> RATES_OF_SOURCE = List.of("source", "source_total");

    private ScenarioFile() {}

    /** The names of the scenarios that come with the program. */
    public static List<String> names() throws IOException {
        return resource("index").lines().filter(line -> !line.isBlank()).toList();
    }

    /**
     * The scenario of this name, or the one in this file.
     *
     * @throws InvalidScenarioException with one line that says what is wrong and where
     */
    public static Scenario load(String nameOrFile) throws IOException {
        if (names().contains(nameOrFile)) {
            return read(nameOrFile, resource(nameOrFile + ".yaml"));
        }
        Path file = Path.of(nameOrFile);
        if (Files.isDirectory(file)) {
            throw new InvalidScenarioException(nameOrFile + " is a directory: name a file");
        }
        try {
            return read(nameOrFile, Files.readString(file));
        } catch (CharacterCodingException e) {
            throw new InvalidScenarioException(nameOrFile + ": not YAML: not UTF-8");
        } catch (NoSuchFileException e) {
            throw new InvalidScenarioException("neither a file nor the name of a scenario: " + nameOrFile
                    + "; the names are " + String.join(", ", names()));
        }
    }

    /** Parses a scenario; {@code where} names it in the message of a failure. */
    public static Scenario read(String where, String text) throws InvalidScenarioException {
        try {
            requireKeys(where, YAML.readTree(text));
            return YAML.readValue(text, Scenario.class);
        } catch (DatabindException e) {
            throw new InvalidScenarioException(where + line(e) + ": " + reason(e));
        } catch (JacksonException e) {
            throw new InvalidScenarioException(where + line(e) + ": not YAML: " + firstLine(e.getOriginalMessage()));
        }
    }

    /** A report says whether a class is memory; a file does not, for that follows from the name. */
    @JsonIgnoreProperties("memory")
    private interface WithoutDerived {}

    /** The scenario as the text of a file. */
    public static String text(Scenario scenario) {
        return YAML.writeValueAsString(scenario);
    }

    /** Reports an unknown key before a missing one. */
    private static void requireKeys(String where, JsonNode root) throws InvalidScenarioException {
        if (!root.isObject()) {
            throw new InvalidScenarioException(where + ": a scenario has keys and values, such as 'nodes: 4'");
        }
        Set<String> keys = requireKnown(where, root, Scenario.class);
        var _ = requireKnown(where, root.path("staging"), Scenario.Staging.class);
        var _ = requireKnown(where, root.path("dataset"), Scenario.Dataset.class);
        for (JsonNode each : root.path("classes")) {
            var _ = requireKnown(where, each, Scenario.Device.class);
        }
        for (String key : keys) {
            if (!root.has(key)
                    && !key.equals("sampler")
                    && !(RATES_OF_SOURCE.contains(key)
                            && RATES_OF_SOURCE.stream().anyMatch(root::has))) {
                throw new InvalidScenarioException(where + ": key '" + key + "' is missing");
            }
        }
    }

    /** Returns the allowed keys. */
    private static Set<String> requireKnown(String where, JsonNode node, Class<? extends Record> type)
            throws InvalidScenarioException {
        Set<String> known = new LinkedHashSet<>();
        for (RecordComponent each : type.getRecordComponents()) {
            known.add(each.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT));
        }
        for (String key : node.propertyNames()) {
            if (!known.contains(key)) {
                throw new InvalidScenarioException(
                        where + ": unknown key '" + key + "'; the keys here are " + String.join(", ", known));
            }
        }
        return known;
    }

    /** The message of our own checks, if one failed; else the parser's, without its hints for programmers. */
    private static String reason(DatabindException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof IllegalArgumentException ours) {
                return firstLine(ours.getMessage());
            }
        }
        String said = firstLine(e.getOriginalMessage());
        String path = e.getPath().stream()
                .map(step -> step.getPropertyName() == null ? "[" + step.getIndex() + "]" : step.getPropertyName())
                .reduce((a, b) -> a + "." + b)
                .orElse("");
        String cut = said.replaceAll(" \\(class io\\.clairfs[^)]*\\)", "")
                .replaceAll("`io\\.clairfs[\\w.]*\\$(\\w+)`", "$1")
                .replaceAll("[\\w.]*io\\.clairfs[\\w.]*\\$(\\w+)", "$1");
        return path.isEmpty() || cut.contains(path) ? cut : path + ": " + cut;
    }

    private static String line(JacksonException e) {
        return e.getLocation() == null || e.getLocation().getLineNr() < 1
                ? ""
                : ", line " + e.getLocation().getLineNr();
    }

    private static String firstLine(@Nullable String text) {
        return text == null ? "unreadable" : text.lines().findFirst().orElse("unreadable");
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = ScenarioFile.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("the program lacks its scenario " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
