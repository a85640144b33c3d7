package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.core.LifecycleEvent;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import com.hazelcast.internal.server.NetworkStats;
import com.sun.management.OperatingSystemMXBean;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Scanner;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Real members of a group, all in this process, encrypted over loopback, with the times of a daemon: how long they take to agree, and what
 * they say to each other when nothing happens, and when each changes something. {@code .ci/long-run scale} runs it.
 *
 * <p>Traffic is that of Hazelcast's own count of bytes at its sockets; beside it stands that of the loopback device, with the heads of packets and
 * whatever else runs on the machine. Only members that do not agree make it fail. {@code -Dclairfs.scale.members=4,8} sets the sizes.
 */
@Timeout(1800)
final class MembersBenchmark {
    private static final String SIZES = System.getProperty("clairfs.scale.members", "4,8,16,32");
    private static final int EXTRAPOLATED = 256;
    private static final int SAMPLES = 100_000;
    private static final int QUIET_SECONDS = 20;
    private static final int BUSY_SECONDS = 20;
    private static final int SETTLE_MS = 8_000;

    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final List<double[]> measured = new ArrayList<>();

    /** Members that first were in another group than the rest. */
    private final AtomicInteger merged = new AtomicInteger();

    /** What the counters say at one moment. */
    private record Counters(long nanos, long socketBytes, long deviceBytes, long cpuNs, long deltas) {}

    @Test
    void members_agree_whoIsThereAndWhichJobRuns() throws Exception {
        run(2, false); // does not count
        System.out.println(
                "members  merged  all listed  job agreed  processor,  threads  heap MB  quiet: kB/s  processor  of the device"
                        + "  each change: kB/s  bytes around");
        System.out.println(
                "                 s           s           s of each   of each  of each  of each      of each    kB/s of each "
                        + "  of each            a message");
        for (Scanner sizes = new Scanner(SIZES).useDelimiter(","); sizes.hasNextInt(); ) {
            run(sizes.nextInt(), true);
        }
        extrapolate();
    }

    private void run(int size, boolean counts) throws Exception {
        List<Integer> ports = TestPorts.free(size);
        Fingerprint dataset = new Fingerprint(
                ThreadLocalRandom.current().nextLong(),
                ThreadLocalRandom.current().nextLong());
        GroupMembership[] members = new GroupMembership[size];
        merged.set(0);
        long heapBefore = usedBytes();
        int threadsBefore = ManagementFactory.getThreadMXBean().getThreadCount();
        long cpuBefore = system.getProcessCpuTime();
        long start = System.nanoTime();
        try {
            open(dataset, ports, members);
            eventually(
                    () -> Arrays.stream(members).allMatch(each -> each.nodes().size() == size));
            double listed = seconds(start);
            Map<String, String> ranks = new HashMap<>();
            for (int i = 0; i < size; i++) {
                ranks.put("node" + i, Integer.toString(i));
            }
            Job expected = new Job("train", "seed=1 epochs=90 world=" + size, ranks);
            eventually(() -> Arrays.stream(members)
                    .allMatch(each -> expected.equals(each.jobs().all().get("train"))));
            double agreed = seconds(start);
            double joinCpu = (system.getProcessCpuTime() - cpuBefore) / 1e9;
            for (int i = 0; i < size; i++) {
                members[i].heldHere().added(0, i);
                members[i].heldHere().added(1, SAMPLES - 1 - i);
            }
            eventually(() -> Arrays.stream(members).allMatch(each -> allKnown(each, size)));
            Thread.sleep(counts ? SETTLE_MS : 0);
            double threads = ManagementFactory.getThreadMXBean().getThreadCount() - threadsBefore;
            double heap = (usedBytes() - heapBefore) / 1e6;
            if (!counts) {
                return;
            }
            Counters quietFrom = counters(members);
            Thread.sleep(QUIET_SECONDS * 1_000);
            Counters quietTo = counters(members);
            int bytes = changeAll(members);
            Counters busyTo = counters(members);
            report(
                    new double[] {size, listed, agreed, joinCpu / size, threads / size, heap / size},
                    quietFrom,
                    quietTo,
                    busyTo,
                    bytes);
            eventually(() -> Arrays.stream(members).allMatch(each -> allKnown(each, size)));
        } finally {
            for (GroupMembership member : members) {
                if (member != null) {
                    member.terminate();
                }
            }
        }
    }

    /** All at the same time, as a scheduler starts them; the first that is in writes the job line, and each claims its rank. */
    private void open(Fingerprint dataset, List<Integer> ports, GroupMembership[] members) throws Exception {
        Discovery all = new Discovery.Members(
                ports.stream().map(port -> "127.0.0.1:" + port).toList());
        Secret secret = Secret.of("a secret of the group".getBytes(StandardCharsets.US_ASCII));
        try (ExecutorService opening = Executors.newCachedThreadPool()) {
            List<Future<?>> opened = new ArrayList<>();
            for (int i = 0; i < members.length; i++) {
                int number = i;
                InetAddress here = InetAddress.getLoopbackAddress();
                ClusterConfig config = new ClusterConfig(
                        dataset, secret, new InetSocketAddress(here, ports.get(i)), all, DirectoryTimes.DEFAULT);
                Node.Introduction self =
                        new Node.Introduction("node" + i, new InetSocketAddress(here, 9_000 + i), new byte[16]);
                opened.add(opening.submit(() -> {
                    members[number] = GroupMembership.open(config, self, SAMPLES);
                    members[number].hazelcast().getLifecycleService().addLifecycleListener(event -> {
                        if (event.getState() == LifecycleEvent.LifecycleState.MERGED) {
                            merged.incrementAndGet();
                        }
                    });
                    if (number == 0) {
                        members[number].jobs().put("train", "seed=1 epochs=90 world=" + members.length);
                    }
                    members[number].jobs().putRanks("train", Integer.toString(number));
                    return number;
                }));
            }
            for (Future<?> each : opened) {
                each.get();
            }
        }
    }

