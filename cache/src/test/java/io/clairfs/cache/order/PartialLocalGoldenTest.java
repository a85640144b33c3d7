package io.clairfs.cache.order;

import static io.clairfs.cache.order.Golden.assertOrder;
import static io.clairfs.cache.order.Golden.number;
import static io.clairfs.cache.order.Golden.order;
import static io.clairfs.cache.order.Golden.tests;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The orders that the Python listing of docs/ORDERS.md makes with numpy. */
class PartialLocalGoldenTest {
    @TestFactory
    Stream<DynamicTest> partialLocal() {
        return tests(
                Golden.file("partial_local").get("cases"),
                c -> assertOrder(
                        c.get("order"),
                        order("sampler=partial-local samples=" + c.get("n") + " world=" + c.get("world") + " seed="
                                + number(c.get("seed")) + " exchange=" + number(c.get("exchange")) + " per_node="
                                + c.get("per_node") + " epoch=" + c.get("epoch") + " rank=" + c.get("rank"))));
    }
}
