package io.clairfs.fs.faulty;

import java.util.Set;

/** What a source is asked; every open asks for a status as well, for the kernel looks the name up first. */
public enum Request {
    /** Attributes of a file or directory, and the target of a link. */
    STATUS,
    /** The names in a directory. */
    LIST,
    OPEN,
    READ;

    /** Those for the content of files. */
    static final Set<Request> CONTENT = Set.of(OPEN, READ);
}
