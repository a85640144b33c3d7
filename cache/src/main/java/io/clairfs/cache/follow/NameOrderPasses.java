package io.clairfs.cache.follow;

import org.jspecify.annotations.Nullable;

/**
 * Recognises reads of somebody who goes through the dataset in name order beside the trainer: {@code cat}, {@code file}, {@code fincore} over all
 * files, a checksum, a backup.
 *
 * <p>Such a reader comes from each sample to the next one: a read that follows its predecessor within a few reads is a link of a chain. In a shuffled order links come by chance, one
 * with a probability of about {@code 2 x lifetime / samples}; a chain counts as a pass when its length is less likely than {@value #CHANCE} by chance. A link that the
 * trainer's own prediction explains, because it has both samples close to each other, does not count: a trainer that is to read in name order does. In a dataset of a dozen
 * samples nothing can be told. Each read is extended once, and of two reads of a sample one is the trainer's, whichever came first. Not thread-safe.
 */
final class NameOrderPasses {
    private static final double CHANCE = 1e-6;

    /** How many reads may come between two of a pass. */
    private static final int LONGEST_LIFETIME = 32;

    private static final int SHORTEST_LIFETIME = 4;

    /** A pass of one in so many samples may come between two reads of another. */
    private static final int SAMPLES_PER_LIFETIME = 32;

    private static final int FEWEST_LINKS = 3;

    /** A chain in which most links are expected is looked back at so far, in chains of a pass. */
    private static final int LONGEST_CHAIN = 4;

    /** How many reads "lately" are. */
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

        /** Whether this read was what made its place count as read. */
        private boolean ticked;

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

        /** It made its place count as read. */
        void tick() {
            ticked = true;
        }

        /** Whether its place is unread after all, now that it turns out to be one of a pass. */
        boolean isToBeUndone() {
            return ticked && !both;
        }

        /** Whether it follows no other: a pass may seem to go on from a read of the trainer. */
        boolean isFirst() {
            return links == 0;
        }

        /** The read before it in its chain that was taken for one of the trainer's; null when there is none. */
        @Nullable
        Read before() {
            return before;
        }
    }

    /**
     * Takes the next read. Returns whether it is one of a pass; with the first that is, those {@link Read#before() before} it turn out to be as well.
     */
    boolean isOfPass(Read read) {
        Read last = null;
        for (Read candidate : recent) {
            if (candidate != null && candidate.sample == read.sample && isSuspect(candidate) && candidate.ticked) {
                candidate.both = true; // the trainer's place is ticked off, whichever of the two was the trainer's
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

    /** Whether a read may turn out to be one of a pass: the trainer has read it, but says nothing about where the trainer is. */
    boolean isSuspect(Read read) {
        return read.links > 0 && read.links < linksOfAPass;
    }

    /** As those who come in name order may be the trainer after all, it counts who has come lately. */
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

    /** Whether nearly all reads were of passes for more than an epoch: perhaps it is the trainer that reads in name order. */
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

    /** Whether the prediction has both close to each other, so that it says nothing that they were. */
    private boolean isExpected(Read read, Read candidate) {
        return read.stream >= 0
                && candidate.stream >= 0
                && Math.abs(read.offset - candidate.offset) <= 2L * recent.length;
    }
}
