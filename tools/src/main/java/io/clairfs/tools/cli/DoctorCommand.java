package io.clairfs.tools.cli;

import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.tools.doctor.Doctor;
import io.clairfs.tools.doctor.DoctorBundle;
import io.clairfs.tools.doctor.DoctorText;
import io.clairfs.tools.doctor.Examined;
import io.clairfs.tools.doctor.Finding;
import io.clairfs.tools.doctor.Finding.Verdict;
import io.clairfs.tools.doctor.Machine;
import io.clairfs.tools.doctor.Running;
import io.clairfs.tools.doctor.SourceSurvey;
import io.clairfs.tools.doctor.Wanted;
import io.clairfs.tools.node.mount.ControlRead;
import io.clairfs.tools.node.mount.ControlRead.Answer;
import io.clairfs.tools.node.mount.MountCheck;
import io.clairfs.tools.node.mount.MountProcess;
import io.clairfs.tools.node.mount.SourceProbe;
import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** Checks whether a mount will work here, or what is wrong with one that runs. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = {
            "Checks whether a mount will work here, or what is wrong with one that runs.",
            "One line for each problem and note: what, whether it matters here, what to type. Exit code 1 while a problem stands."
        })
final class DoctorCommand implements Callable<Integer> {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    private static final Duration LOOK = Duration.ofSeconds(2);
    private static final long ANSWER_TIMEOUT_MS = 15_000;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(
            arity = "0..2",
            paramLabel = "[SOURCE] [MOUNTPOINT]",
            hideParamSyntax = true,
            description = "What is to be mounted, or a mount that runs; without them the machine alone is checked.")
    private List<Path> paths = new ArrayList<>();

    @Mixin
    private WantedOptions options = new WantedOptions();

    @Option(names = "--verbose", description = "Shows the checks that found nothing, too.")
    private boolean verbose;

    @Option(names = "--json", description = "As JSON.")
    private boolean json;

    @Option(
            names = "--bundle",
            paramLabel = "FILE",
            description =
                    "Packs what a report needs into a new zip file: findings, logs, status, metrics, stacks, options; no secrets.")
    private @Nullable Path bundle;

    @Override
    public Integer call() throws IOException {
        Path point = paths.isEmpty() ? null : MountCheck.real(paths.getLast());
        boolean isMounted = point != null && MountCheck.isOurs(point);
        if (paths.size() == 1 && !isMounted) {
            throw new ParameterException(
                    spec.commandLine(),
                    point + " is no clairfs mount; before a mount give both: clairfs doctor SOURCE "
                            + paths.getFirst());
        }
        List<Finding> findings = new ArrayList<>();
        Running running = isMounted && point != null ? running(point, findings) : null;
        Long pid =
                running == null || running.pid() == 0 || !isSeen(running.pid(), findings) ? null : (Long) running.pid();
        if (pid != null) {
            options = WantedOptions.among(MountProcess.given(pid), MountProcess.directory(pid));
        }
        Path served = running != null && running.status().has("source")
                ? Path.of(running.status().path("source").asString())
                : null;
        Path given = served == null && paths.size() == 2 ? paths.getFirst() : null;
        boolean isSilent = given != null && !answers(given);
        Path source = given == null ? served : resolved(given, isSilent);
        Wanted wanted = options.wanted(spec.commandLine(), source, point);
        SourceSurvey survey = source == null ? null : survey(source, isSilent);
        findings.addAll(Doctor.examine(new Examined(Machine.here(), wanted, survey, running)));
        System.out.print(json ? asJson(findings) : asText(findings, verbose, Ansi.AUTO, width()));
        if (bundle != null) {
            pack(bundle, findings, wanted, pid);
        }
        return Doctor.hasProblem(findings) ? Main.FAILED : Main.DONE;
    }

