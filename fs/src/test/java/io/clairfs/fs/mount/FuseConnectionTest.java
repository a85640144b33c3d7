package io.clairfs.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class FuseConnectionTest {
    private static final String TABLE = """
            36 25 0:57 / /mnt/data rw,nosuid - fuse.clairfs /data ro
            37 25 0:58 / /mnt/data rw,nosuid - fuse.clairfs /data ro
            38 25 0:59 / /mnt/a\\040b\\011c\\012d\\134e rw,nosuid - fuse.clairfs /data ro
            """;

    @Test
    void newestMountAtAPoint_isTheOne() {
        assertThat(FuseConnection.device(Path.of("/mnt/data"), TABLE)).isEqualTo("0:58");
        assertThat(FuseConnection.device(Path.of("/mnt"), TABLE)).isEqualTo("none");
    }

    @Test
    void otherMountsWithACarriageReturn_areNotInTheWay() {
        String table = "35 25 0:60 / /mnt/x\ry rw - fuse.sshfs /data ro\n" + TABLE;
        assertThat(FuseConnection.device(Path.of("/mnt/data"), table)).isEqualTo("0:58");
        assertThat(FuseConnection.device(Path.of("/mnt/x\ry"), table)).isEqualTo("0:60");
    }

    @Test
    void pointWithBlanks_isFound() {
        assertThat(FuseConnection.device(Path.of("/mnt/a b\tc\nd\\e"), TABLE)).isEqualTo("0:59");
    }
}
