package io.clairfs.tools.cli;

import io.clairfs.cache.posix.Posix;
import io.clairfs.tools.ByteSize;
import io.clairfs.tools.Version;
import io.clairfs.tools.node.ProgramLock;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command {@code clairfs}. */
@Command(
        name = "clairfs",
        version = "clairfs " + Version.TEXT,
        mixinStandardHelpOptions = true,
        description = "Shows a training dataset as files, each in the page cache before the trainer opens it.")
public final class Main {
    public static final int DONE = 0;
    public static final int FAILED = 1;
    static final int WRONG_USAGE = 2;

    private static final int OUTPUT = 1;

    /** As a full disk. */
    private static final Path FULL = Path.of("/dev/full");

    private static final List<Class<?>> COMMANDS = List.of(
            DemoCommand.class,
            DoctorCommand.class,
            MountCommand.class,
            UmountCommand.class,
            UpgradeCommand.class,
            JobCommand.class,
            RunCommand.class,
            StatusCommand.class,
            TopCommand.class,
            ReportCommand.class,
            WarmCommand.class,
            WhereCommand.class,
            OrderCommand.class,
            FeedCommand.class,
            CalibrateCommand.class,
            SimulateCommand.class,
            BenchCommand.class,
            CompletionCommand.class);

    /** They may run for hours, in which others build. A mount's own process sees to itself. */
    private static final List<String> LONG = List.of("bench", "demo", "feed", "simulate", "top", "warm");

    private Main() {}

    public static void main(String[] arguments) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT); // numbers are read by programs, too
        if (arguments.length > 0 && LONG.contains(arguments[0])) {
            ProgramLock.hold();
        }
        int code = run(arguments);
        exit(code == DONE && isOutputLost() ? FAILED : code);
    }

    /** Whether standard output, a file, could not be written. That nobody reads a pipe any more, as behind {@code | head}, is no failure. */
    private static boolean isOutputLost() {
        if (!System.out.checkError() || !isWrittenFile(OUTPUT)) {
            return false;
        }
        int _ = say("standard output cannot be written: is its disk full?", FAILED);
        return true;
    }

    /** Whether this descriptor is a file that was opened for writing. Where it was closed, it is another by now: a library, or /dev/null. */
    private static boolean isWrittenFile(int descriptor) {
        try {
            Path file = Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(descriptor)));
            int flags = Files.readAllLines(Path.of("/proc/self/fdinfo", Integer.toString(descriptor))).stream()
                    .filter(line -> line.startsWith("flags:"))
                    .mapToInt(line ->
                            Integer.parseInt(line.substring("flags:".length()).strip(), 8))
                    .findFirst()
                    .orElse(0);
            return (flags & (Posix.O_WRONLY | Posix.O_RDWR)) != 0 && (Files.isRegularFile(file) || file.equals(FULL));
        } catch (IOException closed) {
            return false;
        }
    }

    /**
     * As {@link System#exit}, which before anything else asks for a logger that nobody has configured: making it takes a tenth of a second, a
     * third of a short command. A command has removed its shutdown hooks when it returns.
     */
    private static void exit(int code) {
        System.out.flush();
        System.err.flush();
        if (!isEnding()) {
            Runtime.getRuntime().halt(code);
        }
        System.exit(code); // waits for the hooks that a signal has started
    }

    private static boolean isEnding() {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread());
            return false;
        } catch (IllegalStateException alreadyEnding) {
            assert alreadyEnding != null : "a signal came";
            return true;
        }
    }

    /** Runs one command. Returns its exit code. */
    public static int run(String... arguments) {
        CommandLine line = of(commands(arguments));
        line.setExecutionExceptionHandler((thrown, _, _) -> report(thrown));
        line.setParameterExceptionHandler((thrown, _) -> {
            String help = thrown.getCommandLine().getCommandSpec().qualifiedName();
            return say(thrown.getMessage() + "; see '" + help + " --help'", WRONG_USAGE);
        });
        line.registerConverter(ByteSize.class, ByteSize::parse);
        if (arguments.length == 0) {
            line.usage(System.out);
            return WRONG_USAGE;
        }
        try {
            return line.execute(arguments);
        } catch (OutOfMemoryError e) {
            return say(
                    "this needs more memory than the "
                            + ByteSize.show(Runtime.getRuntime().maxMemory())
                            + " of its JVM: set JDK_JAVA_OPTIONS=-Xmx32g, or what the machine has (" + e.getMessage()
                            + ")",
                    FAILED);
        }
    }

    /** The command line with all its commands, to be looked at. */
    static CommandLine ofAllCommands() {
        return of(COMMANDS);
    }

    private static CommandLine of(List<Class<?>> commands) {
        CommandLine line = new CommandLine(new Main());
        commands.forEach(line::addSubcommand);
        return line;
    }

    /** The command that is called, or all commands if it is unknown. Reading the annotations of all of them takes a tenth of a second. */
    private static List<Class<?>> commands(String... arguments) {
        return COMMANDS.stream()
                .filter(each -> arguments.length > 0
                        && each.getAnnotation(Command.class).name().equals(arguments[0]))
                .findFirst()
                .<List<Class<?>>>map(List::of)
                .orElse(COMMANDS);
    }

    private static int report(Exception thrown) {
        return switch (thrown) {
            case CommandFailedException e -> say(String.valueOf(e.getMessage()), FAILED);
            case NoSuchFileException e -> say(e.getFile() + " does not exist", FAILED);
            case AccessDeniedException e -> say(e.getFile() + ": permission denied", FAILED);
            case NotDirectoryException e -> say(e.getFile() + " is not a directory", FAILED);
            case FileAlreadyExistsException e -> say(e.getFile() + " exists already", FAILED);
            case IOException e -> say(String.valueOf(e.getMessage()), FAILED);
            default -> {
                thrown.printStackTrace();
                yield say("a bug: " + thrown, FAILED);
            }
        };
    }

    private static int say(String message, int code) {
        System.err.println("clairfs: " + message.replace('\n', ' '));
        return code;
    }
}
