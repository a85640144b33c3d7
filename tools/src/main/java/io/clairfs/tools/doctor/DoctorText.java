package io.clairfs.tools.doctor;

import io.clairfs.tools.doctor.Finding.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The findings for people: one line each, the worst first. Its marks are picocli's, for terminals with colours. */
public final class DoctorText {
    private static final int NAME_WIDTH = 12;

    private DoctorText() {}

    /** The lines; with {@code all}, those of checks that found nothing too. */
    public static List<String> of(List<Finding> findings, boolean all) {
        List<String> lines = new ArrayList<>();
        for (Verdict verdict : List.of(Verdict.PROBLEM, Verdict.NOTE, Verdict.OK)) {
            if (all || verdict != Verdict.OK) {
                findings.stream()
                        .filter(finding -> finding.verdict() == verdict)
                        .map(DoctorText::line)
                        .forEach(lines::add);
            }
        }
        lines.add(end(findings));
        return lines;
    }

    private static String line(Finding finding) {
        String mark = switch (finding.verdict()) {
            case OK -> "@|green ok     |@";
            case NOTE -> "@|yellow note   |@";
            case PROBLEM -> "@|red,bold problem|@";
        };
        String remedy = finding.remedy() == null ? "" : "; @|bold " + safe(finding.remedy()) + "|@";
        return String.format(
                Locale.ROOT, "%s  %-" + NAME_WIDTH + "s %s%s", mark, finding.check(), safe(finding.what()), remedy);
    }

    /** Names of files may have the characters of a mark. */
    private static String safe(String text) {
        return text.replace("@|", "@ |").replace("|@", "| @").replaceAll("\\p{Cntrl}", " ");
    }

    private static String end(List<Finding> findings) {
        long problems = count(findings, Verdict.PROBLEM);
        long notes = count(findings, Verdict.NOTE);
        if (problems + notes == 0) {
            return "all is well: " + findings.size() + " checks, nothing to do";
        }
        return String.format(
                Locale.ROOT,
                "%d checks: %s, %s",
                findings.size(),
                problems == 1 ? "1 problem" : problems + " problems",
                notes == 1 ? "1 note" : notes + " notes");
    }

    private static long count(List<Finding> findings, Verdict verdict) {
        return findings.stream().filter(f -> f.verdict() == verdict).count();
    }
}
