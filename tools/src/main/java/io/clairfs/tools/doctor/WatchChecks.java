package io.clairfs.tools.doctor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Whether inotify can report what trainers read. */
final class WatchChecks implements Check {
    private static final String WATCHES = "proc/sys/fs/inotify/max_user_watches";
    private static final String INSTANCES = "proc/sys/fs/inotify/max_user_instances";
    private static final String INSTANCE = "anon_inode:inotify";

    @Override
    public List<Finding> look(Examined examined) {
        List<Finding> found = new ArrayList<>();
        Machine machine = examined.machine();
        SourceSurvey survey = examined.survey();
        long most = machine.number(WATCHES).orElse(Long.MAX_VALUE);
        if (examined.running() == null && survey != null && survey.directories() > most) {
            found.add(Finding.problem(
                    "watches",
                    String.format(
                            "inotify allows %,d and the source has %s%,d directories: where some are not watched, every sixteenth sample is left to its reader",
                            most, survey.isWhole() ? "" : "at least ", survey.directories()),
                    "as root: sysctl -w fs.inotify.max_user_watches=" + roundedUp(survey.directories())));
        } else if (most != Long.MAX_VALUE) {
            found.add(Finding.ok("watches", String.format("inotify allows %,d directories", most)));
        }
        if (examined.running() == null && machine.number(INSTANCES).isPresent()) {
            found.add(instances(machine, machine.number(INSTANCES).getAsLong()));
        }
        return found;
    }

    /** Twice as many as are needed now, at least the usual number of large machines. */
    private static long roundedUp(long directories) {
        return Math.max(524_288, 2 * directories);
    }

    private static Finding instances(Machine machine, long most) {
        long used = usedInstances(machine);
        return used >= most
                ? Finding.problem(
                        "inotify",
                        "all " + most
                                + " queues of this user are in use: closes are not reported, and every sixteenth sample is left to its reader",
                        "as root: sysctl -w fs.inotify.max_user_instances=" + 4 * most)
                : Finding.ok("inotify", used + " of " + most + " queues in use");
    }

    /** Those of this user's processes. */
    private static long usedInstances(Machine machine) {
        long used = 0;
        try (DirectoryStream<Path> processes =
                Files.newDirectoryStream(machine.root().resolve("proc"), "[0-9]*")) {
            for (Path process : processes) {
                used += isOf(machine, process) ? instancesOf(process) : 0;
            }
        } catch (IOException none) {
            return 0;
        }
        return used;
    }

    private static boolean isOf(Machine machine, Path process) {
        String status = machine.text("proc/" + process.getFileName() + "/status");
        return status != null && status.lines().anyMatch(line -> line.matches("Uid:\\s+" + machine.userId() + "\\s.*"));
    }

    private static long instancesOf(Path process) {
        long used = 0;
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                used += isInstance(descriptor) ? 1 : 0;
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException goneOrNotOurs) {
            return used;
        }
        return used;
    }

    private static boolean isInstance(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(INSTANCE);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }
}
