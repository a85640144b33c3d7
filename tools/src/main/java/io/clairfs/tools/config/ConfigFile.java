package io.clairfs.tools.config;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/**
 * A YAML file with what a mount is told ({@code mount:}) and what was measured on the machine ({@code model:}).
 *
 * @param mount options
 * @param model as {@code clairfs calibrate} writes it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConfigFile(
        @Nullable MountFile mount, @Nullable ModelFile model) {
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(YAMLWriteFeature.WRITE_DOC_START_MARKER)
            .build();

    public MountFile mountOrEmpty() {
        return mount == null ? MountFile.EMPTY : mount;
    }

    public ModelFile modelOrUnmeasured() {
        return model == null ? ModelFile.UNMEASURED : model;
    }

    /** Reads a file; the message of a failure is one line that says where it is wrong. */
    public static ConfigFile read(Path file) throws IOException {
        String text = Files.readString(file);
        if (text.isBlank()) {
            return new ConfigFile(null, null);
        }
        try {
            ConfigFile config = YAML.readValue(text, ConfigFile.class);
            if (config == null) {
                return new ConfigFile(null, null);
            }
            var _ = config.modelOrUnmeasured().model(); // what the model does not take is said now
            var _ = config.modelOrUnmeasured().memoryClass(0);
            var _ = config.modelOrUnmeasured().ssdClass(0);
            return config;
        } catch (DatabindException e) {
            throw new IOException(file + where(e) + key(e) + ": " + firstLine(e.getOriginalMessage()), e);
        } catch (JacksonException e) {
            throw new IOException(file + where(e) + ": not YAML: " + firstLine(e.getOriginalMessage()), e);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": model: " + e.getMessage(), e);
        }
    }

    private static String where(JacksonException e) {
        return e.getLocation() == null ? "" : ", line " + e.getLocation().getLineNr();
    }

    private static String key(DatabindException e) {
        String keys = e.getPath().stream()
                .map(JacksonException.Reference::getPropertyName)
                .filter(Objects::nonNull)
                .collect(Collectors.joining("."));
        return keys.isEmpty() ? "" : ", " + keys;
    }

    private static String firstLine(@Nullable String text) {
        return text == null ? "unreadable" : text.lines().findFirst().orElse("unreadable");
    }

    /** This as a file has it. */
    public String text() {
        return YAML.writeValueAsString(this);
    }
}
