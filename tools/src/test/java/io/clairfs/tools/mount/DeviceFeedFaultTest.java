package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A feeder to the memory of a GPU when a slot stays in use, a copy or a kernel fails, the feeder is killed, or what is asked of it cannot be done. */
@Tag("gpu")
@Timeout(600)
final class DeviceFeedFaultTest extends DeviceFeedFixture {
    @Test
    void a_slot_that_a_kernel_still_reads_is_not_written_and_the_wait_for_it_is_bounded() throws Exception {
        assumeTrue(!HAS_GPU, "the library that stands in for the driver says when kernels end");
        mount.job("name=busy seed=2 epochs=1 batch=10 subset=train");
        Path busy = Files.createFile(standIn.directory().resolve("busy"));
        try {
            List<String> lines = train(driver(), """
                    def run(busy):
                        with feed(job="busy", decode=decode, device="cuda", slots=3) as f:
                            batches, patience = iter(f), f.timeout_s
                            kept = [next(batches) for slot in range(3)]
                            f.timeout_s = 3
                            try:
                                print("a batch came:", next(batches))
                            except FeedError as e:
                                print(e)
                            f.timeout_s = patience
                            for each in kept:  # all three slots are in use, though the script has let go of them
                                check_batch("busy", *each)
                            os.unlink(busy)
                            count = len(kept)
                            for each in batches:
                                check_batch("busy", *each)
                                count += 1
                            print(count)
                            del batches, kept, each
                    run("%s")
                    """.formatted(busy));
            assertThat(lines).hasSize(2);
            assertThat(lines.get(0)).startsWith("clairfs: no batch of the job 'busy' within 3 s");
            assertThat(lines.get(1)).isEqualTo("11");
        } finally {
            Files.deleteIfExists(busy);
        }
        assertThatNothingIsLeft();
    }

    @Test
    void a_kernel_of_the_script_that_failed_ends_the_feeder_all_the_same() throws Exception {
        assumeTrue(!HAS_GPU, "the library that stands in for the driver says when a kernel fails");
        mount.job("name=broken seed=2 epochs=1 batch=10 subset=train");
        Path broken = standIn.directory().resolve("broken");
        try {
            assertThat(train(driver(), """
                    def run(broken):
                        from clairfs_device import CudaError
                        with feed(job="broken", decode=decode, device="cuda", slots=3, hold=2) as f:
                            batches = iter(f)
                            next(batches), next(batches)
                            open(broken, "w").close()
                            try:
                                next(batches)
                            except CudaError as e:
                                print(e)
                        print("closed")
                    run("%s")
                    """.formatted(broken)))
                    .containsExactly("cuEventRecord failed with CUDA's error 700", "closed");
            assertThat(FIXTURE.processes()).as("only the daemon is left").hasSize(1);
            assertThat(standIn.allocated()).isEmpty();
        } finally {
            Files.deleteIfExists(broken);
        }
        assertThatNothingIsLeft();
    }

