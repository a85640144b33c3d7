package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes read through the mount equal the source's, in every way of reading. */
@Timeout(600)
class MountReadTest {
    private static final int REQUEST = 128 * 1024;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private static LiveMount mount;

    @BeforeAll
    static void mountFiles() throws IOException, InterruptedException {
        source = FIXTURE.newDirectory("source");
        mount = null;
        for (int size : new int[] {
            0,
            1,
            784,
            4095,
            4096,
            4097,
            REQUEST - 1,
            REQUEST,
            REQUEST + 1,
            3 * REQUEST,
            1_000_003,
            20_000_000,
            80_000_000
        }) {
            byte[] content = new byte[size];
            new Random(size).nextBytes(content);
            Files.write(source.resolve(name(size)), content);
        }
        mount = FIXTURE.mount(source, "--index-rule", "sorted");
    }

    private static String name(int size) {
        return "bytes-" + size;
    }

    // Promise R1
    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                1,
                784,
                4095,
                4096,
                4097,
                REQUEST - 1,
                REQUEST,
                REQUEST + 1,
                3 * REQUEST,
                1_000_003,
                20_000_000,
                80_000_000
            })
    void whole_file_equals_the_source(int size) throws Exception {
        Path file = mount.point().resolve(name(size));
        assertThat(Files.size(file)).isEqualTo(size);
        assertThat(Files.mismatch(file, source.resolve(name(size)))).isEqualTo(-1);
    }

    // Promise R2
    @ParameterizedTest
    @ValueSource(ints = {4097, REQUEST + 1, 1_000_003, 20_000_000, 80_000_000})
    void reads_at_any_offset_equal_the_source(int size) throws Exception {
        byte[] expected = Files.readAllBytes(source.resolve(name(size)));
        long seed = 1;
        Random random = new Random(seed);
        try (RandomAccessFile file =
                new RandomAccessFile(mount.point().resolve(name(size)).toFile(), "r")) {
            for (int i = 0; i < 200; i++) {
                int offset = random.nextInt(size + 10);
                byte[] got = new byte[1 + random.nextInt(300_000)];
                file.seek(offset);
                int length = readFully(file, got);
                int end = Math.min(size, offset + got.length);
                assertThat(length).as("seed %d, offset %d", seed, offset).isEqualTo(Math.max(0, end - offset));
                assertThat(Arrays.equals(got, 0, length, expected, Math.min(offset, end), end))
                        .as("seed %d, offset %d, %d bytes", seed, offset, got.length)
                        .isTrue();
            }
        }
    }

    private static int readFully(RandomAccessFile file, byte[] into) throws IOException {
        int length = 0;
        while (length < into.length) {
            int n = file.read(into, length, into.length - length);
            if (n < 0) {
                break;
            }
            length += n;
        }
        return length;
    }

    // Promise K1
    @ParameterizedTest
    @ValueSource(strings = {"mmap", "direct"})
    void mapped_and_uncached_reads_equal_the_source(String way) throws Exception {
        String read = """
                import hashlib, mmap, os, sys
                source, mount, way = sys.argv[1:]

                def mapped(path):
                    with open(path, 'rb') as file:
                        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
                            return pages[:]

                def direct(path):
                    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
                    size = os.fstat(fd).st_size
                    buffer = mmap.mmap(-1, 1 << 20)
                    got = bytearray(size)
                    at = 0
                    while at < size:
                        n = os.preadv(fd, [buffer], at)
                        assert n > 0, (path, at, size)
                        got[at:at + n] = buffer[:n]
                        at += n
                    return got

                same = 0
                for name in sorted(os.listdir(mount)):
                    if name == 'bytes-0':
                        continue
                    got = {'mmap': mapped, 'direct': direct}[way](mount + '/' + name)
                    assert got == open(source + '/' + name, 'rb').read(), name
                    same += 1
                print(same)
                """;
        assertThat(FIXTURE.python(read, source, mount.point(), way)).isEqualTo("12\n");
    }

    // Promise R3
    @Test
    void reads_by_many_at_once_equal_the_source() throws Exception {
        String read = """
                import hashlib, os, sys
                from concurrent.futures import ThreadPoolExecutor
                source, mount = sys.argv[1:]

                def digest(path):
                    with open(path, 'rb', buffering=0) as file:
                        h = hashlib.sha256()
                        while piece := file.read(50_021):
                            h.update(piece)
                        return h.hexdigest()

                names = [n for n in os.listdir(mount) if n != 'bytes-80000000']
                expected = {n: digest(source + '/' + n) for n in names}
                with ThreadPoolExecutor(8) as pool:
                    got = list(pool.map(lambda n: (n, digest(mount + '/' + n)), names * 8))
                assert all(expected[n] == d for n, d in got)
                print(len(got))
                """;
        assertThat(FIXTURE.python(read, source, mount.point())).isEqualTo("96\n");
    }

    // Promise R4
    @Test
    void a_job_over_the_same_files_serves_the_same_bytes() throws Exception {
        mount.awaitReady();
        mount.job("name=bytes seed=1 epochs=2");
        var index = mount.lines("index");
        for (int epoch = 0; epoch < 2; epoch++) {
            for (String sample : mount.order("bytes", epoch, 0)) {
                String name = index.get(Integer.parseInt(sample));
                assertThat(Files.mismatch(mount.point().resolve(name), source.resolve(name)))
                        .as(name)
                        .isEqualTo(-1);
            }
        }
        mount.await("read", s -> s.path("jobs").path(0).path("done").asBoolean());
        mount.job("stop=bytes");
    }
}
