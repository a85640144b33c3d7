package io.clairfs.fs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.mount.MountException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MountOptionsTest {
    private static final long READ_ONLY_NO_SET_USER_ID_NO_DEVICES = 1 | 2 | 4;

    @Test
    void whatIsNotSaid_isReadOnlyWithoutSetUserIdAndDevices() throws Exception {
        MountOptions options = MountOptions.of(List.of());
        assertThat(options.flags()).isEqualTo(READ_ONLY_NO_SET_USER_ID_NO_DEVICES);
        assertThat(options.data(7)).startsWith("fd=7,rootmode=40000,user_id=").doesNotContain("allow_other");
    }

    @Test
    void optionsOfTheKernel_goThereAndToTheHelper() throws Exception {
        MountOptions options = MountOptions.of(List.of("ro", "default_permissions", "allow_other", "noexec"));
        assertThat(options.data(7)).endsWith(",default_permissions,allow_other");
        assertThat(options.flags()).isEqualTo(READ_ONLY_NO_SET_USER_ID_NO_DEVICES | 8);
        assertThat(options.helper()).contains("ro", "default_permissions", "allow_other", "noexec");
    }

    @Test
    void names_areEscapedForTheHelper_andForNobodyElse() throws Exception {
        MountOptions options = MountOptions.of(List.of("fsname=/data/a,b\\c", "subtype=clairfs"));
        assertThat(options.source()).isEqualTo("/data/a,b\\c");
        assertThat(options.type()).isEqualTo("fuse.clairfs");
        assertThat(options.helper()).contains("fsname=/data/a\\,b\\\\c", "subtype=clairfs");
    }

    @Test
    void namesOfAUser_areRefused_forTheMountIsKnownByItsOwn() {
        for (String option : List.of("fsname=mine", "subtype=mine")) {
            assertThatThrownBy(() -> MountOptions.of(List.of("fsname=/data", "subtype=clairfs", option)))
                    .isInstanceOf(MountException.class)
                    .hasMessageStartingWith("-o " + option + ": unknown option");
        }
    }

    @Test
    void optionThatIsNotKnown_isRefusedByName() {
        for (String option : List.of("nonsense", "rw", "suid", "fd=3", "user_id=0", "")) {
            assertThatThrownBy(() -> MountOptions.of(List.of("ro", option)))
                    .isInstanceOf(MountException.class)
                    .hasMessageStartingWith("-o " + option + ": unknown option");
        }
    }
}
