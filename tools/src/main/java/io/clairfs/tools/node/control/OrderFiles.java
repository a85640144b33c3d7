package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile.UnavailableException;
import io.clairfs.fs.control.ControlTree.DirectoryNode;
import io.clairfs.fs.control.ControlTree.FileNode;
import io.clairfs.fs.control.ControlTree.Node;
import io.clairfs.fs.control.LineContent;
import io.clairfs.fs.control.NumberContent;
import io.clairfs.tools.node.job.JobTable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The control files {@code order/JOB/EPOCH/RANK}, the same as little-endian numbers {@code order/JOB/EPOCH/RANK.i64},
 * {@code sample/JOB/NUMBER} with the path of a sample, and {@code sample/JOB/all} with a line for each.
 *
 * <p>A listing shows the first epochs and the ranks that read here. Every epoch and every rank of the world can be opened.
 */
public final class OrderFiles {
    private static final int EPOCHS_SHOWN = 100;
    private static final String BINARY = ".i64";
    private static final String ALL = "all";

    private final JobTable jobs;
    private final Prefetcher prefetcher;
    private final ErrorLog errors;
    private final TrainerOrders trainerOrders = new TrainerOrders(System::nanoTime);

    public OrderFiles(JobTable jobs, Prefetcher prefetcher, ErrorLog errors) {
        this.jobs = jobs;
        this.prefetcher = prefetcher;
        this.errors = errors;
    }

    /** The node at {@code path} below {@code order}. */
    @Nullable
    Node orders(List<String> path) {
        if (path.isEmpty()) {
            return new DirectoryNode(names());
        }
        String name = path.getFirst();
        JobSpec spec = spec(name);
        if (spec == null || path.size() > 3) {
            return null;
        }
        if (path.size() == 1) {
            return new DirectoryNode(numbers(0, Math.min(spec.epochs(), EPOCHS_SHOWN)));
        }
        int epoch = number(path.get(1), spec.epochs());
        if (epoch < 0) {
            return null;
        }
        if (path.size() == 2) {
            List<String> ranks = numbers(spec.firstRank(), spec.lastRank() + 1);
            List<String> files = new ArrayList<>(ranks);
            ranks.forEach(rank -> files.add(rank + BINARY));
            return new DirectoryNode(files);
        }
        String file = path.get(2);
        boolean binary = file.endsWith(BINARY);
        int rank = number(binary ? file.substring(0, file.length() - BINARY.length()) : file, spec.world());
        if (rank < 0) {
            return null;
        }
        return new FileNode(() -> {
            JobRun job = running(name, epoch, rank);
            return binary ? binary(job, epoch, rank) : lines(job, epoch, rank);
        });
    }

    /** The node at {@code path} below {@code sample}; a listing does not show the numbers, which would be millions. */
    @Nullable
    Node samples(List<String> path) {
        if (path.isEmpty()) {
            return new DirectoryNode(names());
        }
        String name = path.getFirst();
        if (spec(name) == null || path.size() > 2) {
            return null;
        }
        if (path.size() == 1) {
            return new DirectoryNode(List.of(ALL));
        }
        if (path.get(1).equals(ALL)) {
            return new FileNode(() -> paths(running(name).index()));
        }
        int sample = number(
                path.get(1), prefetcher.job(name).map(job -> job.index().size()).orElse(Integer.MAX_VALUE));
        return sample < 0 ? null : new FileNode(() -> path(running(name).index(), sample));
    }

    private List<String> names() {
        return prefetcher.jobs().stream().map(job -> job.spec().name()).toList();
    }

    /** The job of this name, which may still wait for the dataset to be listed. */
    private @Nullable JobSpec spec(String name) {
        JobRun job = prefetcher.job(name).orElse(null);
        return job == null ? jobs.present(name) : job.spec();
    }

    private JobRun running(String name) throws UnavailableException {
        return prefetcher.job(name).orElseThrow(() -> new UnavailableException(Errno.EAGAIN));
    }

    /** The job may have been replaced since its file was found. */
    private JobRun running(String name, int epoch, int rank) throws UnavailableException {
        JobRun job = running(name);
        if (epoch >= job.spec().epochs() || rank >= job.spec().world()) {
            throw new UnavailableException(Errno.ENOENT);
        }
        return job;
    }

    private static ControlContent path(SampleIndex index, int sample) throws UnavailableException {
        if (sample >= index.size()) {
            throw new UnavailableException(Errno.ENOENT);
        }
        return ControlContent.of(ControlFiles.line(index.path(sample)));
    }

    /** A path with a line break would be two lines, and every later sample would have the path of another. */
    private ControlContent paths(SampleIndex index) throws UnavailableException {
        for (int sample = 0; sample < index.size(); sample++) {
            byte[] path = index.path(sample);
            for (byte each : path) {
                if (each == '\n') {
                    errors.add("the list of samples: " + PythonText.show(path) + " has a line break: rename it");
                    throw new UnavailableException(Errno.EIO);
                }
            }
        }
        return new LineContent(index.size(), sample -> ControlFiles.line(index.path(sample)), 0);
    }

    private ControlContent lines(JobRun job, int epoch, int rank) throws UnavailableException {
        try {
            EpochOrder order = prefetcher.order(job, epoch);
            return new LineContent(
                    order.length(rank),
                    step -> (order.sample(rank, step) + "\n").getBytes(UTF_8),
                    (long) Integer.BYTES * job.index().size());
        } catch (InvalidSpecException e) {
            throw unavailable(epoch, e);
        }
    }

    private ControlContent binary(JobRun job, int epoch, int rank) throws UnavailableException {
        try {
            int[] kept = trainerOrders.kept(job, epoch, rank);
            return new NumberContent(
                    kept != null ? kept : prefetcher.ask(job, () -> trainerOrders.samples(job, epoch, rank)));
        } catch (InvalidSpecException e) {
            throw unavailable(epoch, e);
        }
    }

    /**
     * Trainers ask again and again for an order that is not ready, also while its file does not answer: a server that fails over is no end of a
     * training. Only the latter is a line of the errors.
     */
    private UnavailableException unavailable(int epoch, InvalidSpecException reason) {
        boolean isStillToBeWritten = reason instanceof OrderNotReadyException later && !later.isUnanswered();
        if (!isStillToBeWritten) {
            errors.add("order of epoch " + epoch + ": " + reason.getMessage());
        }
        return new UnavailableException(reason instanceof OrderNotReadyException ? Errno.EAGAIN : Errno.EIO);
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
