package io.clairfs.cache.placement;

/** Is told what this node's tiers hold, so that other nodes can know. Called on any thread; must return at once. */
public interface ResidencyListener {
    /** Nobody wants to know. */
    ResidencyListener UNTOLD = new ResidencyListener() {
        @Override
        public void kept(int tier, int file) {
            assert tier >= 0;
        }

        @Override
        public void gone(int tier, int file) {
            assert tier >= 0;
        }
    };

    /** The tier, counted from the fastest, holds this file from now on. */
    void kept(int tier, int file);

    /** It holds it no more. */
    void gone(int tier, int file);
}