    /** The mount; a finding says whether it answers. */
    private static Running running(Path point, List<Finding> findings) throws IOException {
        Path status = point.resolve(DatasetMount.CONTROL_DIRECTORY).resolve("status.json");
        String reason;
        switch (ControlRead.read(status, ANSWER_TIMEOUT_MS)) {
            case Answer.Content(String text) -> {
                JsonNode said = JSON.readTree(text);
                long pid = said.path("pid").asLong();
                findings.add(new Finding("daemon", Verdict.OK, "process " + pid + " answers", null));
                return new Running(pid, said);
            }
            case Answer.Refused refused
            when refused.isOfPermission() -> {
                findings.add(new Finding("daemon", Verdict.NOTE, ControlRead.ofAnotherUser(point), null));
                return new Running(0, MissingNode.getInstance());
            }
            case Answer.Refused(String said) -> reason = "does not serve the mount: " + said;
            case Answer.Silence() -> reason = "did not answer within " + ANSWER_TIMEOUT_MS / 1000 + " s";
        }
        findings.add(new Finding("daemon", Verdict.PROBLEM, reason, "clairfs umount " + point + ", then mount again"));
        long pid = MountProcess.of(point).stream().findFirst().orElse(0L);
        return new Running(pid, MissingNode.getInstance());
    }

    /** Whether the mount's process is to be seen here, by its number. */
    private static boolean isSeen(long pid, List<Finding> findings) {
        if (MountProcess.isOurs(pid)) {
            return true;
        }
        findings.add(new Finding(
                "process",
                Verdict.NOTE,
                "process " + pid + " is not to be seen from here, as from another container",
                null));
        return false;
    }

    private static boolean answers(Path source) {
        try {
            SourceProbe.requireAnswer(source);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** The real path of a source; as it was given where it does not answer. */
    private static Path resolved(Path source, boolean isSilent) {
        return isSilent ? source.toAbsolutePath().normalize() : MountCheck.real(source);
    }

    private static SourceSurvey survey(Path source, boolean isSilent) {
        return isSilent || !answers(source) ? SourceSurvey.failed("does not answer") : SourceSurvey.of(source, LOOK);
    }

    private static String asText(List<Finding> findings, boolean all, Ansi colours, int width) {
        return colours.string(String.join("\n", DoctorText.of(findings, all, width))) + "\n";
    }

    /** The width of the terminal; without one lines are whole. */
    private int width() {
        Console console = System.console();
        return console != null && console.isTerminal()
                ? spec.usageMessage().autoWidth(true).width()
                : Integer.MAX_VALUE;
    }

    private static String asJson(List<Finding> findings) {
        List<Map<String, @Nullable String>> all = new ArrayList<>();
        for (Finding finding : findings) {
            Map<String, @Nullable String> one = new LinkedHashMap<>();
            one.put("check", finding.check());
            one.put("verdict", finding.verdict().name().toLowerCase(Locale.ROOT));
            one.put("what", finding.what());
            one.put("remedy", finding.remedy());
            all.add(one);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("well", !Doctor.hasProblem(findings));
        answer.put("findings", all);
        return JSON.writeValueAsString(answer) + "\n";
    }

    private void pack(Path file, List<Finding> findings, Wanted wanted, @Nullable Long pid) throws IOException {
        if (Files.exists(file)) {
            throw new IOException(file + " exists; --bundle writes a new file");
        }
        Set<Path> secrets = wanted.secretFile() == null ? Set.of() : Set.of(wanted.secretFile());
        DoctorBundle packed = new DoctorBundle(secrets);
        packed.add("doctor.txt", asText(findings, true, Ansi.OFF, Integer.MAX_VALUE));
        packed.add("doctor.json", asJson(findings));
        packed.addMachine();
        if (options.configFile() != null) {
            packed.addFile("config.yaml", options.configFile());
        }
        if (pid != null && wanted.mountPoint() != null) {
            packed.addMount(wanted.mountPoint(), pid);
        }
        packed.write(file);
        System.err.println("clairfs: packed into " + file + ": " + String.join(", ", packed.names()));
    }
}
