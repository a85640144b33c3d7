package io.clairfs.tools.node.status;

import com.sun.management.ThreadMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.clairfs.cache.posix.NativeMemory;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The content of {@code status.json}; the names of the components are its keys, in snake case. Sizes are bytes. */
public record Status(
        String version,
        long pid,
        String mount,
        String source,
        long samples,
        long bytes,
        boolean ready,
        View view,
        @Nullable String indexError,
        List<Job> jobs,
        FindSeed findSeed,
        List<Note> notes,
        Reads reads,
        Map<String, Fetched> fetched,
        long peersPassedOver,
        long ssdPassedOver,
        Kernel kernel,
        double stallSeconds,
        Map<String, Latency> latency,
        Staging staging,
        Memory memory,
        List<Tier> tiers,
        List<Peer> peers,
        @Nullable Group group,
        long checksumFailures,
        long errors,
        Resources process,
        double uptimeSeconds) {

    /**
     * What the mount shows of the files.
     *
     * @param identity of the transformation, {@code raw} for none; nodes with another one share nothing
     * @param kept what memory, disks and peers hold of files of which samples are made: {@code made}, {@code raw}, or {@code undecided} while the
     *     dataset is listed
     * @param headersRead files whose header was read for the size that they have here
     * @param made samples that were made on this node
     * @param madeForPeers of these, the ones that another node had asked it to make
     * @param madeElsewhere samples that other nodes made for this one when asked to
     * @param makersFailed such requests that another node refused, or did not answer in time
     */
    public record View(
            String identity,
            String kept,
            long headersRead,
            long made,
            long madeForPeers,
            long madeElsewhere,
            long makersFailed) {}

    /**
     * One job; {@code epochs} is null for a run without a known end, {@code subset} is the directory of the dataset that it reads (empty for
     * all), {@code samples} is the number of samples there, {@code window} is the number of samples that the loaders of one rank
     * have in flight at once (0 if not told), {@code note} says what looks wrong, {@code found}
     * whether no user wrote it. {@code steps} counts those for which all of at least two ranks here were seen to get their batches, {@code
     * imbalancedSteps} those in which one got it later than another by more than a tenth of the step. {@code loading} is what the trainer's workers
     * report, and {@code advice} what follows for each rank's loader; null if they do not. {@code batch} is the number of samples that a rank reads
     * in a step, 0 if not told, {@code readerWaitSeconds} the time in which at least one
     * of its readers here waited for the daemon, {@code sampleSeconds} what a sample takes all its trainers here while none waits (null while that is
     * not known), {@code utilisation} that of the last of {@code history}, its last epochs.
     */
    public record Job(
            String name,
            String seed,
            String sampler,
            @Nullable Integer epochs,
            int world,
            String ranks,
            String subset,
            int samples,
            int epoch,
            int position,
            int length,
            boolean done,
            boolean inSync,
            long deviations,
            int stagedAhead,
            int window,
            List<Rank> readers,
            @Nullable String note,
            boolean found,
            long steps,
            long imbalancedSteps,
            @Nullable Loading loading,
            @Nullable String advice,
            @Nullable Exchange exchange,
            List<Feeder> feeders,
            int batch,
            double readerWaitSeconds,
            @Nullable Double sampleSeconds,
            @Nullable Double utilisation,
            List<Epoch> history) {}

    /**
     * One of the last epochs of a job on this node.
     *
     * @param epoch its number, from 0
     * @param over whether a later one has begun, or all are read
     * @param seconds from its first request or close to the last
     * @param samples that its ranks here were seen to read
     * @param readerWaitSeconds in which at least one reader waited for the daemon
     * @param waitedSeconds that the trainers waited for data, at most
     * @param waitedAtLeastSeconds the same, at least
     * @param told whether trainers told it, so that both are the same
     * @param utilisation of the accelerators, at least: the share of the time in which trainers did not wait for data
     * @param opened files that were closed, of all jobs
     * @param fromPageCache those of them without a request to the daemon
     * @param fetched what the node fetched meanwhile, for all jobs, by place
     */
    public record Epoch(
            int epoch,
            boolean over,
            double seconds,
            int samples,
            double readerWaitSeconds,
            double waitedSeconds,
            double waitedAtLeastSeconds,
            boolean told,
            double utilisation,
            long opened,
            long fromPageCache,
            Map<String, Fetched> fetched) {}

    /**
     * A feeder of a rank that reads here, as it reports itself; all since it began but for the first numbers.
     *
     * @param pid of its process
     * @param rank that it feeds
     * @param slots of its ring
     * @param ready batches that the trainer has or can have at once
     * @param threads that read and decode now
     * @param batches that were sent to the trainer
     * @param bad batches that failed
     * @param samples that were read
     * @param bytes of their files
     * @param readSeconds of its threads for reading
     * @param decodeSeconds of its threads for decoding
     * @param waitedSeconds that the trainer waited for batches
     * @param copiedBytes of batches that went to a GPU
     * @param copySeconds in which at least one was on its way there
     */
    public record Feeder(
            long pid,
            int rank,
            int slots,
            int ready,
            int threads,
            long batches,
            long bad,
            long samples,
            long bytes,
            double readSeconds,
            double decodeSeconds,
            double waitedSeconds,
            long copiedBytes,
            double copySeconds) {}

    /**
     * What comes from other nodes and goes to them while an epoch runs, where samples move with their readers.
     *
     * @param epoch for which samples come
     * @param receives samples that this node gets for it
     * @param received those that are here
     * @param receivedBytes their bytes
     * @param sends samples that this node reads now and others read then
     * @param sent those that another node has
     * @param behind how many fewer have come than would at an even pace
     */
    public record Exchange(
            int epoch, int receives, int received, long receivedBytes, int sends, int sent, int behind) {}

    /**
     * What the workers of the ranks that read here report of themselves.
     *
     * @param workers of all ranks together
     * @param readSeconds that a sample waits for its bytes
     * @param transformSeconds that is then worked on it
     */
    public record Loading(int workers, double readSeconds, double transformSeconds) {}

    /**
     * The search for the order of a trainer that no job describes.
     *
     * @param state a {@code SeedStatus.State} in lower case
     * @param reads first reads of the trainer that were collected
     * @param candidates orders that the last search has tried
     * @param found the order that is followed, for people; null when none is
     * @param line the keys of a job of that order; null when there is none
     * @param note why there is no search, or what became of the order found before; null if there is nothing to say
     */
    public record FindSeed(
            String state,
            int reads,
            long candidates,
            @Nullable String found,
            @Nullable String line,
            @Nullable String note) {}

    /**
     * What a trainer has to say, such as why no job follows its loader.
     *
     * @param time when it said so last, ISO 8601
     */
    public record Note(String time, String text) {}

    /**
     * One rank that reads here: its share of the loader threads now, the samples staged ahead of it, and the seconds that these last at its pace
     * (0 while that is not known).
     */
    public record Rank(int rank, int loaders, int stagedAhead, double secondsStaged) {}

    /**
     * The daemon itself.
     *
     * @param heapBytes used now, garbage included
     * @param allocatedBytes on the heap since it began, by all threads
     * @param descriptors open now
     * @param nativeBytes of samples outside the heap, in tiers and in flight
     * @param cpuSeconds of processor time since it began
     */
    public record Resources(
            long heapBytes, long allocatedBytes, long descriptors, int threads, long nativeBytes, double cpuSeconds) {
        /** The figures of this process now. */
        public static Resources now() {
            Runtime runtime = Runtime.getRuntime();
            ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
            UnixOperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class);
            return new Resources(
                    runtime.totalMemory() - runtime.freeMemory(),
                    threads.getTotalThreadAllocatedBytes(),
                    OpenDescriptors.count(),
                    threads.getThreadCount(),
                    NativeMemory.heldBytes(),
                    system.getProcessCpuTime() / 1e9);
        }
    }

    /** Reads as readers see them: files opened, counted when they are closed, and how many of them needed no request to the daemon. */
    public record Reads(
            long opened,
            long fromPageCache,
            long upcalls,
            long requests,
            long bytes,
            long errors,
            long reportsLost,
            int unwatchedDirectories) {}

    /**
     * The kernel's requests to the dataset's mount, for everything that the kernel has not cached.
     *
     * @param getattr names looked up and attributes
     * @param readdir directories listed
     * @param readlink links
     * @param read pieces of files
     * @param ioctl whether a file is a terminal, which Python's {@code open()} asks of each
     */
    public record Kernel(long getattr, long readdir, long readlink, long read, long ioctl) {}

    public record Fetched(long count, long bytes) {}

    /** How long something took, seconds: of {@code count} times, half took {@code p50} at most. */
    public record Latency(long count, double p50, double p90, double p99, double p999, double max) {}

    /**
     * The bounds of the daemon's memory.
     *
     * @param totalBytes of all areas together
     * @param areas bytes that each may take, used or not
     */
    public record Memory(long totalBytes, Map<String, Long> areas) {}

    /**
     * The staging buffer.
     *
     * @param loaders how many threads bring samples into it
     */
    public record Staging(long capacityBytes, long usedBytes, int samples, long pushed, long lost, int loaders) {}

    /**
     * Another node of the group. It is not alive if it is silent, if this node leaves it alone or has too many peers to talk to it, or if
     * it is gone and still has ranks of running jobs. {@code trouble} says which. It is null for a node that is alive. {@code spareThreads} make
     * samples of a view for other nodes. {@code rails} are the paths to it if there are several.
     */
    public record Peer(
            String name,
            String address,
            boolean alive,
            int samples,
            int spareThreads,
            List<Rail> rails,
            @Nullable String trouble) {}

    /**
     * One path to another node.
     *
     * @param address where the node is reached by it
     * @param connected whether there is a connection
     * @param leftAlone whether it failed, and is not used for a while
     * @param bytesPerSecond its highest rate, lately; 0 when not known
     * @param bytes of samples that came by it
     */
    public record Rail(String address, boolean connected, boolean leftAlone, long bytesPerSecond, long bytes) {}

    /**
     * This node in its group.
     *
     * @param node its name
     * @param trouble why it has not joined, or what is wrong with the group; null if nothing is
     * @param nodes the names of all members, in order
     * @param plan {@code made}, {@code waiting} for ranks that nobody has claimed, or "none"
     * @param planDigest the same on all nodes that have made the same plan; null without one
     */
    public record Group(
            String node,
            boolean joined,
            @Nullable String trouble,
            List<String> nodes,
            String plan,
            @Nullable String planDigest,
            List<GroupJob> jobs) {}

    /**
     * A job of the group.
     *
     * @param ranks the ranks that read on each node, by its name
     * @param unclaimed those that no node has claimed, such as {@code 0-3,7}
     * @param elsewhere those whose node is gone
     */
    public record GroupJob(String name, Map<String, String> ranks, String unclaimed, String elsewhere) {}

    /** A tier of this node; its failures are counted since the mount. */
    public record Tier(
            String name,
            long capacityBytes,
            long usedBytes,
            int samples,
            boolean recovered,
            boolean writable,
            long checksumFailures,
            long readFailures,
            long writeFailures) {}
}
