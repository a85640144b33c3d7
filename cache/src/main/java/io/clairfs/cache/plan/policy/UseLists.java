package io.clairfs.cache.plan.policy;

/** The users of each sample in the order of use, one or two bytes each; uses beyond a full list are left out. */
final class UseLists extends UseTable {
    private final int width;
    private final int idBytes;
    private final byte[] users;
    private final byte[] lengths;

    UseLists(int samples, int nodes, int width, int idBytes) {
        super(samples, nodes);
        this.width = width;
        this.idBytes = idBytes;
        users = new byte[samples * width * idBytes];
        lengths = new byte[samples];
    }

    private int length(int sample) {
        return lengths[sample] & 0xff;
    }

    private int user(int place) {
        if (idBytes == 1) {
            return users[place] & 0xff;
        }
        return ((users[2 * place] & 0xff) << 8) | (users[2 * place + 1] & 0xff);
    }

    @Override
    boolean count(int sample, int node) {
        int length = length(sample);
        if (length == width) {
            return false;
        }
        int place = sample * width + length;
        if (idBytes == 1) {
            users[place] = (byte) node;
        } else {
            users[2 * place] = (byte) (node >> 8);
            users[2 * place + 1] = (byte) node;
        }
        lengths[sample] = (byte) (length + 1);
        return length == 0;
    }

    @Override
    int uses(int node, int sample) {
        int from = sample * width;
        int end = from + length(sample);
        int uses = 0;
        for (int place = from; place < end; place++) {
            if (user(place) == node) {
                uses++;
            }
        }
        return uses;
    }

    @Override
    int firstUser(int sample) {
        return user(sample * width);
    }

    @Override
    long mostUsesPerSample() {
        return width;
    }

    @Override
    void collect(int sample, Users into) {
        int from = sample * width;
        int end = from + length(sample);
        for (int place = from; place < end; place++) {
            into.add(user(place), 1);
        }
    }
}
