package io.clairfs.tools.simulate.policy;

/** DeepIO (Zhu et al. 2018) in its opportunistic mode: reads only what is in memory, in any order. */
final class DeepIoOpportunistic extends LocalOnly {
    private DeepIoOpportunistic(Setup setup, Shards shards) throws UnsupportedScenarioException {
        super(setup, shards);
    }

    static DeepIoOpportunistic create(Setup setup) throws UnsupportedScenarioException {
        return new DeepIoOpportunistic(setup, Shards.inMemory(setup));
    }
}
