package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.clairfs.fs.mount.MountException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves the metrics over HTTP, at {@code /metrics}. Everybody who reaches the address may read them; they have names of jobs and nodes, and no
 * paths.
 *
 * <p>A scraper that sends or takes nothing for ten seconds is cut off; more connections than a few are refused.
 */
public final class MetricsServer implements AutoCloseable {
    private static final String PATH = "/metrics";
    private static final String LONGEST_S = "10";
    private static final String MOST_CONNECTIONS = "16";
    private static final int THREADS = 2;
    private static final int BACKLOG = 16;
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int NOT_ALLOWED = 405;

    private final StatusReporter status;
    private final HttpServer server;
    private final ExecutorService threads;

    private MetricsServer(StatusReporter status, HttpServer server) {
        this.status = status;
        this.server = server;
        threads = Executors.newFixedThreadPool(
                THREADS, Thread.ofPlatform().daemon().name("metrics-", 0).factory());
    }

    /** Begins to serve; fails if the address is not this machine's or the port is in use. */
    public static MetricsServer start(InetSocketAddress address, StatusReporter status) throws MountException {
        // The server's bounds, which it takes from nowhere else.
        System.setProperty("sun.net.httpserver.maxReqTime", LONGEST_S);
        System.setProperty("sun.net.httpserver.maxRspTime", LONGEST_S);
        System.setProperty("jdk.httpserver.maxConnections", MOST_CONNECTIONS);
        HttpServer http;
        try {
            http = HttpServer.create(address, BACKLOG);
        } catch (IOException e) {
            throw new MountException("--metrics: cannot listen on " + address.getHostString() + ":" + address.getPort()
                    + " (" + e.getMessage() + "); choose another port");
        }
        MetricsServer server = new MetricsServer(status, http);
        http.createContext("/", server::answer);
        http.setExecutor(server.threads);
        http.start();
        return server;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            boolean isGet = exchange.getRequestMethod().equals("GET");
            if (!isGet && !exchange.getRequestMethod().equals("HEAD")) {
                send(exchange, NOT_ALLOWED, "text/plain", "GET alone\n".getBytes(UTF_8), true);
            } else if (exchange.getRequestURI().getPath().equals(PATH)) {
                send(exchange, OK, "text/plain; version=0.0.4; charset=utf-8", status.metrics(), isGet);
            } else {
                send(exchange, NOT_FOUND, "text/plain", "the metrics are at /metrics\n".getBytes(UTF_8), isGet);
            }
        }
    }

    private static void send(HttpExchange exchange, int code, String type, byte[] body, boolean withBody)
            throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(code, withBody ? body.length : -1);
        if (withBody) {
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
