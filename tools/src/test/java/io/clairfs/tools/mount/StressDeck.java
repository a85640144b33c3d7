package io.clairfs.tools.mount;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** Cards in an order that follows from a seed; shuffled again when all were drawn, so that none is drawn much less often than another. */
final class StressDeck<T> {
    private final Random random;
    private final List<T> all;
    private final Deque<T> left = new ArrayDeque<>();

    StressDeck(Random random, List<T> all) {
        this.random = random;
        this.all = List.copyOf(all);
    }

    T next() {
        if (left.isEmpty()) {
            List<T> shuffled = new ArrayList<>(all);
            Collections.shuffle(shuffled, random);
            left.addAll(shuffled);
        }
        return left.pop();
    }
}
