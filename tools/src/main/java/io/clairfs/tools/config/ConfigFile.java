package io.clairfs.tools.config;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/**
 * A YAML file with a mount's options ({@code mount:}) and a machine's measurements ({@code model:}).
 *
 * @param mount options
 * @param model as {@code clairfs calibrate} writes it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConfigFile(
        @Nullable MountFile mount, @Nullable ModelFile model) {
    private static final int MOST_BYTES = 256 * 1024;
    private static final YAMLMapper YAML = YAMLMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE)
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .disable(YAMLWriteFeature.WRITE_DOC_START_MARKER)
            .build();

    public MountFile mountOrEmpty() {
        return mount == null ? MountFile.EMPTY : mount;
    }

    public ModelFile modelOrUnmeasured() {
        return model == null ? ModelFile.UNMEASURED : model;
    }

    /** Reads a file. The message of a failure is one line that names the place of the error. */
    public static ConfigFile read(Path file) throws IOException {
        String text = text(file);
        if (text.isBlank()) {
            return new ConfigFile(null, null);
        }
        try {
            ConfigFile config = YAML.readValue(text, ConfigFile.class);
            if (config == null) {
                return new ConfigFile(null, null);
            }
            var _ = config.modelOrUnmeasured().model(); // refuses values that the model does not accept
            var _ = config.modelOrUnmeasured().memoryClass(0);
            var _ = config.modelOrUnmeasured().ssdClass(0);
            var _ = config.modelOrUnmeasured().preprocessing();
            return config;
        } catch (DatabindException e) {
            throw new IOException(file + where(e) + key(e) + ": " + firstLine(e.getOriginalMessage()), e);
        } catch (JacksonException e) {
            throw new IOException(file + where(e) + ": not YAML: " + firstLine(e.getOriginalMessage()), e);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": model: " + e.getMessage(), e);
        }
    }

    private static String text(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException(file + " is not a file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new IOException(file + " has more than " + MOST_BYTES + " bytes");
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IOException(file + ": not UTF-8", e);
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
        String line = text == null ? "unreadable" : text.lines().findFirst().orElse("unreadable");
        int cause = line.indexOf(", problem: "); // the rest names a Java class
        return cause < 0 ? line : line.substring(0, cause);
    }

    /** Formats this configuration as YAML. */
    public String text() {
        return YAML.writeValueAsString(this);
    }
}
