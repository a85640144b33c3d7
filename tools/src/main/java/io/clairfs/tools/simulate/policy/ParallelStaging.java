package io.clairfs.tools.simulate.policy;

/** Data sharding: each node loads a share of the dataset into all its classes at once, and reads only that. */
final class ParallelStaging extends LocalOnly {
    private ParallelStaging(Setup setup, Shards shards) throws UnsupportedScenarioException {
        super(setup, shards);
    }

    static ParallelStaging create(Setup setup) throws UnsupportedScenarioException {
        return new ParallelStaging(setup, new Shards(setup, 0, setup.classes()));
    }
}
