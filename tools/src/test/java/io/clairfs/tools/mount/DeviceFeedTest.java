package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What trainers get of a feeder whose batches lie in the memory of a GPU. */
@Tag("gpu")
@Timeout(600)
final class DeviceFeedTest extends DeviceFeedFixture {
    @Test
    void bytes_labels_and_order_are_exact_over_two_epochs_with_an_incomplete_batch() throws Exception {
        mount.job("name=two seed=7 epochs=2 batch=16 subset=train");
        List<String> lines = train(driver(), """
                def run():
                    with feed(job="two", decode=decode, device="cuda:0", threads=3) as f:
                        for epoch in range(f.first_epoch, f.epochs):
                            read, sizes = [], []
                            for batch, labels, indices in f:
                                there = batch.__cuda_array_interface__
                                assert there["shape"] == (len(indices), 6, 5) == batch.shape and there["typestr"] == "<f4", there
                                assert labels.shape == (len(indices),) and batch.__dlpack_device__() == (2, 0), labels
                                check_batch("two", batch, labels, indices)
                                sizes.append(len(batch))
                                read += [int(index) for index in indices]
                            assert sizes == [16] * 6 + [7], sizes
                            print(*read)
                        figures = f.stats()["feeder"]
                        assert figures["copied_bytes"] >= 206 * 120 and figures["copy_ns"] > 0, figures
                run()
                """);
        assertThat(lines)
                .containsExactly(
                        String.join(" ", mount.order("two", 0, 0)), String.join(" ", mount.order("two", 1, 0)));
        assertThatNothingIsLeft();
    }

    @Test
    void kernels_give_what_torchvision_calculates_and_mirror_what_the_decoding_would() throws Exception {
        mount.job("name=images seed=8 epochs=3 batch=16 subset=images");
        List<String> lines = train(driver(), """
                mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
                of = lambda numbers: ":".join(map(str, numbers))
                def expected(images, layout):
                    images = images.astype(numpy.float64) if layout == "nchw" else images.astype(numpy.float64).transpose(0, 3, 1, 2)
                    return (images / 255 - numpy.reshape(mean, (3, 1, 1))) / numpy.reshape(std, (3, 1, 1))
                def run(layout, dtype, flip, bound):
                    spec = "image,size=9x14,crop=none,layout=%s" % layout
                    mirrored = 0
                    with feed(job="images", decode=spec + ",flip=" + flip, epoch=1) as host:
                        wanted = [(expected(batch, layout), labels.copy(), indices.copy()) for batch, labels, indices in host]
                    with feed(job="images", decode=spec, epoch=1, device="cuda",
                              on_device="dtype=%s,mean=%s,std=%s,flip=%s" % (dtype, of(mean), of(std), flip)) as f:
                        assert f.shape == (3, 9, 14) and f.dtype == dtype, (f.shape, f.dtype)
                        for (images, labels, indices), (there, there_labels, there_indices) in zip(f, wanted):
                            assert numpy.array_equal(indices, there_indices) and numpy.array_equal(labels.numpy(), there_labels)
                            assert images.shape == there.shape and images.dtype == dtype
                            away = numpy.abs(images.numpy() - there).max()
                            assert away < bound, (layout, dtype, flip, away)
                    print(layout, dtype, flip)
                run("nchw", "float32", "none", 2e-6)
                run("nhwc", "float32", "random", 2e-6)
                run("nchw", "float16", "random", 2e-3)
                """);
        assertThat(lines).containsExactly("nchw float32 none", "nhwc float32 random", "nchw float16 random");
        assertThatNothingIsLeft();
    }

    @Test
    void two_ranks_share_a_device_and_the_status_shows_what_was_copied() throws Exception {
        mount.job("name=both seed=5 epochs=1 batch=8 world=2 ranks=0-1 subset=train");
        List<String> lines = train(driver(), """
                import json
                def content(file):
                    with open(mount + "/.clairfs/" + file, "rb", buffering=0) as opened:
                        return opened.readall()
                def feeders():
                    return json.loads(content("status.json"))["jobs"][0]["feeders"]
                def shown():
                    return [l.strip() for l in content("status").decode().splitlines() if "feeder of rank" in l]
                def wait(look, condition):  # a feeder that has been held up for some seconds is not shown until it reports again
                    end = time.monotonic() + 120
                    while not condition(now := look()):
                        assert time.monotonic() < end, now
                        time.sleep(0.1)
                    return now
                def have_copied_all(now):
                    return len(now) == 2 and all(f["batches"] == 7 and f["copied_bytes"] > 52 * 120 and f["copy_seconds"] > 0 for f in now)
                def run():
                    options = dict(job="both", decode=decode, threads=2, device="cuda:0")
                    with feed(rank=0, **options) as first, feed(rank=1, **options) as second:
                        read = [], []
                        for pair in zip(first, second):
                            for (batch, labels, indices), of in zip(pair, read):
                                check_batch("both", batch, labels, indices)
                                of += [int(index) for index in indices]
                        for of in read:
                            print(*of)
                        wait(feeders, have_copied_all)
                        print(*wait(shown, lambda lines: len(lines) == 2), sep="; ")
                run()
                """);
        assertThat(lines).hasSize(3);
        assertThat(lines.get(0)).isEqualTo(String.join(" ", mount.order("both", 0, 0)));
        assertThat(lines.get(1)).isEqualTo(String.join(" ", mount.order("both", 0, 1)));
        assertThat(lines.get(2)).matches("feeder of rank 0: .* to the GPU at [0-9.]+ GB/s; feeder of rank 1: .* GB/s");
        assertThatNothingIsLeft();
    }

