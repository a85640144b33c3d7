package io.clairfs.fs.faulty;

import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * A fault that is to be: what goes wrong, with which requests, how often.
 *
 * @param requests those that it strikes
 * @param path the file, or the directory with all below it; empty is everything
 * @param times how many requests it strikes before it is over
 * @param chance of each request to be struck, between 0 and 1
 * @param seed decides which ones
 * @param duration of a delay, and the bound of a hang
 */
public record FaultSpec(
        FaultKind kind, Set<Request> requests, String path, long times, double chance, long seed, Duration duration) {
    /** Struck until lifted. */
    public static final long ALWAYS = Long.MAX_VALUE;

    private static final Duration LONGEST = Duration.ofMinutes(2);
    private static final Duration USUAL_DELAY = Duration.ofMillis(200);
    private static final Duration USUAL_HANG = Duration.ofMinutes(1);

    public FaultSpec {
        requests = Set.copyOf(requests);
        if (requests.isEmpty() || times < 1 || !(chance > 0 && chance <= 1)) {
            throw new IllegalArgumentException("a fault that strikes nothing");
        }
        if (kind == FaultKind.SHORT_READ && !requests.equals(Set.of(Request.READ))) {
            throw new IllegalArgumentException("only reads can be short");
        }
        if (duration.isNegative() || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("a duration must be between 0 and " + LONGEST.toSeconds() + " s");
        }
    }

    /** Strikes the usual requests for every file until lifted. */
    public static FaultSpec of(FaultKind kind) {
        return new FaultSpec(kind, kind.usual(), "", ALWAYS, 1, 0, kind == FaultKind.HANG ? USUAL_HANG : USUAL_DELAY);
    }

    public FaultSpec at(String file) {
        return new FaultSpec(kind, requests, file, times, chance, seed, duration);
    }

    public FaultSpec on(Request... only) {
        return new FaultSpec(kind, EnumSet.copyOf(Arrays.asList(only)), path, times, chance, seed, duration);
    }

    public FaultSpec times(long requestCount) {
        return new FaultSpec(kind, requests, path, requestCount, chance, seed, duration);
    }

    /** Strikes some requests and spares others, as a flaky store does. */
    public FaultSpec chance(double ofEach, long decidedBy) {
        return new FaultSpec(kind, requests, path, times, ofEach, decidedBy, duration);
    }

    public FaultSpec lasting(Duration longest) {
        return new FaultSpec(kind, requests, path, times, chance, seed, longest);
    }

    /**
     * Reads {@code KIND [path=P] [on=open,read] [times=N] [chance=C] [seed=S] [ms=D]}.
     *
     * @throws IllegalArgumentException when it is anything else
     */
    public static FaultSpec parse(String text) {
        String[] words = text.strip().split(" +");
        FaultSpec spec = of(FaultKind.valueOf(words[0].toUpperCase(Locale.ROOT)));
        for (String word : Arrays.asList(words).subList(1, words.length)) {
            String[] pair = word.split("=", 2);
            if (pair.length != 2) {
                throw new IllegalArgumentException("not key=value: " + word);
            }
            String value = pair[1];
            spec = switch (pair[0]) {
                case "path" -> spec.at(value);
                case "on" -> spec.on(requests(value));
                case "times" -> spec.times(Long.parseLong(value));
                case "chance" -> spec.chance(Double.parseDouble(value), spec.seed);
                case "seed" -> spec.chance(spec.chance, Long.parseLong(value));
                case "ms" -> spec.lasting(Duration.ofMillis(Long.parseLong(value)));
                default -> throw new IllegalArgumentException("no such key: " + pair[0]);
            };
        }
        return spec;
    }

    private static Request[] requests(String names) {
        return Arrays.stream(names.split(","))
                .map(name -> Request.valueOf(name.toUpperCase(Locale.ROOT)))
                .toArray(Request[]::new);
    }

    boolean concerns(Request request, String file) {
        return requests.contains(request)
                && (path.isEmpty()
                        || file.equals(path)
                        || (file.startsWith(path) && file.charAt(path.length()) == '/'));
    }
}
