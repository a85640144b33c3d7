package io.clairfs.tools.mount;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Cards in an order that follows from a seed. The deck is shuffled again when all cards were drawn, so that all are drawn about equally
 * often.
 */
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
