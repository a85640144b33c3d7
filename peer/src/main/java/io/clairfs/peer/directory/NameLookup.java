package io.clairfs.peer.directory;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks up the addresses of names, several at a time and all of them within a bound: where no name server answers, the machine's resolver tries for half a
 * minute for each. The threads are shared by all look-ups of the process, and end soon after the last one.
 */
public final class NameLookup {
    /** The bound of the caller's wait. */
    public static final long WITHIN_MS = 10_000;

    private static final Logger LOG = System.getLogger(NameLookup.class.getName());
    private static final int MOST_AT_ONCE = 16;
    private static final int IDLE_SECONDS = 5;
    private static final ThreadPoolExecutor THREADS = threads();

    private NameLookup() {}

    /** Asked for the addresses of a name, as {@link InetAddress#getAllByName}. */
    @FunctionalInterface
    public interface Servers {
        InetAddress[] addresses(String name) throws UnknownHostException;
    }

    private static ThreadPoolExecutor threads() {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                MOST_AT_ONCE,
                MOST_AT_ONCE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), // of the names of one list of members; those that nobody waits for any
                // more are passed over
                Thread.ofPlatform().daemon().name("name-lookup-", 0).factory());
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** The addresses of each name; none for one that has none, or for which there is no answer within the bound. */
    public static Map<String, List<InetAddress>> of(Collection<String> names, Servers servers, long withinMs) {
        Map<String, Future<List<InetAddress>>> asked = new LinkedHashMap<>();
        List<String> inAnyOrder = new ArrayList<>(new LinkedHashSet<>(names));
        Collections.shuffle(inAnyOrder); // names that hang must not be before the same others each time
        inAnyOrder.forEach(name -> asked.put(name, ask(name, servers)));
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(withinMs);
        Map<String, List<InetAddress>> found = new HashMap<>();
        asked.forEach((name, answer) -> found.put(name, await(name, answer, deadlineNs)));
        return found;
    }

    private static Future<List<InetAddress>> ask(String name, Servers servers) {
        return THREADS.submit(() -> List.of(servers.addresses(name)));
    }

    private static List<InetAddress> await(String name, Future<List<InetAddress>> answer, long deadlineNs) {
        try {
            return answer.get(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(Level.DEBUG, "no address is known for " + name, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        boolean _ = answer.cancel(false);
        return List.of();
    }
}
