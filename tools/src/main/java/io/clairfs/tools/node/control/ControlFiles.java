package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.placement.Filled;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile.UnavailableException;
import io.clairfs.fs.control.ControlTree;
import io.clairfs.fs.control.LineContent;
import io.clairfs.tools.node.job.Indexes;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * The control files of a mount: {@code job, note, report, status, status.json, metrics, threads, warm.json, errors, index, upgrade, order/JOB/EPOCH/RANK,
 * sample/JOB/NUMBER, where/PATH, python/MODULE}.
 */
public final class ControlFiles implements ControlTree {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();

    private final JobControl jobs;
    private final ReportControl report;
    private final TrainerNotes notes;
    private final UpgradeControl upgrade;
    private final StatusReporter status;
    private final ErrorLog errors;
    private final Indexes indexes;
    private final OrderFiles orders;
    private final WhereFiles where;
    private final Supplier<Filled> filled;
    private final PythonFiles python = new PythonFiles();

    public ControlFiles(
            JobControl jobs,
            ReportControl report,
            TrainerNotes notes,
            UpgradeControl upgrade,
            StatusReporter status,
            ErrorLog errors,
            Indexes indexes,
            OrderFiles orders,
            WhereFiles where,
            Supplier<Filled> filled) {
        this.jobs = jobs;
        this.report = report;
        this.notes = notes;
        this.upgrade = upgrade;
        this.status = status;
        this.errors = errors;
        this.indexes = indexes;
        this.orders = orders;
        this.where = where;
        this.filled = filled;
    }

    @Override
    public @Nullable Node find(List<String> path) {
        if (path.isEmpty()) {
            return new DirectoryNode(List.of(
                    "errors",
                    "index",
                    "job",
                    "metrics",
                    "note",
                    "order",
                    "python",
                    "report",
                    "sample",
                    "status",
                    "status.json",
                    "threads",
                    "upgrade",
                    "warm.json",
                    "where"));
        }
        List<String> below = path.subList(1, path.size());
        return switch (path.getFirst()) {
            case "order" -> orders.orders(below);
            case "python" -> python.find(below);
            case "sample" -> orders.samples(below);
            case "where" -> where.find(below);
            default -> below.isEmpty() ? file(path.getFirst()) : null;
        };
    }

    private @Nullable Node file(String name) {
        return switch (name) {
            case "job" -> new FileNode(jobs);
            case "report" -> new FileNode(report);
            case "note" -> new FileNode(notes);
            case "upgrade" -> new FileNode(upgrade);
            case "status" -> new FileNode(() -> text(status.text()));
            case "status.json" -> new FileNode(() -> text(status.json()));
            case "metrics" -> new FileNode(() -> ControlContent.of(status.metrics()));
            case "threads" -> new FileNode(() -> text(ThreadStacks.text()));
            case "warm.json" -> new FileNode(() -> text(JSON.writeValueAsString(filled.get()) + "\n"));
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

    /** A name as a line, with its bytes unchanged. */
    static byte[] line(byte[] path) {
        byte[] line = Arrays.copyOf(path, path.length + 1);
        line[path.length] = '\n';
        return line;
    }
}
