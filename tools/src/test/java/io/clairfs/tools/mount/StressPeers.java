package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The group of the nodes of a random test, with a peer that announces every sample and lies at times. */
final class StressPeers implements AutoCloseable {
    private static final int NODES = 2;
    private static final int PORTS = 2 * (NODES + 1);

    /** Room for more than the dataset. The plan makes the liar the home of samples that the nodes have no room for. */
    private static final long LIARS_ROOM = 256L << 20;

    /** The handshake is unchanged: another test covers strangers. */
    private static final long HANDSHAKE_BYTES = 512;

    private static final int ONE_PIECE_IN = 10;

    private final NodeGroup group;
    private final StressDeck<Integer> next;
    private final Random random;
    private final Map<Lie, LongAdder> told = new EnumMap<>(Lie.class);
    private volatile @Nullable Lie lie;
    private @Nullable CompletableFuture<LyingPeer> liar;

    private enum Lie {
        FLIPPED_BITS,
        GARBAGE,
        SILENCE
    }

    StressPeers(MountFixture fixture, Path dataset, int samples, long seed) throws IOException {
        random = new Random(seed);
        next = new StressDeck<>(new Random(seed), List.of(0, 1, 2, 3));
        for (Lie each : Lie.values()) {
            told.put(each, new LongAdder());
        }
        Path secret = Files.writeString(fixture.newDirectory("secret").resolve("secret"), "known to these nodes only");
        group = new NodeGroup(
                fixture,
                dataset,
                samples,
                dataset,
                null,
                TestPorts.free(PORTS),
                secret,
                _ -> List.of(),
                new ArrayList<>(),
                new ArrayList<>());
    }

    /** The options of a mount for its group. */
    List<String> options(int node) {
        return List.of(
                "--bind",
                group.bind(node),
                "--members",
                group.bind(0),
                "--secret-file",
                group.secret().toString());
    }

    /** Joins the group as a further node, without waiting for the join, which takes some seconds. */
    void joinAsLiar() {
        liar = CompletableFuture.supplyAsync(() -> {
            try {
                return new LyingPeer(group, NODES, LIARS_ROOM, this::meet);
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
    }

    /** Makes the liar lie in one of its ways, or, one time in four, not at all. */
    void lie() {
        int which = next.next();
        lie = which == 0 ? null : Lie.values()[which - 1];
    }

    void beHonest() {
        lie = null;
    }

    private Relay.Fate meet(byte[] piece, int length, long before) {
        Lie now = lie;
        if (now == null || before < HANDSHAKE_BYTES) {
            return Relay.Fate.PASSED;
        }
        switch (now) {
            case FLIPPED_BITS -> {
                if (random.nextInt(ONE_PIECE_IN) > 0) {
                    return Relay.Fate.PASSED;
                }
                piece[random.nextInt(length)] ^= (byte) (1 << random.nextInt(8));
            }
            case GARBAGE -> {
                byte[] garbage = new byte[length];
                random.nextBytes(garbage);
                System.arraycopy(garbage, 0, piece, 0, length);
            }
            case SILENCE -> {}
        }
        told.get(now).increment();
        return now == Lie.SILENCE ? Relay.Fate.KEPT : Relay.Fate.CHANGED;
    }

    void count(StressReport report) {
        Map<String, Long> counts = new TreeMap<>();
        told.forEach((what, count) -> {
            counts.put(what.name().toLowerCase(Locale.ROOT).replace('_', ' '), count.sum());
        });
        report.counted(this, "peer: ", counts);
    }

    @Override
    public void close() throws IOException {
        if (liar != null) {
            try {
                liar.join().close();
            } catch (CompletionException e) {
                throw new IOException("the peer that lies could not join", e.getCause());
            }
        }
    }
}
