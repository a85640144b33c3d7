package io.clairfs.tools.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Whether the source answers, and how fast. */
final class SourceChecks implements Check {
    private static final String NAME = "source";
    private static final double MEGA = 1e6;
    private static final double MILLI = 1e3;
    private static final double LONG_LATENCY_S = 0.02;

    @Override
    public List<Finding> look(Examined examined) {
        Path source = examined.wanted().source();
        SourceSurvey survey = examined.survey();
        if (source == null || survey == null) {
            return List.of();
        }
        if (survey.directories() == 0 && survey.trouble() != null) {
            return List.of(Finding.problem(
                    NAME, source + " " + survey.trouble(), "see whether 'ls " + source + "' answers, and for whom"));
        }
        List<Finding> found = new ArrayList<>();
        if (survey.trouble() != null) {
            found.add(Finding.problem(
                    NAME,
                    survey.trouble() + ", and no job runs over a part of a dataset",
                    "chmod -R a+rX it, or a job with subset= for the rest"));
        }
        if (survey.files() == 0 && survey.isWhole()) {
            found.add(Finding.problem(NAME, source + " has no files", "the directory of the dataset"));
            return found;
        }
        found.add(Finding.ok(
                "listing",
                String.format(
                        "%s%,d files in %,d directories; one thread lists %,.0f entries/s, a mount does with 16",
                        survey.isWhole() ? "" : "at least ",
                        survey.files(),
                        survey.directories(),
                        survey.listedPerSecond())));
        if (survey.filesRead() > 0) {
            found.add(speed(survey));
        } else if (survey.files() > 0) {
            found.add(Finding.problem(
                    NAME, "no file of " + source + " could be read", "see whether 'cat' of one of its files works"));
        }
        return found;
    }

    private static Finding speed(SourceSurvey survey) {
        String is = String.format(
                "first byte after %.1f ms, %,.0f MB/s with 8 readers",
                MILLI * survey.latencySeconds(), survey.bytesPerSecond() / MEGA);
        return survey.latencySeconds() > LONG_LATENCY_S
                ? Finding.note(NAME, is + ": a slow answer for small files", "--loaders 64")
                : Finding.ok(NAME, is);
    }
}
