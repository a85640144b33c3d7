package io.clairfs.tools.simulate.report;

/** The frame of a self-contained page for the width of a phone: its style, without a script or anything from elsewhere. */
public final class HtmlPage {
    public static final String END = "</body></html>\n";

    private static final String STYLE = """
            :root{color-scheme:light}
            body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:14px;max-width:720px;color:#1b1b1b;background:#fff}
            h1{font-size:1.35rem;margin:.2em 0}h2{font-size:1.1rem;margin:1.6em 0 .3em}
            p{margin:.4em 0}.verdict{font-size:1.05rem;background:#eef4f9;border-left:4px solid #0072b2;padding:.6em .8em}
            svg{width:100%;height:auto;display:block;margin:.4em 0}
            text{font:10.5px system-ui,sans-serif;fill:#1b1b1b}text.name{font-weight:600}text.small{font-size:9.5px}
            .end{text-anchor:end}.middle{text-anchor:middle}
            .prepare{fill:#999}.memory{fill:#56b4e9}.ssd{fill:#009e73}.peer{fill:#e69f00}.source{fill:#d55e00}
            .bound{stroke:#1b1b1b;stroke-width:1;stroke-dasharray:3 2}.axis{stroke:#1b1b1b;stroke-width:1}
            .key span{display:inline-block;margin-right:1em;white-space:nowrap}
            .key i{display:inline-block;width:.8em;height:.8em;margin-right:.35em;vertical-align:-.05em}
            .table{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;width:100%}
            td,th{padding:.3em .5em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}
            td:first-child,th:first-child{text-align:left}td.why{text-align:left;white-space:normal}
            small{color:#555}
            .computing{fill:#0072b2}.waiting{fill:#d55e00}.perhaps{fill:#eab38f}
            """;

    private HtmlPage() {}

    /** Everything before the first element of the body. The title is text, not yet escaped. */
    public static String beginning(String title) {
        return "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'/>\n"
                + "<meta name='viewport' content='width=device-width,initial-scale=1'/>\n<title>" + Svg.escaped(title)
                + "</title>\n<style>\n" + STYLE + "</style></head><body>\n";
    }
}
