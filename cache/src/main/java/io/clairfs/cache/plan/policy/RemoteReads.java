package io.clairfs.cache.plan.policy;

import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;

/**
 * Compares two ways to place samples by the bytes that nodes read from elsewhere: homes that stay, with further copies in the room that they
 * leave, and homes that move to the reader of each epoch ({@link FollowReaders}).
 *
 * <p>A copy beside a home that stays serves a node where it has read the sample in the epoch before, as far as there is room, or else in
 * proportion to the room. The reads of the first epoch are left out: either way they come from the source.
 */
final class RemoteReads {
    /** Homes that move have to save this much, for each epoch has to be planned by itself. It also keeps chance out of small datasets. */
    private static final double WORTHWHILE = 0.9;

    /** How far the recorded samples of a node may exceed its room: those recorded are not quite their share of all. */
    private static final double TOLERANCE = 1.05;

    private final PlanRequest request;
    private final ReaderLog log;
    private final Homes homes;
    private final Rooms rooms;

    /** By node, the bytes of recorded samples that further copies may take. */
    private final double[] roomForCopies;

    private RemoteReads(PlanRequest request, ReaderLog log, Homes homes, Rooms rooms) {
        this.request = request;
        this.log = log;
        this.homes = homes;
        this.rooms = rooms;
        roomForCopies = new double[request.nodes().size()];
        Arrays.setAll(
                roomForCopies, node -> (double) Math.max(0, rooms.usable(node) - homes.bytes()[node]) / log.stride());
    }

    /**
     * Whether clearly less is read from elsewhere if samples move with their readers. Never where a node lacks the room for what it reads in
     * an epoch: then other samples would be left out in each epoch, and the source would be read more.
     */
    static boolean areFewerIfSamplesMove(PlanRequest request, ReaderLog log, Homes homes, Rooms rooms) {
        RemoteReads reads = new RemoteReads(request, log, homes, rooms);
        return log.hasOneReaderEach()
                && reads.partsFit()
                && reads.ofMovingHomes() < WORTHWHILE * reads.ofStayingHomes();
    }

    private boolean partsFit() {
        for (int epoch = 0; epoch < log.epochs(); epoch++) {
            double[] bytes = new double[roomForCopies.length];
            for (int place = 0; place < log.recorded(); place++) {
                int reader = log.reader(epoch, place);
                if (reader != ReaderLog.NOBODY) {
                    bytes[reader] += log.stride() * bytesOf(reader, place);
                }
            }
            for (int node = 0; node < bytes.length; node++) {
                if (bytes[node] > TOLERANCE * rooms.usable(node)) {
                    return false;
                }
            }
        }
        return true;
    }

    private double ofMovingHomes() {
        double remote = 0;
        for (int epoch = 1; epoch < log.epochs(); epoch++) {
            for (int place = 0; place < log.recorded(); place++) {
                int reader = log.reader(epoch, place);
                if (reader != ReaderLog.NOBODY && reader != log.reader(epoch - 1, place)) {
                    remote += bytesOf(reader, place);
                }
            }
        }
        return remote;
    }

    private double ofStayingHomes() {
        double[] everRead = readElsewhere();
        double remote = 0;
        for (int epoch = 1; epoch < log.epochs(); epoch++) {
            double[] elsewhere = new double[roomForCopies.length];
            double[] again = new double[roomForCopies.length];
            for (int place = 0; place < log.recorded(); place++) {
                int reader = log.reader(epoch, place);
                if (reader != ReaderLog.NOBODY && reader != home(place)) {
                    elsewhere[reader] += bytesOf(reader, place);
                    again[reader] += reader == log.reader(epoch - 1, place) ? bytesOf(reader, place) : 0;
                }
            }
            for (int node = 0; node < elsewhere.length; node++) {
                double share = Math.min(1, roomForCopies[node] / Math.max(1, everRead[node]));
                double copies = Math.max(share * elsewhere[node], Math.min(roomForCopies[node], again[node]));
                remote += elsewhere[node] - copies;
            }
        }
        return remote;
    }

    /** By node, the bytes of the samples that it reads in any epoch and that have their home elsewhere. */
    private double[] readElsewhere() {
        double[] bytes = new double[roomForCopies.length];
        int[] countedFor = new int[bytes.length];
        Arrays.fill(countedFor, -1);
        for (int place = 0; place < log.recorded(); place++) {
            for (int epoch = 0; epoch < log.epochs(); epoch++) {
                int reader = log.reader(epoch, place);
                if (reader != ReaderLog.NOBODY && reader != home(place) && countedFor[reader] != place) {
                    countedFor[reader] = place;
                    bytes[reader] += bytesOf(reader, place);
                }
            }
        }
        return bytes;
    }

    private int home(int place) {
        return homes.of()[place * log.stride()];
    }

    private long bytesOf(int node, int place) {
        return rooms.bytesOf(node, request.sizes().bytes(place * log.stride()));
    }
}
