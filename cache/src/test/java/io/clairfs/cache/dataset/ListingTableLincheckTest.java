package io.clairfs.cache.dataset;

import io.clairfs.cache.testing.LincheckScenarios;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Listings are found while others are added and the table grows, under every interleaving that Lincheck tries. Public for Lincheck's sake. */
@Param(name = "number", gen = IntGen.class, conf = "0:1")
@Tag("long")
public final class ListingTableLincheckTest {
    private static final int BEFORE = 2;

    private final ListingTable table = new ListingTable(1);
    private int added;

    /** Two listings of one entry each are there from the beginning. */
    public ListingTableLincheckTest() {
        for (int i = 0; i < BEFORE; i++) {
            add();
        }
    }

    /** A third makes the table grow, and a fifth. */
    @Operation
    public synchronized int add() {
        Listing.Builder builder = new Listing.Builder(new Directory(null, new byte[0]), 1);
        builder.add(new byte[] {'x'}, Listing.Kind.FILE, STATUS, 0, null);
        Listing listing = builder.build();
        listing.number(added);
        table.add(listing);
        return added++;
    }

    /** One of those that were there before. */
    @Operation
    public int base(@Param(name = "number") int number) {
        return table.of(number).base();
    }

    private static final io.clairfs.cache.posix.FileStatus STATUS =
            new io.clairfs.cache.posix.FileStatus(0, 0, 0, 0, 0, 0);

    /** What one thread at a time would see. */
    public static final class OneAtATime {
        private int added = BEFORE;

        public int add() {
            return added++;
        }

        public int base(int number) {
            return number;
        }
    }

    @Test
    void everyInterleaving_findsTheListingOfANumber() {
        LincheckScenarios.patient(new ModelCheckingOptions())
                .iterations(LincheckScenarios.times(3))
                .invocationsPerIteration(300)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(0)
                .sequentialSpecification(OneAtATime.class)
                .check(ListingTableLincheckTest.class);
    }
}
