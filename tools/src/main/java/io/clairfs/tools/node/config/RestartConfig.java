package io.clairfs.tools.node.config;

import java.util.List;

/**
 * How the mount's process is started again if it dies.
 *
 * @param arguments of the command {@code mount}, as the user gave them
 * @param mostInAMinute how often within a minute; 0 for never
 */
public record RestartConfig(List<String> arguments, int mostInAMinute) {
    public RestartConfig {
        arguments = List.copyOf(arguments);
    }
}
