package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A release of torch, as far as releases differ in their orders: the first two numbers of its version. */
public record TorchVersion(int major, int minor) {
    /** Newer than any release: the newest known behaviour applies. */
    public static final TorchVersion NEWEST = new TorchVersion(Integer.MAX_VALUE, 0);

    private static final Pattern SHAPE = Pattern.compile("([0-9]{1,4})(?:\\.([0-9]{1,4}))?(?:[.a-z+-].{0,60})?");

    /** Reads key {@code torch}, as {@code torch.__version__} prints it: {@code 1.13.1+cu117}, or its beginning. */
    static TorchVersion read(Keys keys) throws InvalidSpecException {
        String text = keys.text("torch");
        if (text == null) {
            return NEWEST;
        }
        Matcher matcher = SHAPE.matcher(text);
        if (!matcher.matches()) {
            throw new InvalidSpecException(
                    "torch='" + Keys.shorten(text) + "' is not a version; write it as in torch=1.13 or torch=2.6.0");
        }
        String minor = matcher.group(2);
        return new TorchVersion(Integer.parseInt(matcher.group(1)), minor == null ? 0 : Integer.parseInt(minor));
    }

    boolean atLeast(int otherMajor, int otherMinor) {
        return major > otherMajor || (major == otherMajor && minor >= otherMinor);
    }

    @Override
    public String toString() {
        return equals(NEWEST) ? "newest" : major + "." + minor;
    }
}
