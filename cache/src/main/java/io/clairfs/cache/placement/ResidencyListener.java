package io.clairfs.cache.placement;

/** Is told what this node's tiers hold, for other nodes. Called on any thread, perhaps under locks; must return at once. */
public interface ResidencyListener {
    /** Tells no node. */
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

    /** The tier no longer holds this file. */
    void gone(int tier, int file);
}
