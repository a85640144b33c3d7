package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way of reading that the kernel offers sees the same bytes. Also tests what the mount reports of itself. */
@Timeout(600)
class KernelInterfaceTest {
    private static final int BYTES = 300_007;
    private static final long HUGE = (5L << 30) + 12_345;

    /** The beginning of every script: {@code path} in the mount, {@code expected} of the source. */
    private static final String BEGIN = """
            import ctypes, errno, mmap, os, sys
            mount, source = sys.argv[1:]
            path = mount + '/c/file.jpg'
            expected = open(source + '/c/file.jpg', 'rb').read()

            def failure(attempt):
                try:
                    attempt()
                    return 'done'
                except OSError as e:
                    return errno.errorcode[e.errno]
            """;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private static LiveMount mount;

    @BeforeAll
    static void mountFiles() throws IOException, InterruptedException {
        source = FIXTURE.newDirectory("source");
        Path c = Files.createDirectory(source.resolve("c"));
        byte[] content = new byte[BYTES];
        new Random(1).nextBytes(content);
        Files.write(c.resolve("file.jpg"), content);
        Files.createLink(c.resolve("second-name.jpg"), c.resolve("file.jpg"));
        try (RandomAccessFile holes =
                new RandomAccessFile(c.resolve("holes.jpg").toFile(), "rw")) {
            holes.setLength(1 << 20);
            holes.seek(1 << 19);
            holes.write(content, 0, 1000);
        }
        try (RandomAccessFile huge = new RandomAccessFile(c.resolve("huge.jpg").toFile(), "rw")) {
            huge.seek(HUGE - 1000);
            huge.write(content, 0, 1000);
        }
        Path deep = c;
        for (int i = 0; i < 150; i++) {
            deep = Files.createDirectory(deep.resolve("level-of-" + i));
        }
        Files.writeString(deep.resolve("leaf.jpg"), "deep");
        mount = FIXTURE.mount(source);
    }

    private static String python(String script) throws IOException, InterruptedException {
        return FIXTURE.python(BEGIN + script, mount.point(), source);
    }

    // Promise K1
    @Test
    void private_and_shared_mappings_see_the_bytes_and_change_nothing() throws Exception {
        assertThat(python("""
                fd = os.open(path, os.O_RDONLY)
                shared = mmap.mmap(fd, 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
                private = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
                print(shared[:] == expected, private[:] == expected)
                print(bytes(shared[100_000 + len(expected) % 4096:]) == expected[100_000 + len(expected) % 4096:])
                private[:4] = b'mine'
                print(shared[:4] == expected[:4], open(path, 'rb').read(4) == expected[:4])
                print(failure(lambda: mmap.mmap(fd, 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_WRITE)))
                """)).isEqualTo("True True\nTrue\nTrue True\nEACCES\n");
    }

    // Promise K2
    @ParameterizedTest
    @ValueSource(
            strings = {
                "b''.join(iter(lambda: os.read(fd, 4099), b''))",
                "b''.join(os.pread(fd, 7001, at) for at in range(0, len(expected), 7001))",
                "gathered(fd)",
                "sent(fd)",
                "spliced(fd)",
                "in_reverse(fd)"
            })
    void every_way_of_reading_sees_the_bytes(String way) throws Exception {
        assertThat(python("""
                import tempfile

                def gathered(fd):
                    parts = [bytearray(100_003), bytearray(3), bytearray(len(expected))]
                    left = os.preadv(fd, parts, 0)
                    return b''.join(parts)[:left]

                def into_file(copy):
                    with tempfile.TemporaryFile() as out:
                        while copy(out):
                            pass
                        out.seek(0)
                        return out.read()

                def sent(fd):
                    return into_file(lambda out: os.sendfile(out.fileno(), fd, None, 50_000))

                def spliced(fd):
                    read, write = os.pipe()
                    libc = ctypes.CDLL(None, use_errno=True)
                    got = b''
                    while (n := libc.splice(fd, None, write, None, 50_000, 0)) > 0:
                        while n:
                            piece = os.read(read, n)
                            got += piece
                            n -= len(piece)
                    assert n == 0, os.strerror(ctypes.get_errno())
                    return got

                def in_reverse(fd):
                    at = range(0, len(expected), 3001)
                    return b''.join(reversed([os.pread(fd, 3001, a) for a in reversed(at)]))

                fd = os.open(path, os.O_RDONLY)
                print((%s) == expected)
                """.formatted(way))).isEqualTo("True\n");
    }