    @Test
    void a_copy_that_fails_is_one_clear_line() throws Exception {
        assumeTrue(!HAS_GPU, "the library that stands in for the driver has copies fail");
        mount.job("name=copy seed=2 epochs=1 batch=10 subset=train");
        assertThat(train(standIn.environment("cuMemcpyHtoDAsync"), """
                def run():
                    try:
                        with feed(job="copy", decode=decode, device="cuda") as f:
                            for batch in f:
                                pass
                    except FeedError as e:
                        print(e)
                run()
                """))
                .containsExactly("clairfs: cuMemcpyHtoDAsync failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
        assertThatNothingIsLeft();
    }

    @Test
    void memory_of_batches_that_were_sent_stays_when_a_copy_fails_until_the_script_lets_go_of_it() throws Exception {
        assumeTrue(!HAS_GPU, "the library that stands in for the driver has copies fail");
        mount.job("name=later seed=2 epochs=1 batch=10 subset=train");
        assertThat(train(standIn.environment("cuMemcpyHtoDAsync:2"), """
                def run(memory):
                    with feed(job="later", decode=decode, device="cuda", slots=3) as f:
                        check_batch("later", *next(iter(f)))
                        kind = None
                        while kind != clairfs_feed._FAILED:  # as the script learns it, but without the end of the feed
                            kind = f._link.receive(f.timeout_s)[0]
                        print(sum("-" in each for each in os.listdir(memory)))
                run("%s")
                """.formatted(standIn.directory())))
                .as("allocations on the device")
                .containsExactly("1");
        assertThatNothingIsLeft();
    }

    @Test
    void another_feeder_takes_the_place_of_one_that_was_killed() throws Exception {
        mount.job("name=killed seed=4 epochs=3 batch=10 subset=train");
        List<String> lines = train(driver(), """
                def run():
                    with feed(job="killed", decode=decode, device="cuda:0", slots=3, hold=2) as f:
                        for epoch in range(3):
                            read = []
                            for step, (batch, labels, indices) in enumerate(f):
                                if step == 5:
                                    os.kill(f._link.process.pid, signal.SIGKILL)
                                    time.sleep(0.2)
                                check_batch("killed", batch, labels, indices)
                                read += [int(index) for index in indices]
                            print(*read)
                run()
                """);
        assertThat(lines)
                .containsExactly(
                        String.join(" ", mount.order("killed", 0, 0)),
                        String.join(" ", mount.order("killed", 1, 0)),
                        String.join(" ", mount.order("killed", 2, 0)));
        assertThat(FIXTURE.processes()).as("only the daemon is left").hasSize(1);
        if (!HAS_GPU) { // a killed process cannot free what stands in for memory
            assertThat(standIn.left()).isEmpty();
            for (String name : standIn.allocated()) {
                Files.delete(standIn.directory().resolve(name));
            }
        }
    }

    @Test
    void what_cannot_be_fed_is_one_clear_line() throws Exception {
        mount.job("name=here seed=1 epochs=1 batch=8 subset=train");
        String script = """
                def why(**options):
                    try:
                        options.setdefault("decode", decode)
                        feed(job="here", **options)
                        raise AssertionError("it feeds " + str(options))
                    except FeedError as e:
                        print(e)
                """;
        assertThat(train(driver(), script + "why(device='cuda:77')\nwhy(device='gpu')\n"))
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("clairfs: there is no device cuda:77: this process sees ")
                                .endsWith("; without device= the batches stay on the host"),
                        line -> assertThat(line).startsWith("clairfs: device 'gpu' is none: cuda, or cuda:N"));
        assertThat(train(driver(), script + """
                why(device='cuda', on_device='dtype=float16')
                why(device='cuda', decode='image,size=8', on_device='dtype=float16,std=0')
                why(on_device='dtype=float16')
                why(device='cuda', decode='image,size=8,flip=random', on_device='dtype=float16,flip=random')
                """))
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("clairfs: --on-device dtype=float16: samples of <f4 [6, 5] are no images"),
                        line -> assertThat(line).contains("std=0 has a 0"),
                        line -> assertThat(line)
                                .isEqualTo("clairfs: on_device= needs device=: it is about batches on a GPU"),
                        line -> assertThat(line).contains("mirror the same samples"));
        Process feeder = FIXTURE.start(
                "host",
                Clairfs.command(
                        "feed",
                        mount.point().toString(),
                        "--job",
                        "here",
                        "--decode",
                        "raw,dtype=float32,shape=6x5,offset=12"));
        assertThat(train(driver(), script + "why(device='cuda:0', command=None)\n"))
                .singleElement()
                .asString()
                .startsWith("clairfs: the feeder keeps its batches on the host: start it with --device GPU-");
        mount.job("stop=here");
        assertThat(feeder.waitFor()).isZero();
        if (!HAS_GPU) {
            mount.job("name=here seed=1 epochs=1 batch=8 subset=train");
            assertThat(train(Map.of(), script + "why(device='cuda')\n"))
                    .singleElement()
                    .asString()
                    .startsWith("clairfs: no NVIDIA driver here: ");
            assertThat(train(standIn.environment("cuMemAlloc"), script + "why(device='cuda')\n"))
                    .singleElement()
                    .asString()
                    .contains("has no room for 4 slots of ", "use fewer slots or smaller batches");
            assertThat(train(standIn.environment("cuMemHostRegister"), script + "why(device='cuda')\n"))
                    .singleElement()
                    .asString()
                    .contains("cuMemHostRegister failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
        }
        assertThatNothingIsLeft();
    }
}
