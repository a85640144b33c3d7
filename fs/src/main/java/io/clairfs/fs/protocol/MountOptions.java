package io.clairfs.fs.protocol;

import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.fs.mount.MountException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The options after {@code -o}, for the two ways to mount: {@code mount(2)} and fusermount. The mount is always read only and without
 * set-user-id files and devices.
 *
 * @param source the first field of the mount table
 * @param type such as {@code fuse.clairfs}
 * @param flags of {@code mount(2)}
 * @param kernel options that the kernel's filesystem takes
 * @param helper the options for fusermount
 */
record MountOptions(String source, String type, long flags, List<String> kernel, List<String> helper) {
    private static final long READ_ONLY = 1;
    private static final long NO_SET_USER_ID = 2;
    private static final long NO_DEVICES = 4;
    private static final long ALWAYS = READ_ONLY | NO_SET_USER_ID | NO_DEVICES;

    private static final Map<String, Long> FLAGS =
            Map.of("ro", READ_ONLY, "nosuid", NO_SET_USER_ID, "nodev", NO_DEVICES, "noexec", 8L, "noatime", 1024L);
    private static final List<String> KERNEL = List.of("default_permissions", "allow_other");

    private static final String USUAL = "clairfs";
    private static final String NAME = "fsname=";
    private static final String SUBTYPE = "subtype=";

    /** Takes the source's name and the type once each: those of a mount come first, and what its user names after them is refused. */
    static MountOptions of(List<String> options) throws MountException {
        String source = null;
        String subtype = null;
        long flags = ALWAYS;
        List<String> kernel = new ArrayList<>();
        List<String> helper = new ArrayList<>(List.of("ro"));
        for (String option : options) {
            Long flag = FLAGS.get(option);
            if (flag != null) {
                flags |= flag;
                helper.add(option);
            } else if (KERNEL.contains(option)) {
                kernel.add(option);
                helper.add(option);
            } else if (source == null && option.startsWith(NAME)) {
                source = option.substring(NAME.length());
            } else if (subtype == null && option.startsWith(SUBTYPE)) {
                subtype = option.substring(SUBTYPE.length());
            } else {
                throw new MountException("-o " + option
                        + ": unknown option; there are allow_other, noexec, noatime, and what is always so: ro, nosuid,"
                        + " nodev, default_permissions");
            }
        }
        source = Objects.requireNonNullElse(source, USUAL);
        subtype = Objects.requireNonNullElse(subtype, USUAL);
        helper.add(NAME + source.replace("\\", "\\\\").replace(",", "\\,"));
        helper.add(SUBTYPE + subtype);
        return new MountOptions(source, "fuse." + subtype, flags, List.copyOf(kernel), List.copyOf(helper));
    }

    /** The last argument of {@code mount(2)} for a session on {@code device}. */
    String data(int device) {
        List<String> all = new ArrayList<>(List.of(
                "fd=" + device,
                "rootmode=40000",
                "user_id=" + ProcessIdentity.userId(),
                "group_id=" + ProcessIdentity.groupId()));
        all.addAll(kernel);
        return String.join(",", all);
    }
}
