package io.clairfs.cache.plan.loaders;

import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.Place;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * How many of each rank's threads read at each shared place at once, in the mean, and how long its batch takes them: Lobster's equation 1 with
 * T(n) of a place by the number of its readers.
 *
 * <p>A thread is at a place for the share of its time that the place takes of its work. The number of readers follows from these shares, and the
 * shares from the number of readers: a fixed point. It is searched from the former one, since one thread more or less changes it little. A thread
 * meets the threads of other ranks, and of its own rank as many as would be there without it (Schweitzer's approximation in mean value
 * analysis).
 */
final class Readers {
    private static final int MOST_ROUNDS = 50;
    /** Readers by thread. */
    private static final double CLOSE = 1e-4;

    private final int places;
    /** With several places the numbers at them can swing. */
    private final double step;
    /** By rank, one thread's seconds at the places without contention. */
    private final double[] apart;
    /** By rank and shared place: bytes. */
    private final double[][] bytes;
    /** By shared place and number of readers: bytes per second. */
    private final double[][] rate;
    /** By shared place: readers that belong to no rank. */
    private final double[] others;

    /** By rank: threads at the last fixed point. */
    private final int[] threads;
    /** By rank and shared place: readers. */
    private final double[][] there;
    /** By shared place: readers of all ranks. */
    private final double[] sum;

    private final double[] own;
    private final double[] seconds;
    private double threadSeconds;

    Readers(List<RankLoad> ranks, FetchCosts costs, Map<Place, Contention> contention, int most) {
        List<Place> shared = List.copyOf(contention.keySet());
        places = shared.size();
        step = places > 1 ? 0.5 : 1;
        apart = new double[ranks.size()];
        bytes = new double[ranks.size()][places];
        for (int rank = 0; rank < apart.length; rank++) {
            for (RankLoad.Pending each : ranks.get(rank).pending()) {
                int place = shared.indexOf(each.place());
                if (place < 0) {
                    apart[rank] += each.threadSeconds(costs);
                } else {
                    bytes[rank][place] += each.bytes();
                }
            }
        }
        rate = new double[places][];
        others = new double[places];
        Contention[] contended = shared.stream().map(contention::get).toArray(Contention[]::new);
        for (int place = 0; place < places; place++) {
            others[place] = contended[place].others();
            rate[place] = rates(contended[place], most + (int) Math.ceil(others[place]) + 2);
        }
        threads = new int[apart.length];
        there = new double[apart.length][places];
        seconds = new double[apart.length];
        sum = new double[places];
        own = new double[places];
    }

    /** One of the same work, to start from the other's fixed point. */
    Readers(Readers other) {
        places = other.places;
        step = other.step;
        apart = other.apart;
        bytes = other.bytes;
        rate = other.rate;
        others = other.others;
        threads = new int[apart.length];
        there = new double[apart.length][places];
        seconds = new double[apart.length];
        sum = new double[places];
        own = new double[places];
    }

    private static double[] rates(Contention place, int most) {
        double[] rates = new double[most + 1];
        for (int readers = 1; readers <= most; readers++) {
            rates[readers] = place.rate().at(readers);
        }
        return rates;
    }

    /** Takes over the fixed point of another, of the same work. */
    void copy(Readers other) {
        for (int rank = 0; rank < apart.length; rank++) {
            System.arraycopy(other.there[rank], 0, there[rank], 0, places);
            threads[rank] = other.threads[rank];
            seconds[rank] = other.seconds[rank];
        }
    }

    /** Whether a rank reads at a shared place, so that its end makes others faster. */
    boolean shares(int rank) {
        for (double each : bytes[rank]) {
            if (each > 0) {
                return true;
            }
        }
        return false;
    }

    /** Searches the fixed point of ranks with so many threads; one with no thread or with nothing left does not read. */
    void settle(int[] numbers, double[] left) {
        int loaders = start(numbers, left);
        double change = loaders;
        for (int round = 0; round < MOST_ROUNDS && change > CLOSE * loaders; round++) {
            change = 0;
            for (int rank = 0; rank < threads.length; rank++) {
                if (threads[rank] > 0) {
                    leaveOut(rank);
                    change = Math.max(change, round(rank, threads[rank], there[rank]));
                    for (int place = 0; place < places; place++) {
                        sum[place] += there[rank][place];
                    }
                    seconds[rank] = threadSeconds / threads[rank];
                }
            }
        }
    }

    private int start(int[] numbers, double[] left) {
        int loaders = 0;
        Arrays.fill(sum, 0);
        for (int rank = 0; rank < threads.length; rank++) {
            int reading = left[rank] > 0 ? numbers[rank] : 0;
            loaders += reading;
            guess(rank, reading, there[rank]);
            threads[rank] = reading;
            for (int place = 0; place < places; place++) {
                sum[place] += there[rank][place];
            }
        }
        return loaders;
    }

    /** As large a share of the rank's threads at each place as at the last fixed point; all of them if there was none. */
    private void guess(int rank, int reading, double[] at) {
        for (int place = 0; place < places; place++) {
            double share = there[rank][place] > 0 ? there[rank][place] / threads[rank] : 1;
            at[place] = bytes[rank][place] > 0 ? reading * share : 0;
        }
    }

    private void leaveOut(int rank) {
        for (int place = 0; place < places; place++) {
            sum[place] -= there[rank][place];
        }
    }

    /** Sets one thread's seconds for the rank's batch, and moves its readers towards what follows. Returns how far they were off. */
    private double round(int rank, int number, double[] readers) {
        threadSeconds = apart[rank];
        for (int place = 0; place < places; place++) {
            threadSeconds += secondsAt(place, rank, number, readers);
        }
        double off = 0;
        for (int place = 0; place < places; place++) {
            if (bytes[rank][place] > 0) {
                double more = number * secondsAt(place, rank, number, readers) / threadSeconds - readers[place];
                off = Math.max(off, Math.abs(more));
                readers[place] += step * more;
            }
        }
        return off;
    }

    /** One thread's seconds at a shared place, while the ranks in {@link #sum} are there too. */
    private double secondsAt(int place, int rank, int number, double[] readers) {
        if (bytes[rank][place] == 0) {
            return 0;
        }
        double all = 1 + others[place] + Math.max(0, sum[place]) + readers[place] - readers[place] / number;
        double[] rates = rate[place];
        int below = Math.min((int) all, rates.length - 2);
        double together = rates[below] + Math.min(1, all - below) * (rates[below + 1] - rates[below]);
        return bytes[rank][place] * all / together;
    }

    /** Seconds of the rank's whole batch at the last fixed point, if all that read there read on. */
    double seconds(int rank) {
        return seconds[rank];
    }

    /** Seconds of the rank's whole batch with another number of threads, while the other ranks read as they did at the last fixed point. */
    double seconds(int rank, int number) {
        if (places == 0) {
            return apart[rank] / number;
        }
        guess(rank, number, own);
        leaveOut(rank);
        double change = number;
        for (int round = 0; round < MOST_ROUNDS && change > CLOSE * number; round++) {
            change = round(rank, number, own);
        }
        for (int place = 0; place < places; place++) {
            sum[place] += there[rank][place];
        }
        return threadSeconds / number;
    }
}
