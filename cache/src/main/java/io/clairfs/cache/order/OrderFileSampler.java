package io.clairfs.cache.order;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * An order that the user computed: weighted samplers, curricula, any that no other sampler here knows.
 *
 * <p>One file serves all epochs and ranks, or {@code {epoch}} and {@code {rank}} in its name stand for their numbers. Files are read when
 * their epoch is requested, so those of later epochs may be written during the run: an epoch without its file is not ready, nor is one
 * whose file cannot be read for a moment. A file that appears later, or has just been changed when it is first requested, is read once two
 * looks at it agree, because it may still be being written. Those of the first epoch were complete when the job was described.
 */
public final class OrderFileSampler implements Sampler {
    /** In the name of a file, what stands for the epoch's number. */
    public static final String EPOCH = "{epoch}";

    private static final long JUST_CHANGED_MS = 200;

    private final SamplerSetting setting;
    private final String name;
    private final int world;

    /** Files that were missing, had just been changed, or could not be read when they were requested, with the last look at each. */
    private final Map<String, Look> awaited = new HashMap<>();

    public OrderFileSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        this.setting = setting;
        String file = keys.text("file");
        if (file == null || file.isEmpty()) {
            throw new InvalidSpecException(
                    "sampler=order-file needs file=NAME; {epoch} in it stands for the epoch's number");
        }
        name = file;
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
    }

    /** A file's size and modification time. */
    private record Look(long bytes, FileTime modified) {
        static final Look ABSENT = new Look(-1, FileTime.fromMillis(0));

        static Look at(String name) throws IOException {
            try {
                BasicFileAttributes now = Files.readAttributes(Path.of(name), BasicFileAttributes.class);
                return new Look(now.size(), now.lastModifiedTime());
            } catch (NoSuchFileException e) {
                return ABSENT;
            }
        }
    }

    /** The file of an epoch, or those of all ranks. */
    private List<String> files(int epoch) {
        String ofEpoch = name.replace(EPOCH, Integer.toString(epoch));
        return ofEpoch.contains("{rank}")
                ? IntStream.range(0, world)
                        .mapToObj(rank -> ofEpoch.replace("{rank}", Integer.toString(rank)))
                        .toList()
                : List.of(ofEpoch);
    }

    @Override
    public boolean isReady(int epoch) {
        for (String file : files(epoch)) {
            try {
                Look now = awaited.containsKey(file) ? Look.ABSENT : Look.at(file);
                if (now.equals(Look.ABSENT)) {
                    awaited.putIfAbsent(file, Look.ABSENT);
                    return false;
                }
                if (isFresh(now, epoch)) {
                    return false; // it is no longer fresh a moment later
                }
            } catch (IOException | IllegalArgumentException e) {
                return true; // reading it tells what is wrong
            }
        }
        return true;
    }

    /** Whether a file that is requested for the first time may still be being written. */
    private boolean isFresh(Look now, int epoch) {
        return epoch > setting.resumedEpoch()
                && name.contains(EPOCH)
                && System.currentTimeMillis() - now.modified.toMillis() < JUST_CHANGED_MS;
    }

    private int[] read(String file, int epoch) throws InvalidSpecException {
        Look now = look(file);
        Look before = awaited.get(file);
        if (before == null && isFresh(now, epoch)) {
            before = Look.ABSENT;
        }
        if (before != null) {
            awaited.put(file, now);
            if (!now.equals(before) && !now.equals(Look.ABSENT)) {
                throw new OrderNotReadyException("order file " + Keys.shorten(file) + " is still being written");
            }
        }
        try {
            int[] order = OrderFile.read(file, setting);
            awaited.remove(file);
            return order;
        } catch (OrderNotReadyException e) {
            awaited.put(file, now);
            throw e;
        }
    }

    private static Look look(String file) throws InvalidSpecException {
        try {
            return Look.at(file);
        } catch (IOException | InvalidPathException e) {
            throw OrderFile.unreadable(file, e);
        }
    }

    /** Looks for the files of all ranks before one is read, those first that were missing the last time: this is asked again and again. */
    private void requireAll(List<String> files) throws OrderNotReadyException {
        for (String file : files) {
            if (Look.ABSENT.equals(awaited.get(file))) {
                requireThere(file);
            }
        }
        for (String file : files) {
            requireThere(file);
        }
    }

    private void requireThere(String file) throws OrderNotReadyException {
        try {
            if (Look.at(file).equals(Look.ABSENT)) {
                awaited.put(file, Look.ABSENT);
                throw new OrderNotReadyException(
                        "cannot read order file " + Keys.shorten(file) + ": no such file", true);
            }
        } catch (IOException | IllegalArgumentException e) {
            // reading it tells what is wrong
        }
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        List<String> files = files(epoch);
        if (!name.contains("{rank}")) {
            return EpochOrder.of(read(files.getFirst(), epoch));
        }
        requireAll(files);
        int[][] byRank = new int[world][];
        for (int rank = 0; rank < world; rank++) {
            byRank[rank] = read(files.get(rank), epoch);
        }
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return byRank[rank].length;
            }

            @Override
            public int sample(int rank, int step) {
                return byRank[rank][step];
            }

            @Override
            public long size() {
                return Stream.of(byRank).mapToLong(order -> order.length).sum();
            }
        };
    }
}
