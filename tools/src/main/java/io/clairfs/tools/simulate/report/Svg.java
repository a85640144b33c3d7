package io.clairfs.tools.simulate.report;

import java.util.Locale;

/** Draws a picture. Its width is that of a phone, and the page scales it to the available width. */
public final class Svg {
    public static final int WIDTH = 360;

    private final StringBuilder text = new StringBuilder();
    private final int height;
    private final String title;

    /** A picture of this height; the title is for those who cannot see it. */
    public Svg(int height, String title) {
        this.height = height;
        this.title = title;
    }

    public Svg rectangle(double x, double y, double width, double height, String style, String hint) {
        return add(
                "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' class='%s'><title>%s</title></rect>%n",
                x, y, Math.max(0, width), height, style, escaped(hint));
    }

    Svg fill(double x, double y, double width, double height, String color, String hint) {
        return add(
                "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s'><title>%s</title></rect>%n",
                x, y, width, height, color, escaped(hint));
    }

    public Svg label(double x, double y, String style, String label) {
        return add("<text x='%.1f' y='%.1f' class='%s'>%s</text>%n", x, y, style, escaped(label));
    }

    public Svg line(double x1, double y1, double x2, double y2, String style) {
        return add("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='%s'/>%n", x1, y1, x2, y2, style);
    }

    Svg polyline(String points, String color) {
        return add("<polyline points='%s' fill='none' stroke='%s' stroke-width='1.6'/>%n", points, color);
    }

    private Svg add(String form, Object... values) {
        text.append(String.format(Locale.ROOT, form, values));
        return this;
    }

    /** The text, fit for a page. */
    public static String escaped(String plain) {
        return plain.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("'", "&#39;");
    }

    @Override
    public String toString() {
        return "<svg viewBox='0 0 " + WIDTH + " " + height + "' role='img' aria-label='" + escaped(title) + "'>\n"
                + text + "</svg>\n";
    }
}
