package io.clairfs.cache.order;

/**
 * An order that the user computed: weighted samplers, curricula, whatever no other sampler here knows.
 *
 * <p>One file serves all epochs and ranks, or {@code {epoch}} and {@code {rank}} in its name stand for their numbers. Files are
 * read when their epoch is asked for, so those of later epochs may be written while the run is under way.
 */
final class OrderFileSampler implements Sampler {
    private final SamplerSetting setting;
    private final String name;
    private final int world;

    OrderFileSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        this.setting = setting;
        String file = keys.text("file");
        if (file == null || file.isEmpty()) {
            throw new InvalidSpecException(
                    "sampler=order-file needs file=NAME; {epoch} in it stands for the epoch's number");
        }
        name = file;
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        String ofEpoch = name.replace("{epoch}", Integer.toString(epoch));
        if (!ofEpoch.contains("{rank}")) {
            return EpochOrder.of(OrderFile.read(ofEpoch, setting));
        }
        int[][] byRank = new int[world][];
        for (int rank = 0; rank < world; rank++) {
            byRank[rank] = OrderFile.read(ofEpoch.replace("{rank}", Integer.toString(rank)), setting);
        }
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return byRank[rank].length;
            }

            @Override
            public int sample(int rank, int step) {
                return byRank[rank][step];
            }
        };
    }
}
