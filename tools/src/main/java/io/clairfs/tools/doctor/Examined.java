package io.clairfs.tools.doctor;

import org.jspecify.annotations.Nullable;

/**
 * What the checks look at.
 *
 * @param wanted the mount that is to be, or that is
 * @param survey what was measured at its source; null without a source
 * @param running the mount's process; null before a mount
 */
public record Examined(
        Machine machine,
        Wanted wanted,
        @Nullable SourceSurvey survey,
        @Nullable Running running) {
    /** Whether an ordinary user mounts, who needs fusermount's leave. */
    boolean isOrdinaryUser() {
        return machine.userId() != 0;
    }
}
