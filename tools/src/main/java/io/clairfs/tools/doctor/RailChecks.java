package io.clairfs.tools.doctor;

import io.clairfs.peer.rails.Accelerator;
import io.clairfs.peer.rails.CardAddress;
import io.clairfs.peer.rails.NetworkCard;
import io.clairfs.peer.rails.Rails;
import io.clairfs.peer.rails.Topology;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The map of network cards, accelerators and NUMA nodes, where there is more than one card: the rails of a group. */
final class RailChecks implements Check {
    private static final double BITS_PER_GIGABIT = 1e9;

    @Override
    public List<Finding> look(Examined examined) throws IOException {
        Topology topology = Topology.read(examined.machine().root().resolve("sys"));
        List<NetworkCard> cards = topology.cards();
        if (cards.size() < 2) {
            return List.of();
        }
        List<Finding> found = new ArrayList<>();
        List<CardAddress> usable = new ArrayList<>();
        for (NetworkCard card : cards) {
            CardAddress address = card.isUp() ? Rails.addressOf(card) : null;
            if (address != null) {
                usable.add(address);
            }
            found.add(Finding.ok("rails", text(topology, card, address)));
        }
        for (String pair : CardAddress.pairsInOneSubnet(usable)) {
            found.add(Finding.note(
                    "rails",
                    pair + " are in one subnet, so the kernel sends from both by one card",
                    "a subnet for each card, or routes by source address (ip rule add from ADDRESS)"));
        }
        Wanted wanted = examined.wanted();
        if (usable.size() > 1 && wanted.bind() != null && wanted.rails().isEmpty()) {
            found.add(Finding.note(
                    "rails",
                    "samples travel by the card of --bind alone",
                    "clairfs mount ... --rail auto, on all nodes"));
        }
        return found;
    }

    private static String text(Topology topology, NetworkCard card, @Nullable CardAddress address) {
        StringBuilder text = new StringBuilder(card.name());
        text.append(address == null ? "" : " " + address.address().getHostAddress());
        text.append(
                card.bitsPerSecond() == 0 ? "" : ", %.0f Gbit/s".formatted(card.bitsPerSecond() / BITS_PER_GIGABIT));
        text.append(card.numaNode() < 0 ? "" : ", NUMA node " + card.numaNode());
        List<Integer> nearest = topology.nearestCards();
        List<String> near = new ArrayList<>();
        for (int i = 0; i < nearest.size(); i++) {
            Accelerator accelerator = topology.accelerators().get(i);
            if (topology.cards().get(nearest.get(i)).equals(card)) {
                near.add(accelerator.address());
            }
        }
        text.append(near.isEmpty() ? "" : ", nearest to the accelerator " + String.join(" and ", near));
        text.append(!card.isUp() ? ", no link" : address == null ? ", no address" : "");
        return text.toString();
    }
}
