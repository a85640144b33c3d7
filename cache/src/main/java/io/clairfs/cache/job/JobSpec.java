package io.clairfs.cache.job;

import io.clairfs.cache.dataset.PathLookup;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.spec.Samplers;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a user said about one training run, checked as far as possible without the dataset.
 *
 * @param name identifies the job to change, show or stop
 * @param keys the pairs as written, for the sampler
 * @param sampler the sampler's name
 * @param seed as written; 0 when absent
 * @param epochs number of epochs, {@link #UNLIMITED} when the run has no known end
 * @param batch samples per rank and step; 0 when absent
 * @param window most samples that the loaders of one rank may be ahead of the trainer: batch x workers x prefetch_factor; 0 when absent
 * @param world ranks of the whole run
 * @param ranks those that read through this mount
 * @param startEpoch the first epoch that is read
 * @param startStep batches of that epoch that are skipped
 * @param subset the directory of the dataset that is the run's root, without slashes at the ends; empty for all
 */
public record JobSpec(
        String name,
        Map<String, String> keys,
        String sampler,
        String seed,
        int epochs,
        int batch,
        int window,
        int world,
        Ranks ranks,
        int startEpoch,
        int startStep,
        String subset) {
    public static final int UNLIMITED = Integer.MAX_VALUE;
    public static final String DEFAULT_NAME = "train";

    /** The value of key {@code by} in a line that was written for a training's own loader, which the training does not obey. */
    public static final String BY_LOADER = "loader";

    private static final int MOST_RANKS = 1 << 20;
    private static final int MOST_EPOCHS = 10_000_000;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    private static final Pattern NUMBER = Pattern.compile("[+-]?[0-9]+");
    private static final String RANKS = "ranks";
    private static final String ORDER_FILE = "order-file";
    private static final Set<String> NOT_OF_THE_ORDER = Set.of("name", "by", "epochs", "start_epoch", "start_step");
    private static final Set<String> READ_AHEAD = Set.of("workers", "prefetch_factor");

    /** With one of these keys the order depends on how far the loader reads ahead. */
    private static final Set<String> OF_THE_READ_AHEAD = Set.of("break_after", "endless");

    private static final Set<String> SKIPPED_BY_THE_LOADER = Set.of("skip_batches", "skip_samples");

    public JobSpec {
        keys = Map.copyOf(keys);
    }

    /**
     * Reads one line of the control file: {@code key=value} pairs, or a bare integer, which is the seed. A line without ranks means all
     * ranks of the world.
     */
    public static JobSpec parse(String line) throws InvalidSpecException {
        Keys keys = keys(line);
        int world = world(keys);
        return parse(keys, keys.has(RANKS) ? Ranks.parse(keys.text(RANKS, "")) : new Ranks(0, world - 1));
    }

    /** The same in a group of nodes, where each node names its own ranks: a line without ranks means those that this node named before. */
    public static JobSpec parse(String line, Ranks before) throws InvalidSpecException {
        Keys keys = keys(line);
        return parse(keys, keys.has(RANKS) ? Ranks.parse(keys.text(RANKS, "")) : before);
    }

    private static Keys keys(String line) throws InvalidSpecException {
        String text = line.strip();
        return Keys.parse(NUMBER.matcher(text).matches() ? "seed=" + text : text);
    }

    /** The ranks of the whole run, of a job's line. No file that the line names is read. */
    public static int worldOf(String line) throws InvalidSpecException {
        return world(Keys.parse(line));
    }

    private static int world(Keys keys) throws InvalidSpecException {
        return keys.integer("world", 1, 1, MOST_RANKS);
    }

    private static JobSpec parse(Keys keys, Ranks ranks) throws InvalidSpecException {
        String name = name(keys.text("name", DEFAULT_NAME));
        int world = world(keys);
        int batch = keys.integer("batch", 0, keys.has("batch") ? 1 : 0, 1 << 24);
        int workers = keys.integer("workers", 0, 0, 4096);
        int prefetch = keys.integer("prefetch_factor", 2, 1, 4096);
        int batchOfRank = batch == 0 ? 0 : Math.max(1, Samplers.batchOfRank(keys));
        JobSpec spec = new JobSpec(
                name,
                keys.asWritten(),
                keys.text("sampler", Samplers.DEFAULT),
                Samplers.seed(keys),
                keys.has("epochs") ? keys.integer("epochs", 1, 1, MOST_EPOCHS) : UNLIMITED,
                batchOfRank,
                (int) Math.min(1 << 24, (long) Math.max(1, workers) * prefetch * batchOfRank),
                world,
                ranks.requireIn(world),
                keys.integer("start_epoch", 0, 0, MOST_EPOCHS),
                keys.integer("start_step", 0, 0, Integer.MAX_VALUE),
                subset(keys.text("subset", "")));
        if (spec.startEpoch >= spec.epochs) {
            throw new InvalidSpecException("start_epoch=" + spec.startEpoch + " is behind the last of " + spec.epochs
                    + " epochs (they count from 0)");
        }
        if (spec.startStep > 0 && batch == 0) {
            throw new InvalidSpecException("start_step counts batches: give batch= as well");
        }
        if ((long) spec.startStep * batchOfRank > Integer.MAX_VALUE) {
            throw new InvalidSpecException("start_step=" + spec.startStep + " of batch=" + batch + " skips "
                    + (long) spec.startStep * batchOfRank
                    + " samples, more than any epoch has: start_step counts batches, not samples");
        }
        if (keys.has("by") && !BY_LOADER.equals(keys.text("by"))) {
            throw new InvalidSpecException("by=" + Keys.shorten(keys.text("by", "")) + " must be by=" + BY_LOADER
                    + ", or left out in a line that you write");
        }
        Samplers.check(keys, spec.startEpoch, spec.epochs == UNLIMITED ? spec.startEpoch + 1 : spec.epochs - 1);
        keys.requireAllUsed();
        return spec;
    }

    /** The sampler of this job over {@code samples} samples without known paths. */
    public Sampler sampler(int samples) throws InvalidSpecException {
        return Samplers.create(new SamplerSetting(samples, startEpoch, null), Keys.of(keys));
    }

    /** The sampler of this job over the samples of {@code index}. */
    public Sampler sampler(SampleIndex index) throws InvalidSpecException {
        SamplerSetting setting = new SamplerSetting(index.size(), startEpoch, () -> new PathLookup(index)::sampleOf);
        return Samplers.create(setting, Keys.of(keys));
    }

    /**
     * As {@link #sampler(SampleIndex)}, for a trainer that takes its order from here. Its loader skips by itself what it skips when a run is
     * resumed ({@code skip_batches}, {@code skip_samples}), so every epoch is whole.
     */
    public Sampler samplerOfWholeEpochs(SampleIndex index) throws InvalidSpecException {
        Map<String, String> whole = new HashMap<>(keys);
        whole.keySet().removeAll(SKIPPED_BY_THE_LOADER);
        SamplerSetting setting = new SamplerSetting(index.size(), startEpoch, () -> new PathLookup(index)::sampleOf);
        return Samplers.create(setting, Keys.of(whole));
    }

    /** How many samples of a rank the loader skips in the first epoch ({@code skip_batches}, {@code skip_samples}), beside what its sampler leaves out. */
    public long skippedByTheLoader() {
        return Long.parseLong(keys.getOrDefault("skip_batches", "0")) * batch
                + Long.parseLong(keys.getOrDefault("skip_samples", "0"));
    }

    /** The first rank that reads through this mount. */
    public int firstRank() {
        return ranks.first();
    }

    /** The last rank; less than the first when no rank reads here. */
    public int lastRank() {
        return ranks.last();
    }

    /** The same job where these ranks read through this mount. */
    public JobSpec withRanks(Ranks here) throws InvalidSpecException {
        Map<String, String> said = new HashMap<>(keys);
        said.put(RANKS, here.text());
        return parse(line(said));
    }

    /** Whether its order comes from files that the user wrote, whose epochs may differ in what they read. */
    public boolean readsOrderFiles() {
        return sampler.equals(ORDER_FILE) || ORDER_FILE.equals(keys.get("base"));
    }

    /** The name of its order files as it is written, {@code {epoch}} and {@code {rank}} included; null where its orders are computed. */
    public @Nullable String orderFile() {
        return readsOrderFiles() ? keys.getOrDefault("file", "") : null;
    }

    /**
     * Whether the ranks that read here are the ranks of one node in the sense of {@code per_node}, or all ranks. Other nodes than these would
     * keep the samples that a locality-aware order deals to them.
     */
    public boolean hasRanksOfOneNode() {
        if (!sampler.equals(Samplers.LOCALITY_AWARE) || ranks.count() == 0 || ranks.count() == world) {
            return true;
        }
        int perNode = Integer.parseInt(keys.getOrDefault("per_node", "1"));
        return ranks.count() == perNode && ranks.first() % perNode == 0;
    }

    /** The spec as a line that {@link #parse(String)} reads. */
    public String line() {
        return line(keys);
    }

    /** The part of the spec that is the same on every node: a line with the name and without ranks. */
    public String lineForAll() {
        Map<String, String> said = new HashMap<>(keys);
        said.remove(RANKS);
        said.put("name", name);
        return line(said);
    }

    /** Whether both read the same samples in the same order, as far as their lines tell; they may begin and end at other places. */
    public boolean hasOrderOf(JobSpec other) {
        return ofOrder().equals(other.ofOrder());
    }

    private Map<String, String> ofOrder() {
        Map<String, String> said = new HashMap<>(keys);
        said.keySet().removeAll(NOT_OF_THE_ORDER);
        if (!followsFromReadAhead()) {
            said.keySet().removeAll(READ_AHEAD);
        }
        said.put("sampler", sampler);
        said.put("seed", seed);
        said.put("subset", subset);
        said.put(RANKS, ranks.text());
        return said;
    }

    private boolean followsFromReadAhead() {
        return sampler.equals("torchdata-stateful")
                || OF_THE_READ_AHEAD.stream().anyMatch(keys::containsKey);
    }

    private static String line(Map<String, String> keys) {
        return keys.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(" "));
    }

    private static String name(String name) throws InvalidSpecException {
        if (!NAME.matcher(name).matches()) {
            throw new InvalidSpecException("name='" + name.substring(0, Math.min(name.length(), 64))
                    + "' must be 1 to 64 letters, digits, '.', '_' or '-'");
        }
        return name;
    }

    /** A leading slash would make it a path of the machine and is refused; a trailing one, as shells add it, is ignored. */
    private static String subset(String text) throws InvalidSpecException {
        String trimmed = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        String shown = text.substring(0, Math.min(text.length(), 64));
        if (text.startsWith("/")) {
            throw new InvalidSpecException("subset='" + shown
                    + "' begins with a slash: it must be a path inside the dataset, such as subset=train");
        }
        for (String part : trimmed.split("/", -1)) {
            if (part.equals("..") || part.equals(".") || (part.isEmpty() && !trimmed.isEmpty())) {
                throw new InvalidSpecException("subset='" + shown + "' must be a plain path inside the dataset");
            }
        }
        return trimmed;
    }
}
