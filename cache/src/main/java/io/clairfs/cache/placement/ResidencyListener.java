package io.clairfs.cache.placement;

/** Is told what this node's tiers hold, for other nodes, and knows what they hold. Called on any thread, perhaps under locks; must return at once. */
public interface ResidencyListener {
    /** Tells no node, and none counts on this one. */
    ResidencyListener UNTOLD = new ResidencyListener() {
        @Override
        public void kept(int tier, int file) {
            assert tier >= 0;
        }

        @Override
        public void gone(int tier, int file) {
            assert tier >= 0;
        }

        @Override
        public boolean isElsewhere(int file) {
            return true;
        }
    };

    /** The tier, counted from the fastest, holds this file from now on. */
    void kept(int tier, int file);

    /** The tier no longer holds this file. */
    void gone(int tier, int file);

    /** Whether another node holds this file too, or none would miss it. */
    boolean isElsewhere(int file);
}
