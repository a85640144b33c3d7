package io.clairfs.tools.doctor;

import io.clairfs.tools.doctor.Finding.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The findings for people: one line each, the worst first. Its marks are picocli's, for terminals with colours. */
public final class DoctorText {
    private static final int NAME_WIDTH = 12;

    /** Where the text of a line begins. */
    private static final int INDENT = "problem  ".length() + NAME_WIDTH + 1;

    private static final int LEAST_WIDTH = 60;

    private DoctorText() {}

    /**
     * The lines; with {@code all}, those of checks that found nothing too. What is longer than {@code width} is broken between words, below its
     * beginning, and its remedy begins a line.
     */
    public static List<String> of(List<Finding> findings, boolean all, int width) {
        List<String> lines = new ArrayList<>();
        for (Verdict verdict : List.of(Verdict.PROBLEM, Verdict.NOTE, Verdict.OK)) {
            if (all || verdict != Verdict.OK) {
                findings.stream()
                        .filter(finding -> finding.verdict() == verdict)
                        .forEach(finding -> lines.addAll(lines(finding, Math.max(width, LEAST_WIDTH))));
            }
        }
        lines.add(end(findings));
        return lines;
    }

    private static List<String> lines(Finding finding, int width) {
        String mark = switch (finding.verdict()) {
            case OK -> "@|green ok     |@";
            case NOTE -> "@|yellow note   |@";
            case PROBLEM -> "@|red,bold problem|@";
        };
        String what = safe(finding.what());
        String remedy = finding.remedy() == null ? "" : safe(finding.remedy());
        List<String> texts = new ArrayList<>();
        if (what.length() + remedy.length() + "; ".length() <= width - INDENT) {
            texts.add(remedy.isEmpty() ? what : what + "; " + bold(remedy));
        } else {
            texts.addAll(broken(what, width - INDENT));
            broken(remedy, width - INDENT).forEach(line -> texts.add(bold(line)));
        }
        texts.set(
                0, String.format(Locale.ROOT, "%s  %-" + NAME_WIDTH + "s %s", mark, finding.check(), texts.getFirst()));
        for (int i = 1; i < texts.size(); i++) {
            texts.set(i, " ".repeat(INDENT) + texts.get(i));
        }
        return texts;
    }

    private static String bold(String text) {
        return "@|bold " + text + "|@";
    }

    /** The text in lines of at most {@code width}, but for longer words. */
    private static List<String> broken(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        if (!line.isEmpty()) {
            lines.add(line.toString());
        }
        return lines;
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
