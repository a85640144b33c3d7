package io.clairfs.cache.fetch;

/** A loader with so much time for its sample. */
record FakeStager(double spareSeconds, Runnable onBytes) implements Stager {
    FakeStager(double spareSeconds) {
        this(spareSeconds, () -> {});
    }

    @Override
    public void bytesArrived() {
        onBytes.run();
    }
}
