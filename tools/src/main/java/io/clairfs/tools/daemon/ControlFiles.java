package io.clairfs.tools.daemon;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.prefetch.JobRun;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.fs.control.ControlFile.UnavailableException;
import io.clairfs.fs.control.ControlTree;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The control files of a mount: {@code job, status, status.json, errors, index, order/JOB/EPOCH/RANK, where/PATH}. */
final class ControlFiles implements ControlTree {
    private static final int EPOCHS_SHOWN = 100;

    private final JobControl jobs;
    private final StatusReporter status;
    private final ErrorLog errors;
    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final WhereFiles where;

    ControlFiles(
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
            case "status" -> new FileNode(() -> status.text().getBytes(UTF_8));
            case "status.json" -> new FileNode(() -> status.json().getBytes(UTF_8));
            case "errors" -> new FileNode(this::errorLines);
            case "index" -> new FileNode(this::indexLines);
            default -> null;
        };
    }

    private byte[] errorLines() {
        StringBuilder text = new StringBuilder();
        errors.lines()
                .forEach(line -> text.append(line.time())
                        .append(' ')
                        .append(line.message())
                        .append('\n'));
        return text.toString().getBytes(UTF_8);
    }

    /** One path per line; the bytes of names that are not UTF-8 come as they are. */
    private byte[] indexLines() throws UnavailableException {
        try {
            SampleIndex index = indexes.of("");
            ByteArrayOutputStream lines = new ByteArrayOutputStream();
            for (int sample = 0; sample < index.size(); sample++) {
                lines.writeBytes(index.path(sample));
                lines.write('\n');
            }
            return lines.toByteArray();
        } catch (TimeoutException stillListing) {
            throw new UnavailableException(Errno.EAGAIN);
        } catch (DatasetException e) {
            errors.add("index: " + e.getMessage());
            throw new UnavailableException(Errno.EIO);
        }
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
                EpochOrder order = job.orders().epoch(epoch);
                StringBuilder lines = new StringBuilder();
                for (int step = 0; step < order.length(rank); step++) {
                    lines.append(order.sample(rank, step)).append('\n');
                }
                return lines.toString().getBytes(UTF_8);
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