    // Promise K3
    @Test
    void advice_and_locks_are_taken_and_change_no_byte() throws Exception {
        assertThat(python("""
                import fcntl
                fd = os.open(path, os.O_RDONLY)
                for advice in (os.POSIX_FADV_WILLNEED, os.POSIX_FADV_RANDOM, os.POSIX_FADV_DONTNEED):
                    os.posix_fadvise(fd, 0, 0, advice)
                    assert os.pread(fd, len(expected), 0) == expected, advice
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
                print(os.pread(fd, len(expected), 0) == expected)
                """)).isEqualTo("True\n");
    }

    // Promise K4
    @Test
    void seeks_go_where_they_go_in_a_file_without_holes_and_holes_read_as_zeros() throws Exception {
        assertThat(python("""
                holes = os.open(mount + '/c/holes.jpg', os.O_RDONLY)
                print(open(mount + '/c/holes.jpg', 'rb').read() == open(source + '/c/holes.jpg', 'rb').read())
                print(os.lseek(holes, -10, os.SEEK_END), os.lseek(holes, 0, os.SEEK_DATA), os.lseek(holes, 5, os.SEEK_HOLE))
                print(os.lseek(holes, 1 << 30, os.SEEK_SET), os.read(holes, 10))
                print(failure(lambda: os.lseek(holes, 1 << 30, os.SEEK_DATA)), failure(lambda: os.lseek(holes, -1, os.SEEK_SET)))
                """)).isEqualTo("True\n1048566 0 1048576\n1073741824 b''\nENXIO EINVAL\n");
    }

    // Promise K5
    @Test
    void each_name_of_a_file_with_several_is_a_file_of_its_own() throws Exception {
        assertThat(python("""
                one, two = os.stat(path), os.stat(mount + '/c/second-name.jpg')
                print(one.st_ino != two.st_ino, one.st_nlink, two.st_nlink, one.st_size == two.st_size)
                print(open(mount + '/c/second-name.jpg', 'rb').read() == expected)
                print(os.stat(path).st_ino == one.st_ino, os.fstat(os.open(path, os.O_RDONLY)).st_ino == one.st_ino)
                """)).isEqualTo("True 1 1 True\nTrue\nTrue True\n");
    }

    // Promise K6
    @Test
    void statfs_tells_the_size_of_the_dataset_and_that_it_is_full() throws Exception {
        mount.awaitReady();
        long bytes = 2L * BYTES + (1 << 20) + HUGE + "deep".length();
        assertThat(python("""
                s = os.statvfs(mount)
                print(s.f_blocks * s.f_frsize // 4096, s.f_bfree, s.f_bavail, s.f_ffree, s.f_namemax, s.f_flag & os.ST_RDONLY)
                """)).isEqualTo(Math.ceilDiv(bytes, 4096L) + " 0 0 0 255 1\n");
    }

    // Promise K7
    @Test
    void extended_attributes_are_not_shown() throws Exception {
        assertThat(python("""
                print(os.listxattr(path) if failure(lambda: os.listxattr(path)) == 'done' else [])
                print(failure(lambda: os.getxattr(path, 'user.x')) in ('ENOTSUP', 'EOPNOTSUPP', 'ENODATA'))
                """)).isEqualTo("[]\nTrue\n");
    }

