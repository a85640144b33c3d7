package io.clairfs.tools.mount;

import io.clairfs.cache.posix.Errno;
import io.clairfs.fs.faulty.FileContent;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Decides whether a reader's answer is one that docs/SEMANTICS.md promises. */
final class StressJudge {
    /** The errors that readers get when their mount goes away. */
    private static final Set<Integer> GONE = Set.of(
            Errno.ENOENT,
            Errno.EINTR,
            Errno.EIO,
            19 /* ENODEV */,
            103 /* ECONNABORTED */,
            Errno.ENOTCONN,
            Errno.ESTALE);

    /** The error of a mapping whose page could not be read, for any reason. A program that touches the page itself gets SIGBUS. */
    private static final int EFAULT = 14;

    /** The time that a read may take beyond its timeout on an overloaded machine. */
    private static final double SLACK_S = 20;

    private static final double NANOS_PER_SECOND = 1e9;

    private final StressTruth truth;
    private final StressFaults faults;
    private final StressReport report;
    private final StressWitness witness = new StressWitness();
    private final int timeoutSeconds;

    StressJudge(StressTruth truth, StressFaults faults, StressReport report, int timeoutSeconds) {
        this.truth = truth;
        this.faults = faults;
        this.report = report;
        this.timeoutSeconds = timeoutSeconds;
    }

    /**
     * A read request.
     *
     * @param when seed and step, for messages
     * @param listed the file's content in the mount at that time
     */
    record Read(
            String when,
            StressNode node,
            String how,
            String path,
            FileContent listed,
            long offset,
            int length,
            long startNs) {
        @Override
        public String toString() {
            return when + ": " + how + " of " + path + " (" + listed.size() + " bytes) at " + offset + ", " + length
                    + " bytes";
        }
    }

    /** Judges an answer. Returns whether the read succeeded. */
    boolean judge(Read read, JsonNode answer) {
        double seconds = answer.path("longest").asDouble();
        if (answer.has("bug")) {
            report.failure(read + ": the reader itself failed: " + answer.path("bug"));
            return false;
        }
        if (seconds > boundS()) {
            report.hang(read + ": one call took " + seconds + " s");
        }
        int errno = answer.path("errno").asInt();
        if (errno != 0) {
            judgeFailure(read, errno, seconds, System.nanoTime());
            return false;
        }
        boolean disturbed = read.node().disturbed(read.startNs(), System.nanoTime());
        try {
            String wrong = wrong(read, read.listed(), answer);
            if (wrong != null && disturbed) {
                wrong = anotherMounts(read, answer) ? null : wrong;
            }
            if (wrong != null) {
                report.mismatch(read + ": " + wrong);
                return false;
            }
            report.right(answer.path("n").asLong(), seconds);
            return true;
        } catch (IOException e) {
            report.failure(read + ": the truth cannot be read: " + e);
            return false;
        }
    }

    /** The longest that a call may take, seconds. */
    double boundS() {
        return timeoutSeconds + SLACK_S;
    }

    /** Looks at the daemon if nothing explains its slow answer. */
    void wonder(Read read) {
        long now = System.nanoTime();
        boolean explained = faults.allowed(read.path(), read.startNs(), now).contains(Errno.EIO)
                || read.node().disturbed(read.startNs(), now);
        if (!explained) {
            look(read);
        }
    }

    /** Looks at the daemon. */
    void look(Read read) {
        witness.look(read.node(), read.toString());
    }

    /** Judges a failed read. {@code seconds} is the time of its longest call, {@code now} the time of its end. */
    void judgeFailure(Read read, long errno, double seconds, long now) {
        Set<Integer> allowed = new HashSet<>(faults.allowed(read.path(), read.startNs(), now));
        if (read.node().disturbed(read.startNs(), now)) {
            allowed.addAll(GONE);
        }
        try {
            if (!truth.now(read.path()).equals(read.listed())) {
                allowed.add(Errno.ESTALE);
            }
        } catch (IOException e) {
            report.failure(read + ": the truth cannot be read: " + e);
        }
        if (read.how().equals("mmap") && !allowed.isEmpty()) {
            allowed.add(EFAULT);
        }
        if (allowed.contains((int) errno)) {
            report.failedAsAllowed((int) errno, seconds);
        } else if (errno == Errno.EIO && report.isStalled(now)) {
            report.failedAsAllowed((int) errno, seconds); // it may have joined another's fetch
        } else if (errno == Errno.EIO && seconds >= timeoutSeconds * 0.9 && report.stalled(now)) {
            System.out.println(read + ": timed out after " + seconds + " s without a fault");
        } else {
            double since = (now - read.startNs()) / NANOS_PER_SECOND;
            report.failure("WRONG ERRNO: " + read + ": " + errno + " after " + seconds + " s (asked " + since
                    + " s ago), allowed were " + allowed + "; " + read.node().lastErrors(read.path()));
        }
    }

    /** Whether the other mount explains the answer: a read that overlapped a remount may have reached either. */
    private boolean anotherMounts(Read read, JsonNode answer) throws IOException {
        for (FileContent other : truth.ever(read.path())) {
            if ((other.equals(read.node().listed().get(read.path()))
                            || other.equals(read.node().listedBefore().get(read.path())))
                    && wrong(read, other, answer) == null) {
                return true;
            }
        }
        return false;
    }

    /** The error in an answer if the file has this content. Null if there is none. */
    private @Nullable String wrong(Read read, FileContent content, JsonNode answer) {
        if (answer.path("size").asLong() != content.size()) {
            return "its size is said to be " + answer.path("size");
        }
        if (read.how().equals("stat")) {
            return answer.path("mtime_ns").asLong() == content.mtimeNs()
                    ? null
                    : "its time is said to be " + answer.path("mtime_ns") + ", not " + content.mtimeNs();
        }
        long offset = read.how().equals("whole") ? 0 : read.offset();
        long wanted = read.how().equals("whole") ? content.size() : read.length();
        int length = (int) Math.clamp(content.size() - offset, 0, wanted);
        if (answer.path("n").asInt() != length) {
            return "brought " + answer.path("n") + " bytes instead of " + length;
        }
        byte[] expected = StressTruth.bytes(content, offset, length);
        return sha256(expected).equals(answer.path("sha").asString()) ? null : "brought wrong bytes";
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
