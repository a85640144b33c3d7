package io.clairfs.cache.follow;

import org.jspecify.annotations.Nullable;

/**
 * Recognises passes over the dataset in name order beside the trainer: {@code cat}, {@code file}, {@code fincore} over all files, a
 * checksum, a backup.
 *
 * <p>A pass goes from each sample to the next one: a read that follows its predecessor within a few reads is a link of a chain. In a
 * shuffled order links come by chance, with a probability of about {@code 2 x lifetime / samples}. A chain counts as a pass when its length
 * is less likely than {@value #CHANCE} by chance. A link that the prediction explains, because it has both samples close to each other,
 * does not count: so a trainer that reads in name order is no pass. In a dataset of a dozen samples nothing can be told. Each read is
 * extended once, and of two reads of a sample one is the trainer's, whichever came first. Not thread-safe.
 */
final class NameOrderPasses {
    private static final double CHANCE = 1e-6;

    /** How many reads may come between two of a pass. */
    private static final int LONGEST_LIFETIME = 32;

    private static final int SHORTEST_LIFETIME = 4;

    /** The lifetime, in reads, is the number of samples divided by this. */
    private static final int SAMPLES_PER_LIFETIME = 32;

    private static final int FEWEST_LINKS = 3;

    /** A chain in which most links are expected is cut at this many times the links of a pass. */
    private static final int LONGEST_CHAIN = 4;

    /** How many reads count as "lately". */
    private static final int LATELY = 64;

    private final @Nullable Read[] recent;
    private final int linksOfAPass;
    private final int samples;
    private long reads;
    private long passReads;
    private int otherReads;

    /** Of a dataset of so many samples. */
    NameOrderPasses(int samples) {
        int lifetime = Math.clamp(samples / SAMPLES_PER_LIFETIME, SHORTEST_LIFETIME, LONGEST_LIFETIME);
        recent = new @Nullable Read[lifetime];
        this.samples = samples;
        double link = 2.0 * lifetime / Math.max(1, samples);
        linksOfAPass = link >= 0.5
                ? Integer.MAX_VALUE
                : Math.max(FEWEST_LINKS, (int) Math.ceil(Math.log(CHANCE) / Math.log(link)));
    }

    /** One read, and where it was expected. */
    static final class Read {
        private final int sample;
        private final int file;

        /** The stream in whose window it was found, -1 when in none, and its place there. */
        final int stream;

        final long sequence;

        /** How far it was from where the trainer of that stream was. */
        private final long offset;

        /** Whether this read ticked its position off. */
        private boolean ticked;

        /** Whether it counts as a sample of its epoch. */
        private boolean counted;

        private int links;
        private int length;
        private @Nullable Read before;
        private boolean extended;

        /** Whether its sample was read twice in short time: once by the trainer, once in a pass. */
        private boolean both;

        Read(int sample, int file, int stream, long sequence, long offset) {
            this.sample = sample;
            this.file = file;
            this.stream = stream;
            this.sequence = sequence;
            this.offset = offset;
        }

        /** This read ticked its position off. */
        void tick() {
            ticked = true;
        }

        /** It counts as a sample of its epoch. */
        void count() {
            counted = true;
        }

        boolean isCounted() {
            return counted;
        }

        /** Whether its position is unread after all, once it turns out to be a read of a pass. */
        boolean isToBeUndone() {
            return ticked && !both;
        }

        /** Whether it follows no other read: a pass may seem to go on from a read of the trainer. */
        boolean isFirst() {
            return links == 0;
        }

        /** The read before it in its chain that was taken for one of the trainer's; null when there is none. */
        @Nullable
        Read before() {
            return before;
        }
    }

    /** Takes the next read. Returns whether it is one of a pass; if it is the first found, those {@link Read#before() before} it are as well. */
    boolean isOfPass(Read read) {
        Read last = null;
        for (Read candidate : recent) {
            if (candidate != null && candidate.sample == read.sample && isSuspect(candidate) && candidate.ticked) {
                candidate.both = true; // the position stays ticked off, whichever of the two was the trainer's
                return count(true);
            }
            if (candidate != null && follows(read, candidate) && (last == null || candidate.links > last.links)) {
                last = candidate;
            }
        }
        recent[(int) (reads++ % recent.length)] = read;
        if (last != null) {
            last.extended = true;
            boolean recognised = last.links == linksOfAPass;
            read.links = recognised || isExpected(read, last) ? last.links : last.links + 1;
            read.length = last.length + 1;
            boolean isLong = read.length % (LONGEST_CHAIN * linksOfAPass) == 0;
            read.before = recognised || read.links == 0 || isLong ? null : last;
        }
        return count(read.links == linksOfAPass);
    }

    /** Whether a read may turn out to be one of a pass: it counts as the trainer's, but says nothing about where the trainer is. */
    boolean isSuspect(Read read) {
        return read.links > 0 && read.links < linksOfAPass;
    }

    /** Counts recent reads of either kind, for those in name order may be the trainer's after all. */
    private boolean count(boolean ofPass) {
        if (ofPass) {
            passReads++;
            if (passReads % LATELY == 0) {
                otherReads = 0;
            }
        } else if (++otherReads > LATELY / 4) {
            passReads = 0;
        }
        return ofPass;
    }

    /** Whether nearly all reads were of passes for more than an epoch: perhaps the trainer reads in name order. */
    boolean mayBeTheTrainers() {
        return passReads > samples + samples / 2;
    }

    /** Whether that went on for so long that it must be the trainer. */
    boolean areTheTrainers() {
        return passReads > 4L * samples;
    }

    private static boolean follows(Read read, Read candidate) {
        return !candidate.extended && (read.sample == candidate.sample + 1 || read.file == candidate.file + 1);
    }

    /** Whether the prediction has both close to each other, so that their order says nothing. */
    private boolean isExpected(Read read, Read candidate) {
        return read.stream >= 0
                && candidate.stream >= 0
                && Math.abs(read.offset - candidate.offset) <= 2L * recent.length;
    }
}
