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

/** Shows which tiers and nodes hold samples and when they are next read. */
@Command(
        name = "where",
        mixinStandardHelpOptions = true,
        description = "Shows which tiers and nodes hold samples, and when each is next read.")
final class WhereCommand implements Callable<Integer> {
    private static final JsonMapper JSON = new JsonMapper();

    /** Of the other nodes that hold a sample the text names so many, JSON all. */
    private static final int MOST_NAMED = 8;

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

    /** The answer for a person. */
    static String text(JsonNode answer) {
        JsonNode at = answer.path("at");
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%s: %s, %,d bytes%n  held in: %s; planned: %s%n",
                answer.path("path").asString(),
                answer.path("sample").isNull()
                        ? "not in the index"
                        : "sample " + answer.path("sample").asInt(),
                answer.path("bytes").asLong(),
                held(at, answer.path("group").path("holders")),
                planned(at.path("planned"), answer.path("group"))));
        if (!answer.path("group").path("joined").asBoolean(true)) {
            text.append(String.format("  not in its group now: what other nodes hold is not known%n"));
        }
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

    private static String held(JsonNode here, JsonNode elsewhere) {
        StringJoiner held = new StringJoiner(", ");
        if (here.path("staged").asBoolean()) {
            held.add("page cache");
        }
        here.path("tiers").forEach(tier -> held.add(tier.asString()));
        elsewhere
                .valueStream()
                .limit(MOST_NAMED)
                .forEach(other -> held.add(other.path("tier").asString() + " of node "
                        + other.path("node").asString()));
        if (elsewhere.size() > MOST_NAMED) {
            held.add(elsewhere.size() - MOST_NAMED + " more nodes");
        }
        return held.length() == 0 ? "the source alone" : held.toString();
    }

    private static String planned(JsonNode tier, JsonNode group) {
        JsonNode home = group.path("home");
        if (!home.isString()) {
            return tier.isNull() ? "nowhere" : tier.asString();
        }
        return (tier.isNull() ? "not here" : tier.asString())
                + (home.equals(group.path("node")) ? "; home: this node" : "; home: node " + home.asString());
    }
}