    private static boolean allKnown(GroupMembership member, int size) {
        HeldElsewhere.View view = member.heldElsewhere().view();
        for (int i = 0; i < view.nodes(); i++) {
            int number = Integer.parseInt(view.node(i).name().substring("node".length()));
            if (view.tier(number, i) != 0 || view.tier(SAMPLES - 1 - number, i) != 1) {
                return false;
            }
        }
        return view.nodes() == size - 1;
    }

    /** Every member publishes a delta whenever it may. Returns the bytes of one. */
    private static int changeAll(GroupMembership[] members) throws InterruptedException {
        int bytes = 0;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BUSY_SECONDS);
        for (int sample = 1_000; System.nanoTime() < end; sample++) {
            for (GroupMembership member : members) {
                member.heldHere().added(0, sample);
            }
            Thread.sleep(DirectoryTimes.DEFAULT.publishMs() / 5);
        }
        HeldHere alike = new HeldHere(SAMPLES, 1);
        for (int sample = 1_000; sample < 1_005; sample++) {
            alike.added(0, sample);
        }
        for (HoldingsMessage delta : alike.deltas()) {
            bytes += HoldingsMessage.write(delta).length;
        }
        return bytes;
    }

    private Counters counters(GroupMembership[] members) throws IOException {
        long socketBytes = 0;
        long deltas = 0;
        for (GroupMembership member : members) {
            NetworkStats stats = Objects.requireNonNull(((HazelcastInstanceProxy) member.hazelcast())
                    .getOriginal()
                    .node
                    .getServer()
                    .getNetworkStats()
                    .get(EndpointQualifier.MEMBER));
            socketBytes += stats.getBytesSent();
            for (HoldingsMessage reminder : member.heldHere().reminders()) {
                deltas += reminder instanceof HoldingsMessage.Reminder(HoldingsMessage.At at) ? at.sequence() : 0;
            }
        }
        return new Counters(System.nanoTime(), socketBytes, loopbackBytes(), system.getProcessCpuTime(), deltas);
    }

    private static long loopbackBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/net/dev"))) {
            Scanner words = new Scanner(line);
            if (words.next().equals("lo:")) {
                return words.nextLong();
            }
        }
        return 0;
    }

    private static long usedBytes() {
        System.gc();
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static double seconds(long since) {
        return (System.nanoTime() - since) / 1e9;
    }

    private void report(double[] start, Counters quietFrom, Counters quietTo, Counters busyTo, int deltaBytes) {
        double size = start[0];
        double quietS = (quietTo.nanos() - quietFrom.nanos()) / 1e9;
        double busyS = (busyTo.nanos() - quietTo.nanos()) / 1e9;
        double quiet = (quietTo.socketBytes() - quietFrom.socketBytes()) / quietS / size;
        double device = (quietTo.deviceBytes() - quietFrom.deviceBytes()) / quietS / size;
        double processor = (quietTo.cpuNs() - quietFrom.cpuNs()) / 1e9 / quietS / size;
        double busy = (busyTo.socketBytes() - quietTo.socketBytes()) / busyS / size;
        double sent = (busyTo.deltas() - quietTo.deltas()) / busyS / size * (size - 1);
        double around = (busy - quiet) / sent - deltaBytes;
        measured.add(new double[] {size, start[1], start[2], start[3], start[4], start[5], quiet, processor, busy});
        System.out.printf(
                "%7.0f %7d %11.1f %11.1f %11.2f %8.1f %8.2f %12.1f %8.2f %% %14.1f %19.1f %13.0f%n",
                size,
                merged.get(),
                start[1],
                start[2],
                start[3],
                start[4],
                start[5],
                quiet / 1e3,
                100 * processor,
                device / 1e3,
                busy / 1e3,
                around);
    }

    /** Lines through what was measured, by least squares, over the number of the others. They say nothing of what happens beyond. */
    private void extrapolate() {
        System.out.printf("%n%d members, extrapolated by lines through these figures, not measured:%n", EXTRAPOLATED);
        String[] names = {
            "all listed, s", "job agreed, s", "processor until then, s", "threads", "heap, MB", "quiet, B/s"
        };
        for (int column = 1; column <= names.length; column++) {
            double n = measured.size();
            double x = 0;
            double y = 0;
            double xx = 0;
            double xy = 0;
            for (double[] row : measured) {
                double others = row[0] - 1;
                x += others;
                y += row[column];
                xx += others * others;
                xy += others * row[column];
            }
            double slope = (n * xy - x * y) / (n * xx - x * x);
            double base = (y - slope * x) / n;
            System.out.printf(
                    "%-24s %,.3f + %,.3f for each other one: %,.1f%n",
                    names[column - 1], base, slope, base + slope * (EXTRAPOLATED - 1));
        }
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime())
                    .as("it did not happen within 5 minutes")
                    .isLessThan(end);
            Thread.sleep(10);
        }
    }
}
