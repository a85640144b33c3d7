package io.clairfs.gpufeeder.view;

import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Decoders for threads that decode now and then: as many as there are processors, so that no more images are decoded at once than gain from it. Who
 * comes first goes first; a wait is as long as the images before it take. They live as long as the process.
 */
final class DecoderPool<D> {
    private final Supplier<D> make;
    private final Consumer<D> close;
    private final Semaphore free = new Semaphore(Runtime.getRuntime().availableProcessors(), true);
    private final ArrayDeque<D> idle = new ArrayDeque<>();

    DecoderPool(Supplier<D> make, Consumer<D> close) {
        this.make = make;
        this.close = close;
    }

    /** What is done with a decoder. */
    @FunctionalInterface
    interface Use<D, E extends Exception> {
        void with(D decoder) throws E;
    }

    /** Lends a decoder. One that failed is closed. */
    <E extends Exception> void use(Use<D, E> use) throws E {
        free.acquireUninterruptibly();
        try {
            D decoder = take();
            boolean good = false;
            try {
                use.with(decoder);
                good = true;
            } finally {
                giveBack(decoder, good);
            }
        } finally {
            free.release();
        }
    }

    private D take() {
        synchronized (idle) {
            D decoder = idle.pollFirst();
            if (decoder != null) {
                return decoder;
            }
        }
        return make.get();
    }

    private void giveBack(D decoder, boolean good) {
        if (good) {
            synchronized (idle) {
                idle.addFirst(decoder);
            }
        } else {
            close.accept(decoder);
        }
    }
}
