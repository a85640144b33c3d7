package io.clairfs.tools.doctor;

import org.jspecify.annotations.Nullable;

/**
 * What one check found.
 *
 * @param check its name, one or two words
 * @param what what is so, and what that means here
 * @param remedy what to type or to change; null when nothing is to be done
 */
public record Finding(
        String check,
        Verdict verdict,
        String what,
        @Nullable String remedy) {
    /** How bad it is. */
    public enum Verdict {
        OK,
        /** A mount works, but worse than it could. */
        NOTE,
        /** A mount is refused, or does not do what was asked for. */
        PROBLEM
    }

    /** The same for root, who need not be told to become root. */
    Finding forRoot() {
        return remedy == null ? this : new Finding(check, verdict, what, remedy.replace("as root: ", ""));
    }

    static Finding ok(String check, String what) {
        return new Finding(check, Verdict.OK, what, null);
    }

    static Finding note(String check, String what, String remedy) {
        return new Finding(check, Verdict.NOTE, what, remedy);
    }

    static Finding problem(String check, String what, String remedy) {
        return new Finding(check, Verdict.PROBLEM, what, remedy);
    }
}
