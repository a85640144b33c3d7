package io.clairfs.tools;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/**
 * A number of bytes as users write it: {@code 512MiB}, {@code 8GiB}, {@code 100GB}, {@code 1.5TiB}, {@code 4096}. A letter alone
 * is binary, {@code 64G} as {@code 64GiB}: so it is for tmpfs and in systemd's units.
 *
 * @param bytes zero or more
 */
public record ByteSize(long bytes) {
    private static final Pattern FORM = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*([kKMGTP](?:i?B)?|B)?");
    private static final Map<Character, Integer> POWERS = Map.of('k', 1, 'K', 1, 'M', 2, 'G', 3, 'T', 4, 'P', 5);

    /** Parses a size. Any other text is a usage error. */
    public static ByteSize parse(String text) {
        Matcher match = FORM.matcher(text.strip());
        if (!match.matches()) {
            throw new TypeConversionException("'" + text + "' is not a size like 512MiB, 8GiB or 100GB");
        }
        String unit = match.group(2) == null ? "B" : match.group(2);
        BigDecimal factor = BigDecimal.valueOf(unit.endsWith("B") && !unit.contains("i") ? 1000 : 1024)
                .pow(POWERS.getOrDefault(unit.charAt(0), 0));
        BigDecimal bytes = new BigDecimal(match.group(1)).multiply(factor).setScale(0, RoundingMode.FLOOR);
        if (bytes.compareTo(BigDecimal.valueOf(1L << 60)) > 0) {
            throw new TypeConversionException("'" + text + "' is more than any machine has");
        }
        return new ByteSize(bytes.longValueExact());
    }

    /** A short decimal form: {@code 110 KB}. */
    public static String show(long bytes) {
        String[] units = {"B", "KB", "MB", "GB", "TB", "PB"};
        double value = bytes;
        int unit = 0;
        while (value >= 1000 && unit < units.length - 1) {
            value /= 1000;
            unit++;
        }
        return (value == Math.rint(value) ? String.format("%.0f", value) : String.format("%.1f", value)) + " "
                + units[unit];
    }
}
