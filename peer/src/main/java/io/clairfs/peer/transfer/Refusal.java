package io.clairfs.peer.transfer;

/** Why a node does not talk to another; travels as its ordinal, so the order is part of the protocol. */
public enum Refusal {
    NONE("no refusal"),
    VERSION("it speaks another version of the transfer protocol"),
    SECRET("it has another secret, or only one of the two has one"),
    DATASET("it has another dataset: the fingerprints differ"),
    BUSY("it has as many connections as it may");

    private final String text;

    Refusal(String text) {
        this.text = text;
    }

    public String text() {
        return text;
    }

    /** The refusal with this ordinal; {@link #VERSION} if it is unknown. */
    public static Refusal of(int code) {
        return code >= 0 && code < values().length ? values()[code] : VERSION;
    }
}
