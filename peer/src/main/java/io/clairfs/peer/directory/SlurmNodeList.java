package io.clairfs.peer.directory;

import java.util.ArrayList;
import java.util.List;

/**
 * Slurm's notation for many names in one: {@code node[01-03,7],login,rack[1-2]n[1-4]}. Numbers keep the width of the
 * first of their range; several brackets in one name combine, and the last runs fastest.
 */
final class SlurmNodeList {
    private static final int MOST_NODES = 65_536;
    private static final int MOST_DIGITS = 9;
    private static final int MOST_NAME = 255;

    private SlurmNodeList() {}

    /** All names, in the order of the list. */
    static List<String> expand(String list) {
        List<String> names = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i <= list.length(); i++) {
            char c = i == list.length() ? ',' : list.charAt(i);
            if (c == '[') {
                depth++;
            } else if (c == ']') {
                depth--;
            } else if (c == ',' && depth == 0) {
                expandOne(list.substring(start, i).strip(), list, names);
                start = i + 1;
            }
            if (depth < 0 || depth > 1) {
                throw wrong(list, "brackets do not match");
            }
        }
        if (depth != 0) {
            throw wrong(list, "brackets do not match");
        }
        return List.copyOf(names);
    }

    private static void expandOne(String name, String list, List<String> into) {
        if (name.isEmpty()) {
            throw wrong(list, "a name is empty");
        }
        if (MOST_NAME < name.replaceAll("\\[[^]]*]", "").length()) {
            throw wrong(list, "a name has more than " + MOST_NAME + " characters");
        }
        List<String> names = List.of("");
        int at = 0;
        while (at < name.length()) {
            int open = name.indexOf('[', at);
            String plain = name.substring(at, open < 0 ? name.length() : open);
            int close = open < 0 ? -1 : name.indexOf(']', open);
            List<String> numbers = open < 0 ? List.of("") : numbers(name.substring(open + 1, close), list);
            List<String> longer = new ArrayList<>();
            if ((long) names.size() * numbers.size() + into.size() > MOST_NODES) {
                throw wrong(list, "more than " + MOST_NODES + " nodes");
            }
            for (String before : names) {
                for (String number : numbers) {
                    longer.add(before + plain + number);
                }
            }
            names = longer;
            at = open < 0 ? name.length() : close + 1;
        }
        into.addAll(names);
    }

    private static List<String> numbers(String ranges, String list) {
        List<String> numbers = new ArrayList<>();
        for (String range : ranges.split(",", -1)) {
            int dash = range.indexOf('-');
            String first = dash < 0 ? range : range.substring(0, dash);
            String last = dash < 0 ? range : range.substring(dash + 1);
            if (!isNumber(first) || !isNumber(last)) {
                throw wrong(list, "'" + shown(range) + "' is neither a number nor a range");
            }
            int from = Integer.parseInt(first);
            int to = Integer.parseInt(last);
            if (to < from || to - from >= MOST_NODES) {
                throw wrong(list, "'" + range + "' runs backwards or too far");
            }
            if (numbers.size() + (to - from) >= MOST_NODES) {
                throw wrong(list, "more than " + MOST_NODES + " nodes");
            }
            for (int number = from; number <= to; number++) {
                String digits = Integer.toString(number);
                numbers.add("0".repeat(Math.max(0, first.length() - digits.length())) + digits);
            }
        }
        return numbers;
    }

    private static boolean isNumber(String text) {
        return !text.isEmpty() && text.length() <= MOST_DIGITS && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    private static IllegalArgumentException wrong(String list, String why) {
        return new IllegalArgumentException("Slurm's list of nodes '" + shown(list) + "': " + why);
    }

    private static String shown(String text) {
        return text.length() > 200 ? text.substring(0, 200) + "..." : text;
    }
}
