package io.clairfs.tools.mount;

import io.clairfs.cache.posix.Errno;
import io.clairfs.fs.faulty.FileContent;
import io.clairfs.fs.faulty.SourceFiles;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Decides whether what a reader got is what docs/SEMANTICS.md promises. */
final class StressJudge {
    /** What readers get when their mount goes. */
    private static final Set<Integer> GONE = Set.of(
            Errno.ENOENT,
            Errno.EINTR,
            Errno.EIO,
            19 /* ENODEV */,
            103 /* ECONNABORTED */,
            Errno.ENOTCONN,
            Errno.ESTALE);

    /** How a mapping says that a page did not come, whatever the reason; a program that touches it itself gets SIGBUS. */
    private static final int EFAULT = 14;

    /** What a read may take beyond its timeout on a machine that has more to do than it can. */
    private static final double SLACK_S = 20;

    private static final long MOST_SLOW = 3;
    private static final double NANOS_PER_SECOND = 1e9;

    private final SourceFiles files;
    private final StressFaults faults;
    private final StressReport report;
    private final int timeoutSeconds;

    StressJudge(SourceFiles files, StressFaults faults, StressReport report, int timeoutSeconds) {
        this.files = files;
        this.faults = faults;
        this.report = report;
        this.timeoutSeconds = timeoutSeconds;
    }

    /**
     * What was asked.
     *
     * @param when for messages: seed and step
     * @param listed what the mount showed then
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
        if (seconds > timeoutSeconds + SLACK_S) {
            report.hang(read + ": one call took " + seconds + " s");
        }
        int errno = answer.path("errno").asInt();
        if (errno != 0) {
            judgeFailure(read, errno, seconds);
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

    private void judgeFailure(Read read, int errno, double seconds) {
        long now = System.nanoTime();
        Set<Integer> allowed = new HashSet<>(faults.allowed(read.path(), read.startNs(), now));
        if (read.node().disturbed(read.startNs(), now)) {
            allowed.addAll(GONE);
        }
        try {
            if (!files.now(read.path()).equals(read.listed())) {
                allowed.add(Errno.ESTALE);
            }
        } catch (IOException e) {
            report.failure(read + ": the truth cannot be read: " + e);
        }
        if (read.how().equals("mmap") && !allowed.isEmpty()) {
            allowed.add(EFAULT);
        }
        if (allowed.contains(errno)) {
            report.failedAsAllowed(errno, seconds);
        } else if (errno == Errno.EIO && seconds >= timeoutSeconds * 0.9 && report.slow() <= MOST_SLOW) {
            System.out.println(read + ": timed out after " + seconds + " s without a fault");
        } else {
            double since = (now - read.startNs()) / NANOS_PER_SECOND;
            report.failure("WRONG ERRNO: " + read + ": " + errno + " after " + seconds + " s (asked " + since
                    + " s ago), allowed were " + allowed);
        }
    }

    /** A read that overlapped a remount may have met the one or the other mount. */
    private boolean anotherMounts(Read read, JsonNode answer) throws IOException {
        for (FileContent other : files.ever(read.path())) {
            if ((other.equals(read.node().listed().get(read.path()))
                            || other.equals(read.node().listedBefore().get(read.path())))
                    && wrong(read, other, answer) == null) {
                return true;
            }
        }
        return false;
    }

    /** What is wrong with an answer if the file has this content; null when nothing is. */
    private @Nullable String wrong(Read read, FileContent content, JsonNode answer) throws IOException {
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
        byte[] expected = files.bytes(read.path(), content, offset, length);
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
