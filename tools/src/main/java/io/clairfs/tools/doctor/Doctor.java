package io.clairfs.tools.doctor;

import io.clairfs.tools.doctor.Finding.Verdict;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Runs all checks. */
public final class Doctor {
    private static final List<Check> CHECKS = List.of(
            new FuseChecks(),
            new MountPointChecks(),
            new KernelChecks(),
            new LimitChecks(),
            new WatchChecks(),
            new SourceChecks(),
            new SsdChecks(),
            new GroupChecks(),
            new RailChecks(),
            new RuntimeChecks(),
            new RunningChecks());

    private Doctor() {}

    /** What all checks found, in their order. A check that fails itself is a note. */
    public static List<Finding> examine(Examined examined) {
        List<Finding> all = new ArrayList<>();
        for (Check check : CHECKS) {
            try {
                all.addAll(check.look(examined));
            } catch (IOException | RuntimeException e) {
                all.add(Finding.note(
                        check.getClass().getSimpleName(),
                        "could not look: " + e,
                        "tell the maintainers, with --bundle"));
            }
        }
        return examined.isOrdinaryUser()
                ? all
                : all.stream().map(Finding::forRoot).toList();
    }

    /** Whether a problem stands. */
    public static boolean hasProblem(List<Finding> findings) {
        return findings.stream().anyMatch(finding -> finding.verdict() == Verdict.PROBLEM);
    }
}
