package io.clairfs.peer.transfer.client;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One request from the call to its answer. All but the promise belongs to the peer's event loop. */
final class Flight {
    private final int sample;
    private final long bytes;
    private final long deadlineNs;
    private final First first;
    private final CompletableFuture<Answer> promise = new CompletableFuture<>();
    private FlightWindow.@Nullable Sent sent;
    private int id;
    private boolean givenUp;
    private long givenUpNs;

    /** What the peer has to do before it can send the sample, as far as is known here. */
    enum First {
        NOTHING,

        /** It fetches the sample from the source, as its home does. */
        FETCH,

        /** It makes the sample by the view if it does not have it. */
        MAKE
    }

    Flight(int sample, long bytes, long deadlineNs, First first) {
        this.sample = sample;
        this.bytes = bytes;
        this.deadlineNs = deadlineNs;
        this.first = first;
    }

    int sample() {
        return sample;
    }

    long bytes() {
        return bytes;
    }

    boolean isToMake() {
        return first == First.MAKE;
    }

    /** Whether the peer has the sample and sends it at once. If not, the answer takes its time, keeps no path busy meanwhile, and is no measure of it. */
    boolean isThere() {
        return first == First.NOTHING;
    }

    /** What it takes of the window of bytes in flight. */
    long windowBytes() {
        return isThere() ? bytes : 0;
    }

    /** What it takes of the bytes that the peer may have to fetch first at a time. */
    long fetchBytes() {
        return first == First.FETCH ? bytes : 0;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    boolean isOverdue(long nowNs) {
        return deadlineNs - nowNs < 0;
    }

    CompletableFuture<Answer> promise() {
        return promise;
    }

    /** Its number on the connection. */
    int id() {
        return id;
    }

    void id(int given) {
        id = given;
    }

    void sent(FlightWindow.Sent how) {
        sent = how;
    }

    FlightWindow.Sent howSent() {
        return Objects.requireNonNull(sent, "answered before it was asked");
    }

    /** Gives it up: no caller waits any more, and its answer is still to come. */
    void giveUp(long nowNs) {
        givenUp = true;
        givenUpNs = nowNs;
    }

    long givenUpNs() {
        return givenUpNs;
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /** Answers unless it was answered before; returns whether it did. A sample that comes too late is released. */
    boolean settle(Answer answer) {
        boolean first = promise.complete(answer);
        if (!first && answer instanceof Answer.Got(var unwanted, long _)) {
            unwanted.release();
        }
        return first;
    }
}
