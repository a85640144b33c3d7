package io.clairfs.tools;

/** The version of this build. */
public final class Version {
    public static final String TEXT = "0.1.0";

    private Version() {}
}
