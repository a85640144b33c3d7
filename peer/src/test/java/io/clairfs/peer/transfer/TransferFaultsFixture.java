package io.clairfs.peer.transfer;

import static io.clairfs.peer.transfer.TransferTest.ANY_PORT;
import static io.clairfs.peer.transfer.TransferTest.CREDENTIALS;
import static io.clairfs.peer.transfer.TransferTest.PATIENCE_MS;
import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;

/** Servers of samples and their clients, of which nothing may be left. */
abstract class TransferFaultsFixture {
    private final LeakWatch leaks = new LeakWatch();
    final ServedSamples samples = new ServedSamples();
    final TransferThreads threads = TransferThreads.start("transfer", 2);
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        threads.close();
        samples.end();
        leaks.end();
    }

    /** Closes this when the test is over. */
    <T extends AutoCloseable> T closing(T resource) {
        open.add(resource);
        return resource;
    }

    TransferServer serve() throws IOException {
        return serve(PATIENT);
    }

    TransferServer serve(TransferLimits limits) throws IOException {
        return closing(TransferServer.start(List.of(ANY_PORT), CREDENTIALS, samples, limits, threads));
    }

    TransferClient client(Credentials credentials) {
        return client(credentials, PATIENT);
    }

    TransferClient client(Credentials credentials, TransferLimits limits) {
        return closing(new TransferClient(credentials, limits, threads));
    }

    static void eventually(BooleanSupplier condition) throws InterruptedException {
        long end = in(PATIENCE_MS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime())
                    .as("it did not happen within a minute")
                    .isLessThan(end);
            Thread.sleep(5);
        }
    }
}
