package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The mount shows the source's tree: every name, attribute and link. Nobody can change it. */
@Timeout(600)
class MountTreeTest {
    /** The number of additional lookups by the mount command, which checks that the mount is there. */
    private static final int MOUNTING = 5;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private static LiveMount mount;
    private static String files;

    @BeforeAll
    static void mountTree() throws IOException, InterruptedException {
        source = FIXTURE.newDirectory("source");
        files = FIXTURE.python("make_tree.py", source).strip();
        mount = FIXTURE.mount(source, "--index-rule", "sorted");
    }

    // Promise N1
    @Test
    void names_contents_modes_owners_times_sizes_and_links_equal_the_source() throws Exception {
        assertThat(FIXTURE.python("compare_trees.py", source, mount.point()))
                .isEqualTo("same: " + files + " files, 12 directories, 7 links\n");
    }

    // Promise N2
    @Test
    void entries_are_listed_in_byte_order_whatever_the_order_of_the_source() throws Exception {
        String listing = "import os, sys; print(os.listdir(os.fsencode(sys.argv[1])))";
        String sorted = "import os, sys; print(sorted(os.listdir(os.fsencode(sys.argv[1]))))";
        String expected = FIXTURE.python(sorted, source.resolve("many"));
        assertThat(FIXTURE.python(listing, source.resolve("many"))).isNotEqualTo(expected);
        assertThat(FIXTURE.python(listing, mount.point().resolve("many"))).isEqualTo(expected);
    }