    // Promise R1
    @Test
    void file_beyond_four_gibibytes_reads_right_at_both_ends() throws Exception {
        assertThat(python("""
                huge, original = (os.open(d + '/c/huge.jpg', os.O_RDONLY) for d in (mount, source))
                size = os.fstat(original).st_size
                print(os.fstat(huge).st_size == size)
                for at in (0, (1 << 32) - 1000, size - 1500):
                    print(os.pread(huge, 2000, at) == os.pread(original, 2000, at))
                """)).isEqualTo("True\nTrue\nTrue\nTrue\n");
    }

    // Promise N11
    @Test
    void tree_of_any_depth_that_a_path_can_name_is_there() throws Exception {
        assertThat(python("""
                path = mount + '/c'
                while True:
                    below = [n for n in os.listdir(path) if n.startswith('l')]
                    path += '/' + below[0]
                    if below[0] == 'leaf.jpg':
                        break
                print(path.count('level-of'), open(path).read())
                """)).isEqualTo("150 deep\n");
    }

    // Promise R3
    @Test
    void readers_of_one_sample_at_once_see_the_same_bytes() throws Exception {
        assertThat(python("""
                import subprocess
                reader = "import sys; print(open(sys.argv[1], 'rb').read() == open(sys.argv[2], 'rb').read())"
                all = [subprocess.Popen([sys.executable, '-c', reader, path, source + '/c/file.jpg'], stdout=subprocess.PIPE)
                       for _ in range(12)]
                print({one.communicate()[0] for one in all})
                """)).isEqualTo("{b'True\\n'}\n");
    }

    // Promise E5
    @Test
    void a_reader_that_a_signal_interrupts_gets_all_its_bytes_all_the_same() throws Exception {
        assertThat(python("""
                import signal
                signal.signal(signal.SIGALRM, lambda *_: None)
                signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
                right = 0
                for _ in range(40):
                    fd = os.open(path, os.O_RDONLY)
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                    right += os.pread(fd, len(expected), 0) == expected
                    os.close(fd)
                signal.setitimer(signal.ITIMER_REAL, 0)
                print(right)
                """)).isEqualTo("40\n");
    }

    // Promise C4
    @Test
    void mount_shows_what_was_listed_whatever_becomes_of_the_source() throws Exception {
        Path tree = FIXTURE.newDirectory("changing");
        for (String directory : List.of("kept", "renamed")) {
            Files.createDirectory(tree.resolve(directory));
            for (String name : List.of("1.jpg", "2.jpg", "3.jpg")) {
                Files.writeString(tree.resolve(directory).resolve(name), directory + name);
            }
        }
        LiveMount live = FIXTURE.mount(tree);
        live.awaitReady();
        assertThat(live.point().resolve("kept/1.jpg")).hasContent("kept1.jpg");
        Files.delete(tree.resolve("kept/1.jpg"));
        Files.delete(tree.resolve("kept/2.jpg"));
        Files.writeString(tree.resolve("kept/new.jpg"), "new");
        Files.move(tree.resolve("renamed"), tree.resolve("moved"));
        assertThat(FIXTURE.python("""
                        import errno, os, sys
                        os.chdir(sys.argv[1])
                        print(sorted(os.listdir('.')), os.listdir('kept'), os.listdir('renamed'))
                        for path in ('kept/1.jpg', 'kept/2.jpg', 'kept/3.jpg', 'kept/new.jpg', 'renamed/1.jpg', 'moved/1.jpg'):
                            try:
                                print(path, open(path).read(), os.stat(path).st_size)
                            except OSError as e:
                                print(path, errno.errorcode[e.errno])
                        """, live.point())).isEqualTo("""
                        ['kept', 'renamed'] ['1.jpg', '2.jpg', '3.jpg'] ['1.jpg', '2.jpg', '3.jpg']
                        kept/1.jpg kept1.jpg 9
                        kept/2.jpg ENOENT
                        kept/3.jpg kept3.jpg 9
                        kept/new.jpg ENOENT
                        renamed/1.jpg ENOENT
                        moved/1.jpg ENOENT
                        """);
        assertThat(Files.size(live.point().resolve("kept/2.jpg"))).isEqualTo(9);
        FIXTURE.clairfs("umount", live.point()).succeeded();
    }
}
