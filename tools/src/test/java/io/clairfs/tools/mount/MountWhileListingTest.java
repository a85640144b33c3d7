package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A mount can be used from its first moment, also while the dataset is being listed. */
@Timeout(600)
class MountWhileListingTest {
    private static final int CLASSES = 100;
    private static final int PER_CLASS = 200;

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    // Promise N9
    @Test
    void files_are_right_and_jobs_are_taken_before_and_after_the_dataset_is_listed() throws Exception {
        var source = fixture.newDirectory("source");
        fixture.python("""
                import os, sys
                root, classes, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
                for c in range(classes):
                    os.mkdir(f'{root}/c{c}')
                    for i in range(each):
                        with open(f'{root}/c{c}/{i}.jpg', 'w') as out:
                            out.write(f'class {c} image {i}')
                """, source, CLASSES, PER_CLASS);
        LiveMount mount = fixture.mount(source);
        assertThat(mount.point().resolve("c57/123.jpg")).hasContent("class 57 image 123");
        mount.job("seed=1 epochs=1");
        System.out.println("listed when first read: " + mount.status().path("ready"));

        mount.awaitReady();
        mount.await("started", s -> s.path("jobs").size() == 1);
        assertThat(mount.status().path("samples").asInt()).isEqualTo(CLASSES * PER_CLASS);
        assertThat(mount.lines("index")).hasSize(CLASSES * PER_CLASS).startsWith("c0/0.jpg", "c0/1.jpg", "c0/10.jpg");
        assertThat(mount.order("train", 0, 0)).hasSize(CLASSES * PER_CLASS);
        assertThat(mount.point().resolve("c99/199.jpg")).hasContent("class 99 image 199");
    }

    // Promise N8
    @Test
    void walking_the_mount_opens_no_file_of_the_source() throws Exception {
        var source = fixture.newDirectory("source");
        int files = Integer.parseInt(fixture.python("make_tree.py", source).strip());
        LiveMount mount = fixture.mount(source, "--index-rule", "sorted");
        mount.awaitReady();
        String walk = """
                import os, sys
                count = 0
                for directory, _, files in os.walk(os.fsencode(sys.argv[1])):
                    for name in files:
                        os.lstat(os.path.join(directory, name))
                        count += 1
                print(count)
                """;
        // Plus the links, except the link to a directory.
        assertThat(fixture.python(walk, mount.point())).isEqualTo(files + 6 + "\n");
        var status = mount.status();
        assertThat(status.at("/fetched/source/count").asInt()).isZero();
        assertThat(status.at("/reads/requests").asInt()).isZero();

        assertThat(mount.point().resolve("top")).hasContent("top");
        assertThat(mount.status().at("/fetched/source/count").asInt()).isEqualTo(1);
    }
}
