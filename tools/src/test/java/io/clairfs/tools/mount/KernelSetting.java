package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Changes a setting of the kernel, which concerns the whole machine, until closed.
 *
 * <p>Concurrent test runs that change settings wait for each other, by a lock on a file. The file has the previous value, so that the next
 * run restores the setting of a killed run before its first mount.
 */
final class KernelSetting implements AutoCloseable {
    /** The number of directories that one user may watch. */
    static final String WATCHES = "fs/inotify/max_user_watches";

    /** The number of inotify queues that one user may have. */
    static final String INSTANCES = "fs/inotify/max_user_instances";

    /** The number of reports that a new inotify queue holds. */
    static final String QUEUE = "fs/inotify/max_queued_events";

    private static final Path SETTINGS = Path.of("/proc/sys");
    private static final Path LOCK = Path.of("/tmp/clairfs-test-kernel-settings.lock");
    private static final int LONGEST = 200;

    /** Excludes other threads: a lock on a file belongs to the whole process. */
    private static final ReentrantLock HERE = new ReentrantLock();

    private final Path file;
    private final String before;
    private final FileChannel channel;
    private final FileLock lock;

    private KernelSetting(Path file, String before, FileChannel channel, FileLock lock) {
        this.file = file;
        this.before = before;
        this.channel = channel;
        this.lock = lock;
    }

    /**
     * Sets {@code name} to {@code value} until closed. Without the privilege the test is skipped. A test that runs beside others fails: a
     * mount of theirs that starts meanwhile would not be followed.
     */
    static KernelSetting set(String name, int value) throws IOException, InterruptedException {
        assertThat(System.getProperty("clairfs.test.alone", "true"))
                .as("a test that sets %s has the tag alone", name)
                .isEqualTo("true");
        Requirements.root();
        HERE.lock();
        FileChannel channel = null;
        try {
            channel = FileChannel.open(
                    LOCK, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            FileLock lock = channel.lock();
            restore(channel);
            Path file = SETTINGS.resolve(name);
            String before = value(file);
            channel.write(ByteBuffer.wrap((name + " " + before).getBytes(US_ASCII)), 0);
            KernelSetting setting = new KernelSetting(file, before, channel, lock);
            Files.writeString(file, value + "\n");
            return setting;
        } catch (IOException | RuntimeException | Error e) {
            if (channel != null) {
                channel.close();
            }
            HERE.unlock();
            throw e;
        }
    }

    /** Restores the setting of a killed run, unless another run holds the lock. */
    static void removeLeftovers() throws IOException {
        if (!Files.isWritable(LOCK) || Files.size(LOCK) == 0 || !HERE.tryLock()) {
            return;
        }
        try (FileChannel channel = FileChannel.open(LOCK, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                restore(channel);
            }
        } finally {
            HERE.unlock();
        }
    }

    /** Restores the setting that an earlier run left, if any. */
    private static void restore(FileChannel channel) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(LONGEST);
        if (channel.read(text, 0) > 0) {
            String[] left = new String(text.array(), 0, text.position(), US_ASCII).split(" ", 2);
            System.out.println("putting right what a killed run left: " + String.join(" ", left));
            Files.writeString(SETTINGS.resolve(left[0]), left[1]);
        }
        channel.truncate(0);
    }

    /** Reads the value with a single read, as a file of this kind requires. */
    private static String value(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] text = new byte[64];
            return new String(text, 0, in.read(text), US_ASCII);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            Files.writeString(file, before);
            assertThat(value(file)).isEqualTo(before);
            channel.truncate(0);
            lock.release();
        } finally {
            channel.close();
            HERE.unlock();
        }
    }
}
