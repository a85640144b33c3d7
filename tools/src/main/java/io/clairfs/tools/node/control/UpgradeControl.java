package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.tools.node.restart.RestartDirectory;
import io.clairfs.tools.node.restart.Restarts;
import java.io.IOException;

/**
 * The control file {@code upgrade}: the directory in which {@code clairfs upgrade} names the new program, and a line {@code now} by which this process
 * is replaced. The program itself is not named here: only the mount's user may write to that directory.
 */
public final class UpgradeControl implements ControlFile {
    private static final String NOW = "now";

    private final Restarts restarts;
    private final ErrorLog errors;

    public UpgradeControl(Restarts restarts, ErrorLog errors) {
        this.restarts = restarts;
        this.errors = errors;
    }

    @Override
    public ControlContent content() throws UnavailableException {
        RestartDirectory directory = restarts.directory();
        if (directory == null) {
            throw new UnavailableException(Errno.ENOTSUP);
        }
        return ControlContent.of((directory.path() + "\n").getBytes(UTF_8));
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public void accept(String text) throws RejectedException {
        if (!text.strip().equals(NOW)) {
            throw new RejectedException("the only line is 'now'; use the command: clairfs upgrade MOUNTPOINT");
        }
        try {
            restarts.replaceProcess();
        } catch (IOException e) {
            errors.add("upgrade: " + e.getMessage());
            throw new RejectedException(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void refused(String reason) {
        errors.add("upgrade: " + reason);
    }
}
