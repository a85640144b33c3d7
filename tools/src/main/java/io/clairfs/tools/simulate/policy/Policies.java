package io.clairfs.tools.simulate.policy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The policies by the names that users write; {@code lower-bound} is none of them, because it fetches nothing. */
public final class Policies {
    /** The name of the run in which data is always ready. */
    public static final String LOWER_BOUND = "lower-bound";

    /** The name of our own policy. */
    public static final String CLAIRFS = "clairfs";

    private static final String PARTIAL_LOCAL = "partial-local";
    private static final double DEFAULT_Q = 0.1;
    private static final Map<String, Factory> BY_NAME = new LinkedHashMap<>();

    static {
        BY_NAME.put("naive", Naive::new);
        BY_NAME.put("staging-buffer", DoubleBuffering::new);
        BY_NAME.put("deepio-ordered", DeepIoOrdered::create);
        BY_NAME.put("deepio-opportunistic", DeepIoOpportunistic::create);
        BY_NAME.put("parallel-staging", ParallelStaging::create);
        BY_NAME.put("lbann-dynamic", LbannDynamic::create);
        BY_NAME.put("lbann-preload", LbannPreload::create);
        BY_NAME.put("locality-aware", LocalityAware::create);
        BY_NAME.put("nopfs", Nopfs::create);
        BY_NAME.put("lobster", Lobster::create);
        BY_NAME.put(PARTIAL_LOCAL, setup -> PartialLocal.create(setup, DEFAULT_Q));
        BY_NAME.put(CLAIRFS, Clairfs::create);
    }

    private Policies() {}

    /** Makes a policy for one run. */
    @FunctionalInterface
    interface Factory {
        Policy create(Setup setup) throws UnsupportedScenarioException;
    }

    /** The names of all policies, without the lower bound. */
    public static List<String> names() {
        return List.copyOf(BY_NAME.keySet());
    }

    /**
     * Refuses an unknown name; {@code partial-local} may be followed by {@code :Q}.
     *
     * @throws IllegalArgumentException with the reason
     */
    public static void check(String name) {
        if (!name.equals(LOWER_BOUND) && !BY_NAME.containsKey(name)) {
            var _ = exchanged(name);
        }
    }

    private static double exchanged(String name) {
        String start = PARTIAL_LOCAL + ":";
        if (!name.startsWith(start)) {
            throw new IllegalArgumentException("no policy '" + name + "'; there are " + LOWER_BOUND + ", "
                    + String.join(", ", BY_NAME.keySet()) + "; " + PARTIAL_LOCAL + ":Q with Q from 0 to 1");
        }
        String text = name.substring(start.length());
        if (!text.matches("0|1|[01]?\\.[0-9]{1,9}") || Double.parseDouble(text) > 1) {
            throw new IllegalArgumentException("the Q of " + PARTIAL_LOCAL + " is 0 to 1, not '" + text + "'");
        }
        return Double.parseDouble(text);
    }

    /** Makes the policy of this name, which {@link #check} allows, for one run. */
    public static Policy create(String name, Setup setup) throws UnsupportedScenarioException {
        Factory known = BY_NAME.get(name);
        return known != null ? known.create(setup) : PartialLocal.create(setup, exchanged(name));
    }
}
