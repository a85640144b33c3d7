package io.clairfs.tools.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** Prints what a shell needs to complete commands and options. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description = {
            "Prints a script for bash that completes commands and options: source <(clairfs completion).",
            "In zsh type 'autoload bashcompinit && bashcompinit' before."
        })
final class CompletionCommand implements Callable<Integer> {
    @Override
    public Integer call() {
        System.out.print(AutoComplete.bash("clairfs", Main.ofAllCommands()));
        return Main.DONE;
    }
}