    // Promise N4
    @Test
    void links_lead_where_they_lead_in_the_source() throws Exception {
        Path links = mount.point().resolve("links");
        assertThat(links.resolve("to-file")).hasContent("top");
        assertThat(links.resolve("to-dir/c/d/e/f/deep")).hasContent("deep");
        assertThat(links.resolve("not-utf8")).isRegularFile();
        assertThatThrownBy(() -> Files.readString(links.resolve("broken"))).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Files.readString(links.resolve("loop"))).hasMessageContaining("Too many levels");
    }

    // Promise N3
    @Test
    void names_that_look_alike_are_different_files() throws Exception {
        String read = "import os, sys; [print(open(os.fsencode(sys.argv[1]) + b'/names/' + n, 'rb').read())"
                + " for n in (b'bad\\xff.jpg', b'bad\\xfe.jpg', b'bad\\xef\\xbf\\xbd.jpg')]";
        assertThat(FIXTURE.python(read, mount.point())).isEqualTo("""
                        b'content of bad\\xff.jpg'
                        b'content of bad\\xfe.jpg'
                        b'content of bad\\xef\\xbf\\xbd.jpg'
                        """);
        String missing = "import os, sys; print(os.path.exists(os.fsencode(sys.argv[1]) + b'/names/bad\\xfd.jpg'))";
        assertThat(FIXTURE.python(missing, mount.point())).isEqualTo("False\n");
    }

    // Promise N7
    @Test
    void control_directory_is_hidden_from_the_listing_but_can_be_used() throws Exception {
        try (var entries = Files.list(mount.point())) {
            assertThat(entries.map(p -> p.getFileName().toString()))
                    .contains("top")
                    .doesNotContain(".clairfs");
        }
        assertThat(mount.point().resolve(".clairfs/status.json")).isReadable();
        assertThat(mount.point().resolve(".clairfs/of-the-source")).doesNotExist();
    }

    /** Opens all files of a directory, as most of Python's libraries do, in binary and text, by text and path; prints what it read of each. */
    private static final String OPENS = """
            import io, os, pathlib, pickle, sys
            for name in sorted(os.listdir(sys.argv[1])):
                path = os.path.join(sys.argv[1], name)
                with open(path, 'rb') as binary, open(file=path) as text, io.open(path, mode='rb', buffering=-1) as other:
                    read = [binary.read(), text.read().encode(), other.read(), pathlib.Path(path).read_bytes()]
                print(*{each.decode() for each in read}, isinstance(binary, io.BufferedReader), isinstance(text, io.TextIOWrapper))
            class Holder:
                opened = open
            print(pickle.loads(pickle.dumps(open)) is open, Holder().opened(path).read(), open.__qualname__)
            """;

    // Promise K8
    // Before 3.14 Python asks of each file whether it is a terminal, and nobody but the reader can prevent that.
    @Test
    void python_under_run_opens_files_without_a_question() throws Exception {
        Path tree = FIXTURE.newDirectory("tree");
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < 5; i++) {
            Files.writeString(Files.createDirectories(tree.resolve("c")).resolve("file-" + i), "content of " + i);
            expected.append("content of ").append(i).append(" True True\n");
        }
        expected.append("True content of 4 open\n");
        LiveMount opened = FIXTURE.mount(tree);
        opened.awaitReady();
        Object[] run = {
            "run",
            opened.point(),
            "--",
            Requirements.PYTHON,
            "-c",
            OPENS,
            opened.point().resolve("c")
        };
        assertThat(FIXTURE.clairfs(run).succeeded()).isEqualTo(expected.toString());
        assertThat(opened.status().path("kernel").path("ioctl").asLong()).isZero();
        assertThat(FIXTURE.python(OPENS, opened.point().resolve("c"))).isEqualTo(expected.toString());
        assertThat(opened.status().path("kernel").path("ioctl").asLong()).isLessThanOrEqualTo(5 * 4 + 1);
    }

    // Promise N12
    @Test
    void walking_tells_what_each_entry_is_without_a_request_for_it() throws Exception {
        Path tree = FIXTURE.newDirectory("typed");
        for (String directory : List.of("a", "b", "b/c")) {
            Files.createDirectory(tree.resolve(directory));
            for (int i = 0; i < 50; i++) {
                Files.createFile(tree.resolve(directory).resolve("file-" + i));
            }
            Files.createSymbolicLink(tree.resolve(directory).resolve("link"), Path.of("/"));
        }
        LiveMount typed = FIXTURE.mount(tree);
        typed.awaitReady();
        String walk = """
                import os, sys
                files = links = 0
                directories = [sys.argv[1]]
                for here in directories:
                    with os.scandir(here) as entries:
                        for e in entries:
                            links += e.is_symlink()
                            files += e.is_file(follow_symlinks=False)
                            if e.is_dir(follow_symlinks=False):
                                directories.append(e.path)
                print(files, links, len(directories))
                """;
        assertThat(FIXTURE.python(walk, typed.point())).isEqualTo("150 3 4\n");
        JsonNode kernel = typed.status().path("kernel");
        assertThat(kernel.path("getattr").asLong())
                .as("of the root, its control directory and three directories, in %s", kernel)
                .isLessThanOrEqualTo(3 + 2 + MOUNTING);
        assertThat(kernel.path("readlink").asLong()).isZero();
        assertThat(kernel.path("readdir").asLong()).isPositive();
    }

    // Promise N12
    @Test
    void looking_at_the_entries_of_many_directories_costs_a_request_for_those_of_the_first_alone() throws Exception {
        Path tree = FIXTURE.newDirectory("looked-at");
        for (int directory = 0; directory < 6; directory++) {
            Files.createDirectory(tree.resolve("d" + directory));
            for (int i = 0; i < 50; i++) {
                Files.createFile(tree.resolve("d" + directory).resolve("file-" + i));
            }
        }
        LiveMount typed = FIXTURE.mount(tree);
        typed.awaitReady();
        String look = """
                import os, sys
                looked = 0
                for here, below, names in os.walk(sys.argv[1]):
                    for name in names:
                        looked += os.stat(os.path.join(here, name)).st_size == 0
                print(looked)
                """;
        assertThat(FIXTURE.python(look, typed.point())).isEqualTo("300\n");
        JsonNode kernel = typed.status().path("kernel");
        assertThat(kernel.path("getattr").asLong())
                .as("of 50 files, and of the root, its control directory and six directories, in %s", kernel)
                .isBetween(50L, 50L + 6 + 2 + MOUNTING);
    }

    // Promise N6
    @Test
    void a_pipe_is_left_out() {
        assertThat(mount.point().resolve("pipe")).doesNotExist();
    }

    // Promise N5
    @ParameterizedTest
    @ValueSource(
            strings = {
                "os.open(root + '/new', os.O_CREAT | os.O_WRONLY)",
                "os.open(root + '/top', os.O_WRONLY)",
                "os.open(root + '/top', os.O_RDWR)",
                "os.truncate(root + '/top', 0)",
                "os.unlink(root + '/top')",
                "os.rename(root + '/top', root + '/bottom')",
                "os.mkdir(root + '/new')",
                "os.rmdir(root + '/empty')",
                "os.symlink('top', root + '/new')",
                "os.link(root + '/top', root + '/new')",
                "os.chmod(root + '/top', 0o777)",
                "os.chown(root + '/top', 1, 1)",
                "os.utime(root + '/top')",
                "os.mknod(root + '/new')"
            })
    void changing_anything_fails_with_read_only_filesystem(String change) throws Exception {
        String attempt = """
                import errno, os, sys
                root = sys.argv[1]
                try:
                    %s
                    print('done')
                except OSError as e:
                    print(errno.errorcode[e.errno])
                """.formatted(change);
        assertThat(FIXTURE.python(attempt, mount.point())).isEqualTo("EROFS\n");
        assertThat(Files.readString(source.resolve("top"), UTF_8)).isEqualTo("top");
    }

    // Promise N10
    @Test
    void a_path_below_a_file_is_not_a_directory() throws Exception {
        String attempt = """
                import errno, os, sys
                for below in ('top/x', 'no/such', 'top'):
                    try:
                        os.listdir(sys.argv[1] + '/' + below)
                    except OSError as e:
                        print(errno.errorcode[e.errno])
                """;
        assertThat(FIXTURE.python(attempt, mount.point())).isEqualTo("ENOTDIR\nENOENT\nENOTDIR\n");
    }
}
