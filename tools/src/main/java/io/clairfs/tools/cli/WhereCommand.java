package io.clairfs.tools.cli;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Shows which tiers hold samples and when they are next read. */
@Command(
        name = "where",
        mixinStandardHelpOptions = true,
        description = "Shows which tiers hold samples, and when each is next read.")
final class WhereCommand implements Callable<Integer> {
    private static final JsonMapper JSON = new JsonMapper();

    @Parameters(index = "0", paramLabel = "MOUNTPOINT", description = "The mount point, or any path below it.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PATH",
            description = "A file of the dataset: its path in the dataset, or one that leads through the mount.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> paths;

    @Option(names = "--json", description = "As JSON, one line a file.")
    private boolean json;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        ControlClient client = new ControlClient(mountPoint);
        for (Path path : paths) {
            String answer;
            try {
                answer = client.read("where/" + client.inDataset(path));
            } catch (NoSuchFileException e) {
                throw new CommandFailedException(path + " is not a file of this dataset");
            }
            System.out.print(json ? answer : text(JSON.readTree(answer)));
        }
        return Main.DONE;
    }

    private static String text(JsonNode answer) {
        JsonNode at = answer.path("at");
        StringJoiner held = new StringJoiner(", ");
        if (at.path("staged").asBoolean()) {
            held.add("page cache");
        }
        at.path("tiers").forEach(tier -> held.add(tier.asString()));
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%s: %s, %,d bytes%n  held in: %s; planned: %s%n",
                answer.path("path").asString(),
                answer.path("sample").isNull()
                        ? "not in the index"
                        : "sample " + answer.path("sample").asInt(),
                answer.path("bytes").asLong(),
                held.length() == 0 ? "the source alone" : held,
                at.path("planned").isNull() ? "nowhere" : at.path("planned").asString()));
        at.path("next_uses")
                .forEach(use -> text.append(String.format(
                        Locale.ROOT,
                        "  next read: job %s, rank %d, epoch %d, after %,d more samples%n",
                        use.path("job").asString(),
                        use.path("rank").asInt(),
                        use.path("epoch").asInt(),
                        use.path("samples_before").asLong())));
        return text.toString();
    }
}
