package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.follow.SampleLocation;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile.UnavailableException;
import io.clairfs.fs.control.ControlTree.DirectoryNode;
import io.clairfs.fs.control.ControlTree.FileNode;
import io.clairfs.fs.control.ControlTree.Node;
import io.clairfs.tools.node.cluster.SampleInGroup;
import io.clairfs.tools.node.job.Indexes;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** The control files {@code where/PATH}: one for each file of the dataset, with the places that hold its sample. */
public final class WhereFiles {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();
    private static final long LISTED_ALREADY_MS = 1_000;
    private static final int NO_SAMPLE = -1;

    private final DatasetTree tree;
    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final IntFunction<@Nullable SampleInGroup> group;
    private final ErrorLog errors;

    /**
     * The files of a mount.
     *
     * @param group where the sample of a file is in this node's group; null without a group
     */
    public WhereFiles(
            DatasetTree tree,
            Indexes indexes,
            Prefetcher prefetcher,
            IntFunction<@Nullable SampleInGroup> group,
            ErrorLog errors) {
        this.tree = tree;
        this.indexes = indexes;
        this.prefetcher = prefetcher;
        this.group = group;
        this.errors = errors;
    }

    /** The content of such a file; {@code sample} is null for a file that is not in the index. */
    private record Answer(
            String path,
            @Nullable Integer sample,
            long bytes,
            SampleLocation at,
            @Nullable SampleInGroup group) {}

    /** The node at {@code path} below {@code where}; listings are empty, because the mount itself lists the dataset. */
    @Nullable
    Node find(List<String> path) {
        if (path.isEmpty()) {
            return new DirectoryNode(List.of());
        }
        Entry entry;
        try {
            entry = tree.find(String.join("/", path).getBytes(UTF_8), LISTED_ALREADY_MS);
        } catch (SourceException e) {
            return null;
        }
        if (entry == null) {
            return null;
        }
        return switch (entry.kind()) {
            case DIRECTORY -> new DirectoryNode(List.of());
            case FILE -> new FileNode(() -> answer(entry));
            case LINK -> null;
        };
    }

    private ControlContent answer(Entry entry) throws UnavailableException {
        int sample = sampleOf(entry.number());
        Answer answer = new Answer(
                new String(entry.path(), UTF_8),
                sample == NO_SAMPLE ? null : sample,
                entry.size(),
                whereabouts(entry),
                group.apply(entry.number()));
        return ControlContent.of((JSON.writeValueAsString(answer) + "\n").getBytes(UTF_8));
    }

    /** Without a job's next use the answer would say that the job does not read the sample. */
    private SampleLocation whereabouts(Entry entry) throws UnavailableException {
        try {
            return prefetcher.whereabouts(entry.number());
        } catch (OrderNotReadyException e) {
            errors.add("where: " + e.getMessage());
            throw new UnavailableException(Errno.EIO);
        }
    }

    private int sampleOf(int file) {
        try {
            return indexes.isListed() ? indexes.ofLately("").sampleOf(file) : NO_SAMPLE;
        } catch (DatasetException | TimeoutException noIndex) {
            return NO_SAMPLE;
        }
    }
}
