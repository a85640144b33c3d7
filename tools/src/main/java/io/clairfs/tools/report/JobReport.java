package io.clairfs.tools.report;

import io.clairfs.tools.report.MeasuredJob.Epoch;
import io.clairfs.tools.simulate.report.Figures;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One job: what was measured, and what the simulator says.
 *
 * @param outlook null where the job could not be simulated
 * @param unknown why it could not, and what to do; null where it was
 */
public record JobReport(
        MeasuredJob job,
        @Nullable Outlook outlook,
        @Nullable String unknown) {
    /** From this utilisation on, data is not what limits the training: the limit that DLIO's users set for most workloads. */
    private static final double ENOUGH = 0.9;

    /** Whether a training waits for its data more than it may. */
    enum Bottleneck {
        DATA,
        NOT_DATA,
        /** Its loaders waited. Whether the training did cannot be told from outside. */
        UNCLEAR,
        /** Nobody has read a sample yet. */
        UNKNOWN
    }

    Bottleneck bottleneck() {
        Epoch epoch = job.telling();
        if (epoch == null) {
            return Bottleneck.UNKNOWN;
        }
        if (epoch.utilisation() >= ENOUGH) {
            return Bottleneck.NOT_DATA;
        }
        return epoch.utilisationAtMost() < ENOUGH ? Bottleneck.DATA : Bottleneck.UNCLEAR;
    }

    /** Whether data is the bottleneck, and what would change it, in a few sentences. */
    public String verdict() {
        Epoch epoch = job.telling();
        if (epoch == null) {
            return "Nothing is known yet: nobody has read a sample of this job.";
        }
        String measured = format(
                " in %s the training waited for data %s of %s, so accelerator utilisation was %s.",
                epoch.name(), epoch.waited(), Figures.seconds(epoch.seconds()), epoch.percent());
        return switch (bottleneck()) {
            case NOT_DATA -> "Data is not the bottleneck:" + measured + simulated();
            case DATA -> "Data is the bottleneck:" + measured + first(epoch) + simulated();
            case UNCLEAR, UNKNOWN ->
                "Whether data is the bottleneck cannot be told from outside:" + measured
                        + " Its loader processes waited, and perhaps it did not: clairfs_torch.report(loader) in the training tells."
                        + first(epoch) + simulated();
        };
    }

    private String first(Epoch epoch) {
        return job.epochs().getFirst().epoch() == epoch.epoch()
                        && epoch.from("source").bytes() > 0
                ? " That was the first epoch here, which reads the source for all others."
                : "";
    }

    private String simulated() {
        if (outlook == null) {
            return "";
        }
        Outlook.Row now = outlook.now();
        String here = format(
                " The simulator expects %s for a later epoch on this machine, %s of them computation alone.",
                Figures.seconds(now.laterSeconds()), Figures.seconds(outlook.epochSeconds()));
        Outlook.Row best = outlook.best();
        if (outlook.utilisation(now.laterSeconds()) >= ENOUGH || best == null) {
            return here + (best == null ? " None of the changes below makes it faster." : "");
        }
        return here + format(" %s would make it %s.", capital(best.what()), Figures.seconds(best.laterSeconds()));
    }

    private static String capital(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    private static String format(String form, Object... values) {
        return String.format(Locale.ROOT, form, values);
    }
}