    @Test
    void a_feeder_that_was_started_apart_serves_one_trainer_after_another_by_its_device() throws Exception {
        mount.job("name=own seed=9 epochs=1 batch=16 subset=train");
        Process feeder = Ended.start(
                Clairfs.command(
                        "feed",
                        mount.point().toString(),
                        "--job",
                        "own",
                        "--device",
                        "cuda",
                        "--decode",
                        "raw,dtype=float32,shape=6x5,offset=12"),
                environment(driver()),
                FIXTURE.said("apart"),
                FIXTURE.directory().resolve("apart.err"));
        try {
            for (int trainer = 0; trainer < 2; trainer++) {
                assertThat(train(driver(), """
                        def run():
                            with feed(job="own", command=None, device="cuda:0") as f:
                                read, kept = [], None
                                for batch, labels, indices in f:
                                    check_batch("own", batch, labels, indices)
                                    read += [int(index) for index in indices]
                                    kept = batch
                                print(*read)
                        run()
                        """)).containsExactly(String.join(" ", mount.order("own", 0, 0)));
            }
            mount.job("stop=own");
            assertThat(feeder.waitFor(120, java.util.concurrent.TimeUnit.SECONDS))
                    .isTrue();
        } finally {
            feeder.destroyForcibly();
        }
        assertThat(Files.readString(FIXTURE.directory().resolve("apart.err")))
                .contains("on cuda too; waits for ", "fed 14 batches (0 bad)", "; to the device at ");
        assertThatNothingIsLeft();
    }

    @Test
    void frameworks_take_the_arrays_as_they_are_and_see_what_the_host_has() throws Exception {
        assumeTrue(HAS_GPU, "no GPU here");
        mount.job("name=frames seed=6 epochs=6 batch=20 subset=train");
        List<String> lines = train(driver(), """
                import importlib.util
                def has(name):
                    return importlib.util.find_spec(name) is not None
                def run():
                    with feed(job="frames", decode=decode) as f:
                        host = [(batch.copy(), labels.copy(), indices.copy()) for batch, labels, indices in f]
                    def same(batch, labels, step):
                        assert numpy.array_equal(batch.view(numpy.uint32), host[step][0].view(numpy.uint32)), step
                        assert numpy.array_equal(labels, host[step][1]), step
                    def each(feed, name, change):
                        feed.set_epoch(0)
                        for step, (batch, labels, indices) in enumerate(feed):
                            same(*change(batch, labels), step)
                        print(name)
                    with feed(job="frames", decode=decode, device="cuda:0", slots=5, hold=4, epoch=0) as f:
                        if has("torch"):
                            import torch
                            for name, change in (("torch.as_tensor", lambda a: torch.as_tensor(a, device="cuda:0")), ("torch.from_dlpack", torch.from_dlpack)):
                                def by_torch(batch, labels):
                                    pair = change(batch), change(labels)
                                    assert pair[0].data_ptr() == batch.__cuda_array_interface__["data"][0] and pair[0].is_cuda
                                    return [t.cpu().numpy() for t in pair]
                                each(f, name, by_torch)
                            loader, kept = f.loader(indices=True), []
                            f.set_epoch(0)
                            for step, (images, labels, indices) in enumerate(loader):
                                kept = (kept + [(step, images, labels)])[-4:]
                                for s, i, l in kept:
                                    same(i.cpu().numpy(), l.cpu().numpy(), s)
                            print("loader")
                            kept = images = labels = None
                        if has("cupy"):
                            import cupy
                            each(f, "cupy", lambda batch, labels: (cupy.asnumpy(cupy.asarray(batch)), cupy.asnumpy(cupy.from_dlpack(labels))))
                        if has("jax"):
                            os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
                            import jax
                            each(f, "jax", lambda batch, labels: (numpy.asarray(jax.dlpack.from_dlpack(batch)), numpy.asarray(labels.numpy())))
                    if has("torch"):
                        with feed(job="frames", decode=decode, epoch=0) as f:
                            for step, (images, labels) in enumerate(f.loader(device="cuda:0")):
                                same(images.cpu().numpy(), labels.cpu().numpy(), step)
                            assert f.pin()
                        print("host ring, pinned")
                run()
                """);
        System.out.println("the arrays were taken by " + String.join(", ", lines));
        assertThat(lines).isNotEmpty();
    }
}
