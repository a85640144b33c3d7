package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.fs.control.ControlFile.UnavailableException;
import io.clairfs.fs.control.ControlTree;
import io.clairfs.fs.control.LineContent;
import io.clairfs.tools.node.job.Indexes;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The control files of a mount: {@code job, status, status.json, errors, index, order/JOB/EPOCH/RANK, where/PATH}. */
public final class ControlFiles implements ControlTree {
    private static final int EPOCHS_SHOWN = 100;

    private final JobControl jobs;
    private final StatusReporter status;
    private final ErrorLog errors;
    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final WhereFiles where;

    public ControlFiles(
            JobControl jobs,
            StatusReporter status,
            ErrorLog errors,
            Indexes indexes,
            Prefetcher prefetcher,
            WhereFiles where) {
        this.jobs = jobs;
        this.status = status;
        this.errors = errors;
        this.indexes = indexes;
        this.prefetcher = prefetcher;
        this.where = where;
    }

    @Override
    public @Nullable Node find(List<String> path) {
        if (path.isEmpty()) {
            return new DirectoryNode(List.of("errors", "index", "job", "order", "status", "status.json", "where"));
        }
        if (path.getFirst().equals("order")) {
            return order(path.subList(1, path.size()));
        }
        if (path.getFirst().equals("where")) {
            return where.find(path.subList(1, path.size()));
        }
        if (path.size() > 1) {
            return null;
        }
        return switch (path.getFirst()) {
            case "job" -> new FileNode(jobs);
            case "status" -> new FileNode(() -> text(status.text()));
            case "status.json" -> new FileNode(() -> text(status.json()));
            case "errors" -> new FileNode(this::errorLines);
            case "index" -> new FileNode(this::indexLines);
            default -> null;
        };
    }

    private static ControlContent text(String text) {
        return ControlContent.of(text.getBytes(UTF_8));
    }

    private ControlContent errorLines() {
        StringBuilder text = new StringBuilder();
        errors.lines()
                .forEach(line -> text.append(line.time())
                        .append(' ')
                        .append(line.message())
                        .append('\n'));
        return text(text.toString());
    }

    /** One path per line. Names that are not UTF-8 keep their bytes. */
    private ControlContent indexLines() throws UnavailableException {
        try {
            indexes.awaitListing();
            SampleIndex index = indexes.of("");
            return new LineContent(index.size(), sample -> line(index.path(sample)), 0);
        } catch (TimeoutException stillListing) {
            throw new UnavailableException(Errno.EAGAIN);
        } catch (DatasetException e) {
            errors.add("index: " + e.getMessage());
            throw new UnavailableException(Errno.EIO);
        }
    }

    private static byte[] line(byte[] path) {
        byte[] line = Arrays.copyOf(path, path.length + 1);
        line[path.length] = '\n';
        return line;
    }

    private @Nullable Node order(List<String> path) {
        if (path.isEmpty()) {
            return new DirectoryNode(
                    prefetcher.jobs().stream().map(j -> j.spec().name()).toList());
        }
        JobRun job = prefetcher.job(path.getFirst()).orElse(null);
        if (job == null) {
            return null;
        }
        if (path.size() == 1) {
            return new DirectoryNode(numbers(0, Math.min(job.spec().epochs(), EPOCHS_SHOWN)));
        }
        int epoch = number(path.get(1), job.spec().epochs());
        if (epoch < 0) {
            return null;
        }
        if (path.size() == 2) {
            return new DirectoryNode(numbers(job.spec().firstRank(), job.spec().lastRank() + 1));
        }
        int rank = number(path.get(2), job.spec().world());
        return rank < 0 || path.size() > 3 ? null : new FileNode(orderLines(job, epoch, rank));
    }

    private ControlFile orderLines(JobRun job, int epoch, int rank) {
        return () -> {
            try {
                EpochOrder order = job.orders().peek(epoch); // peek evicts no order in use
                return new LineContent(
                        order.length(rank),
                        step -> (order.sample(rank, step) + "\n").getBytes(UTF_8),
                        (long) Integer.BYTES * job.index().size());
            } catch (InvalidSpecException e) {
                errors.add("order of epoch " + epoch + ": " + e.getMessage());
                throw new UnavailableException(Errno.EIO);
            }
        };
    }

    private static List<String> numbers(int from, int to) {
        return IntStream.range(from, to).mapToObj(Integer::toString).toList();
    }

    /** The number that a name stands for, or -1. */
    private static int number(String name, int below) {
        if (!name.matches("0|[1-9][0-9]{0,8}")) {
            return -1;
        }
        int number = Integer.parseInt(name);
        return number < below ? number : -1;
    }
}
