package io.clairfs.peer.transfer;

/** Why a server could not serve a sample; travels as its ordinal. */
public enum Failure {
    DEADLINE("the deadline passed there"),
    CANCELLED("cancelled"),
    SIZE("it has another size there"),
    SERVER("an error there");

    private final String text;

    Failure(String text) {
        this.text = text;
    }

    /** The text for an ordinal, which may be of another version. */
    public static String text(int code) {
        return code >= 0 && code < values().length ? values()[code].text : "for a reason this version does not know";
    }
}
