package io.clairfs.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.doctor.Finding.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A good machine, and what the doctor says of it once a test has spoilt one thing. */
abstract class DoctorFixture {
    static final String HEALTHY = """
            {"mount": "/m", "samples": 100, "ready": true, "index_error": null, "errors": 0, "group": null,
             "reads": {"unwatched_directories": 0, "reports_lost": 0}, "staging": {"pushed": 100, "lost": 0},
             "memory": {"total_bytes": 3221225472, "areas": {"staging": 1073741824}},
             "jobs": [{"name": "train", "in_sync": true, "done": false}],
             "tiers": [{"name": "ssd", "writable": true, "checksum_failures": 0}],
             "peers": [{"name": "b", "alive": true, "trouble": null}]}
            """;

    @TempDir
    Path directory;

    RecordedMachine machine;

    @BeforeEach
    void goodMachine() throws IOException {
        machine = new RecordedMachine(directory);
    }

    void isProblem(String check, String what, String remedy) {
        isOnly(Verdict.PROBLEM, check, what, remedy);
    }

    void isNote(String check, String what, String remedy) {
        isOnly(Verdict.NOTE, check, what, remedy);
    }

    private void isOnly(Verdict verdict, String check, String what, String remedy) {
        List<Finding> complaints = machine.complaints();
        assertThat(complaints).hasSize(1);
        Finding finding = complaints.getFirst();
        assertThat(finding.verdict()).isEqualTo(verdict);
        assertThat(finding.check()).isEqualTo(check);
        assertThat(finding.what()).contains(what);
        assertThat(finding.remedy()).contains(remedy);
        assertThat(Doctor.hasProblem(machine.findings())).isEqualTo(verdict == Verdict.PROBLEM);
    }
}
