package io.clairfs.peer.rails;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The network cards, the accelerators and the NUMA nodes of a machine.
 *
 * @param cards those that are devices, not bridges, bonds or tunnels; by their places on the PCI bus
 * @param accelerators by their places on the PCI bus
 * @param processors of each NUMA node
 */
public record Topology(List<NetworkCard> cards, List<Accelerator> accelerators, Map<Integer, BitSet> processors) {
    private static final String CARDS = "class/net";
    private static final String PCI = "bus/pci/devices";
    private static final String NODES = "devices/system/node";
    private static final long BITS_PER_MEGABIT = 1_000_000;

    /** What a PCI device calls itself: a VGA or 3D controller. NVIDIA's and AMD's are accelerators; others only show something. */
    private static final List<String> CONTROLLERS = List.of("0x0300", "0x0302", "0x0380", "0x1200");

    private static final List<String> MAKERS = List.of("0x10de", "0x1002");

    /**
     * Reads it.
     *
     * @param sys {@code /sys}, or a recorded one
     */
    public static Topology read(Path sys) throws IOException {
        List<NetworkCard> cards = new ArrayList<>();
        for (Path card : entries(sys.resolve(CARDS))) {
            Path device = card.resolve("device");
            if (Files.exists(device)) {
                long megabits = number(card.resolve("speed"), 0);
                cards.add(new NetworkCard(
                        card.getFileName().toString(),
                        device(device),
                        text(card.resolve("operstate")).equals("up"),
                        Math.max(0, megabits) * BITS_PER_MEGABIT));
            }
        }
        List<Accelerator> accelerators = new ArrayList<>();
        for (Path device : entries(sys.resolve(PCI))) {
            String kind = text(device.resolve("class"));
            if (MAKERS.contains(text(device.resolve("vendor")))
                    && CONTROLLERS.stream().anyMatch(kind::startsWith)) {
                accelerators.add(new Accelerator(device.getFileName().toString(), device(device)));
            }
        }
        Map<Integer, BitSet> processors = new TreeMap<>();
        for (Path node : entries(sys.resolve(NODES))) {
            String name = node.getFileName().toString();
            if (name.matches("node[0-9]{1,6}")) {
                processors.put(
                        Integer.parseInt(name.substring("node".length())), numbers(text(node.resolve("cpulist"))));
            }
        }
        cards.sort(Comparator.comparing(card -> card.device().text()));
        accelerators.sort(
                Comparator.comparing(accelerator -> accelerator.device().text()));
        return new Topology(List.copyOf(cards), List.copyOf(accelerators), processors);
    }

    private static List<Path> entries(Path directory) throws IOException {
        List<Path> entries = new ArrayList<>();
        if (Files.isDirectory(directory)) {
            try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
                all.forEach(entries::add);
            }
        }
        entries.sort(Comparator.naturalOrder());
        return entries;
    }

    private static PciDevice device(Path device) throws IOException {
        return PciDevice.of(device.toRealPath().toString(), (int) number(device.resolve("numa_node"), -1));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException absent) { // or EINVAL: a card without a link has no speed
            return "";
        }
    }

    private static long number(Path file, long otherwise) {
        String text = text(file);
        return text.matches("-?[0-9]{1,12}") ? Long.parseLong(text) : otherwise;
    }

    /** The numbers of a list such as {@code 0-3,8,10-11}. */
    static BitSet numbers(String list) {
        BitSet numbers = new BitSet();
        for (String part : list.split(",", -1)) {
            if (part.matches("[0-9]{1,6}(-[0-9]{1,6})?")) {
                int dash = part.indexOf('-');
                int first = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
                int last = dash < 0 ? first : Integer.parseInt(part.substring(dash + 1));
                numbers.set(first, Math.max(first, last) + 1);
            }
        }
        return numbers;
    }

    /**
     * For each accelerator the card that is nearest to it, its number in {@link #cards}; -1 where there is none. Of cards as near as each other, each
     * serves as many accelerators.
     */
    public List<Integer> nearestCards() {
        Map<List<Integer>, Integer> given = new HashMap<>();
        List<Integer> nearest = new ArrayList<>();
        for (Accelerator accelerator : accelerators) {
            List<Integer> candidates = nearestTo(accelerator.device());
            int turn = given.merge(candidates, 1, Integer::sum) - 1;
            nearest.add(candidates.isEmpty() ? -1 : candidates.get(turn % candidates.size()));
        }
        return nearest;
    }

    private List<Integer> nearestTo(PciDevice device) {
        int most = cards.stream()
                .mapToInt(card -> closeness(card.device(), device))
                .max()
                .orElse(0);
        return IntStream.range(0, cards.size())
                .filter(card -> closeness(cards.get(card).device(), device) == most)
                .boxed()
                .toList();
    }

    /** Where the bus tells nothing, for each processor has its own, the NUMA node may. */
    private static int closeness(PciDevice card, PciDevice other) {
        return 2 * card.inCommon(other) + (card.isOnNodeOf(other) ? 1 : 0);
    }

    /** The processors of a card's NUMA node; empty where that is not known, or where there is only one node. */
    public BitSet processorsNear(NetworkCard card) {
        BitSet near = processors.get(card.numaNode());
        return processors.size() < 2 || near == null ? new BitSet() : near;
    }
}
