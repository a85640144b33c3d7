package io.clairfs.cache.plan.model;

/** What a fetch costs one thread, by the model or as observed. */
@FunctionalInterface
public interface FetchCosts {
    /** Seconds in which one thread fetches a sample of so many bytes from there. */
    double fetchSeconds(Place place, long bytes);

    /** The model's costs on a node with this storage, while {@code clients} read the source. */
    static FetchCosts of(PerformanceModel model, NodeStorage storage, double clients) {
        return (place, bytes) -> switch (place) {
            case Place.Source() -> model.fetchFromSource(bytes, clients);
            case Place.Peer _ -> model.fetchFromPeer(bytes, storage.fastest());
            case Place.Local(int storageClass) ->
                model.fetchFromLocal(bytes, storage.classes().get(storageClass));
        };
    }
}
