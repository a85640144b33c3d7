package io.clairfs.fs.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Whether this machine has FUSE for this user; {@code -Dclairfs.without.fuse=true} has the tests behave as if it had not. */
public final class FuseCondition implements ExecutionCondition {
    private static final Path DEVICE = Path.of("/dev/fuse");

    /** Why there is no FUSE here; null when there is. */
    public static @Nullable String missing() {
        if (Boolean.getBoolean("clairfs.without.fuse")) {
            return "-Dclairfs.without.fuse=true says that there is no FUSE";
        }
        if (!Files.exists(DEVICE)) {
            return "there is no /dev/fuse";
        }
        return Files.isWritable(DEVICE) ? null : "/dev/fuse may not be opened by this user";
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        String missing = missing();
        if (missing == null) {
            return ConditionEvaluationResult.enabled("there is FUSE");
        }
        System.out.println("SKIPPED " + context.getDisplayName() + ": " + missing);
        return ConditionEvaluationResult.disabled(missing);
    }
}
