import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.kubernetes.client.openapi.JSON;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.yaml.snakeyaml.Yaml;

/**
 * Checks manifests against the types of Kubernetes' API, by its Java client: no field that the API does not know, none missing, each of its type. And what the API's server
 * refuses beyond that: mounts of volumes that are not there, and Bidirectional without privilege. For .ci/long-run kubernetes.
 */
final class CheckManifests {
    private static final Gson GSON = new JSON().getGson();

    public static void main(String[] files) throws Exception {
        for (String file : files) {
            String text = Files.readString(Path.of(file));
            List<String> kinds = check(text);
            for (String wrong : List.of("mountPath:", "restartPolicy:", "replicas:", "clusterIP:")) {
                if (text.contains(wrong)) {
                    refuses(text.replaceFirst(wrong, wrong.replace(":", "s:")), wrong);
                }
            }
            if (text.contains("Bidirectional}")) {
                refuses(text.replace("privileged: true", "privileged: false"), "a mount that is Bidirectional without privilege");
            }
            refuses(text.replace("{name: data, mountPath", "{name: none, mountPath"), "a mount of no volume");
            System.out.println(Path.of(file).getFileName() + ": " + String.join(", ", kinds) + " are right; wrong ones are refused");
        }
    }

    /** A check that refuses nothing checks nothing. */
    private static void refuses(String text, String what) throws Exception {
        try {
            check(text);
        } catch (IllegalArgumentException refused) {
            return;
        }
        throw new IllegalStateException("not refused: " + what);
    }

    private static List<String> check(String text) throws Exception {
        List<String> kinds = new java.util.ArrayList<>();
        for (Object document : new Yaml().loadAll(text)) {
            JsonObject object = new Gson().toJsonTree(document).getAsJsonObject();
            String kind = object.get("kind").getAsString();
            String wanted = kind.equals("StatefulSet") ? "apps/v1" : "v1";
            if (!object.get("apiVersion").getAsString().equals(wanted)) {
                throw new IllegalArgumentException(kind + " is of " + wanted);
            }
            Class<?> type = Class.forName("io.kubernetes.client.openapi.models.V1" + kind);
            try {
                type.getMethod("validateJsonObject", JsonObject.class).invoke(null, object);
            } catch (InvocationTargetException e) {
                throw e.getCause() instanceof IllegalArgumentException wrong ? wrong : e;
            }
            Object unused = GSON.fromJson(object, type);
            JsonObject spec = object.getAsJsonObject("spec");
            if (kind.equals("StatefulSet")) {
                spec = spec.getAsJsonObject("template").getAsJsonObject("spec");
            }
            if (spec != null && spec.has("containers")) {
                checkMounts(spec);
            }
            kinds.add(kind);
        }
        return kinds;
    }

    private static void checkMounts(JsonObject spec) {
        Set<String> volumes = new HashSet<>();
        spec.getAsJsonArray("volumes").forEach(volume -> volumes.add(text(volume, "name")));
        JsonArray containers = spec.getAsJsonArray("containers").deepCopy();
        if (spec.has("initContainers")) {
            containers.addAll(spec.getAsJsonArray("initContainers"));
        }
        for (JsonElement container : containers) {
            JsonObject security = container.getAsJsonObject().getAsJsonObject("securityContext");
            boolean privileged = security != null && security.get("privileged").getAsBoolean();
            for (JsonElement mount : container.getAsJsonObject().getAsJsonArray("volumeMounts")) {
                if (!volumes.contains(text(mount, "name"))) {
                    throw new IllegalArgumentException("there is no volume " + text(mount, "name"));
                }
                if (text(mount, "mountPropagation").equals("Bidirectional") && !privileged) {
                    throw new IllegalArgumentException("Bidirectional needs a privileged container");
                }
            }
        }
    }

    private static String text(JsonElement object, String key) {
        JsonElement value = object.getAsJsonObject().get(key);
        return value == null ? "" : value.getAsString();
    }
}
