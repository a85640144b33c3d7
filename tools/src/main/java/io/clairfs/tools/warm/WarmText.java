package io.clairfs.tools.warm;

import io.clairfs.tools.node.status.StatusText;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/** The lines for people. */
public final class WarmText {
    private static final int BAR = 24;
    private static final double PERCENT = 100;
    private static final double MEGA = 1e6;
    private static final double LONGEST_GUESS_S = 100 * 3600;

    private WarmText() {}

    /** The line while samples come; at most 79 characters for amounts below a PiB. */
    public static String line(Amounts now, WarmPace pace) {
        if (!now.isPlanned()) {
            return String.format(
                    Locale.ROOT,
                    "planning; %,d samples are here, %s",
                    now.residentSamples(),
                    StatusText.size(now.residentBytes()));
        }
        double share = now.wantedBytes() == 0 ? 1 : Math.clamp((double) now.cameBytes() / now.wantedBytes(), 0, 1);
        int full = (int) (BAR * share);
        return String.format(
                Locale.ROOT,
                "[%s%s] %3d %% of %s, %,.0f MB/s, %s",
                "#".repeat(full),
                "-".repeat(BAR - full),
                (int) (PERCENT * share),
                StatusText.size(now.wantedBytes()),
                pace.bytesPerSecond() / MEGA,
                toGo(pace));
    }

    private static String toGo(WarmPace pace) {
        double seconds = pace.secondsToGo();
        if (seconds > LONGEST_GUESS_S) {
            return pace.bytesPerSecond() > 0 ? "days to go" : "waiting";
        }
        return "about " + StatusText.duration(Math.ceil(seconds)) + " to go";
    }

    /** What there is to say when all is there. */
    public static String complete(Amounts now, JsonNode status, double seconds) {
        return String.format(
                Locale.ROOT,
                "warm: %,d samples, %s%s; took %s",
                now.thereSamples(),
                StatusText.size(now.thereBytes()),
                rest(now, status),
                StatusText.duration(seconds));
    }

    private static String rest(Amounts now, JsonNode status) {
        long further = status.path("samples").asLong() - now.residentSamples();
        return further <= 0
                ? ", the whole dataset"
                : String.format(
                        Locale.ROOT, ", all that is planned here; %,d more of the dataset are not kept", further);
    }

    /** What is there now. */
    public static String checked(Amounts now, JsonNode status) {
        long samples = status.path("samples").asLong();
        if (!now.isPlanned()) {
            return String.format(
                    Locale.ROOT,
                    "%,d of %,d samples of the dataset are here, %s; no job says which are wanted",
                    now.residentSamples(),
                    samples,
                    StatusText.size(now.residentBytes()));
        }
        return String.format(
                Locale.ROOT,
                "%,d of %,d wanted samples are here (%.0f %%), %s of %s; the dataset has %,d",
                now.thereSamples(),
                now.wantedSamples(),
                now.wantedSamples() == 0 ? PERCENT : PERCENT * now.thereSamples() / now.wantedSamples(),
                StatusText.size(now.thereBytes()),
                StatusText.size(now.wantedBytes()),
                samples);
    }
}
