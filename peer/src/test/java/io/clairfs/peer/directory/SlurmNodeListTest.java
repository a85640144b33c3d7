package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What Slurm's lists of nodes mean. */
final class SlurmNodeListTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            node1                  | node1
            a,b,c                  | a b c
            node[1-3]              | node1 node2 node3
            node[08-11]            | node08 node09 node10 node11
            node[1,3-4,007]        | node1 node3 node4 node007
            gpu[1-2],login,x[9]    | gpu1 gpu2 login x9
            r[1-2]n[1-2]           | r1n1 r1n2 r2n1 r2n2
            n[1-2]-ib.cluster.org  | n1-ib.cluster.org n2-ib.cluster.org
            """)
    void expand_list(String list, String names) {
        assertThat(SlurmNodeList.expand(list)).containsExactly(names.split(" "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a,,b",
                "a[1",
                "a]1[",
                "a[[1]]",
                "a[]",
                "a[1-]",
                "a[x]",
                "a[3-1]",
                "a[1-99999999999]",
                "a[1-60000]b[1-60000]"
            })
    void expand_wrong_says(String list) {
        assertThatThrownBy(() -> SlurmNodeList.expand(list))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Slurm");
    }

    @Test
    void expand_manyRangesInOneBracket_isRefusedBeforeTheyAreMade() {
        assertThatThrownBy(() -> SlurmNodeList.expand("a[" + "0-65534,".repeat(16_000) + "1]"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("more than");
    }

    @Test
    void slurm_fromTheEnvironment() {
        assertThat(Discovery.slurm(Map.of("SLURM_JOB_NODELIST", "n[1-2]")).hosts())
                .containsExactly("n1", "n2");
        assertThatThrownBy(() -> Discovery.slurm(Map.of())).hasMessageContaining("SLURM_JOB_NODELIST");
    }
}
