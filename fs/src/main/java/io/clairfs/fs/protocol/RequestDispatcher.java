package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import io.clairfs.fs.mount.MountException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Has each request answered: by the filesystem, or here where the answer is always the same. Whatever goes wrong becomes an errno, for a request
 * without an answer would keep somebody waiting for ever. Many threads at once.
 */
final class RequestDispatcher {
    private static final int STATFS_BYTES = 80;
    private static final int STATFS_BLOCK = 4096;
    private static final int LONGEST_NAME = 255;

    private final NodeFilesystem filesystem;
    private final ErrnoTable errnos;
    private final SharedDescriptor channel;
    private final CompletableFuture<Negotiation> accepted;
    private final AttributesAdvice advice = new AttributesAdvice();
    private final LongAdder[] requests =
            Stream.generate(LongAdder::new).limit(Operation.values().length).toArray(LongAdder[]::new);

    /** Answers on {@code channel}; {@code accepted} is completed when kernel and session have agreed, or cannot. */
    RequestDispatcher(
            NodeFilesystem filesystem,
            ErrnoTable errnos,
            SharedDescriptor channel,
            CompletableFuture<Negotiation> accepted) {
        this.filesystem = filesystem;
        this.errnos = errnos;
        this.channel = channel;
        this.accepted = accepted;
    }

    /** How often the kernel has asked for this, answered or not. */
    long requests(Operation operation) {
        return requests[operation.ordinal()].sum();
    }

    /** Has the request answered. Never throws. */
    void dispatch(KernelRequest request) {
        try {
            answer(request);
        } catch (Throwable t) { // too little memory for a better answer
            ReplyMessage.failInAnyCase(channel, request.unique(), -Errno.EIO);
        }
    }

    private void answer(KernelRequest request) {
        Opcode opcode = request.opcode();
        if (opcode == null) {
            fail(request, Errno.ENOSYS); // which the kernel takes for "never", or has its own way of doing
            return;
        }
        Operation counted = opcode.counted();
        if (counted != null) {
            requests[counted.ordinal()].increment();
        }
        if (opcode == Opcode.READ) {
            read(request);
            return;
        }
        try {
            answer(opcode, request);
        } catch (Throwable t) {
            ReplyMessage.ofThread()
                    .fail(channel, request.unique(), errnos.negative(opcode.toString(), path(request, opcode), t));
        }
    }

    private byte[] path(KernelRequest request, Opcode opcode) {
        byte[] path = filesystem.path(request.node());
        if (opcode != Opcode.LOOKUP) {
            return path;
        }
        String slash = path.length == 1 ? "" : "/";
        String text = new String(path, StandardCharsets.ISO_8859_1)
                + slash
                + new String(request.name(), StandardCharsets.ISO_8859_1);
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private void answer(Opcode opcode, KernelRequest request) throws IOException {
        switch (opcode) {
            case INIT -> negotiate(request);
            case LOOKUP -> lookup(request);
            case GETATTR -> attributes(request);
            case READLINK ->
                ReplyMessage.ofThread().send(channel, request.unique(), filesystem.linkTarget(request.node()));
            case READDIR, READDIRPLUS -> list(opcode, request);
            case STATFS -> statistics(request);
            // Once each; from then on the kernel does without. An interrupted read goes on: its bytes are of use to the
            // next.
            case OPEN, OPENDIR, FLUSH, INTERRUPT -> fail(request, Errno.ENOSYS);
            // Of each file that Python's open() opens: whether it is a terminal. No answer makes the kernel stop to
            // ask.
            case IOCTL -> fail(request, Errno.ENOTTY);
            case RELEASE, RELEASEDIR, FSYNC, FSYNCDIR, DESTROY -> send(request, 0);
            case FORGET, BATCH_FORGET -> {} // nothing was remembered, and nobody waits
            case SETATTR,
                    SYMLINK,
                    MKNOD,
                    MKDIR,
                    UNLINK,
                    RMDIR,
                    RENAME,
                    RENAME2,
                    LINK,
                    WRITE,
                    CREATE,
                    TMPFILE,
                    FALLOCATE,
                    SETXATTR,
                    REMOVEXATTR -> fail(request, Errno.EROFS);
            case READ -> throw new AssertionError("answered elsewhere");
        }
    }

    private void read(KernelRequest request) {
        ReadReply reply = new ReadReply(channel, request.unique(), request.node(), filesystem, errnos);
        try {
            filesystem.read(request.node(), request.longInteger(8), request.integer(16), request.thread(), reply);
        } catch (Throwable t) {
            reply.failed(t);
        }
    }

    private void negotiate(KernelRequest request) {
        Negotiation kernel = Negotiation.of(request);
        if (!kernel.isNewEnough()) {
            fail(request, Errno.EPROTO);
            accepted.completeExceptionally(new MountException("this kernel speaks FUSE " + kernel.major() + "."
                    + kernel.minor() + ", and " + Negotiation.MAJOR + "." + Negotiation.MINOR
                    + " is needed: Linux 5.4 or newer"));
            return;
        }
        kernel.write(body(Negotiation.REPLY_BYTES));
        send(request, kernel.isToBeRepeated() ? 8 : Negotiation.REPLY_BYTES);
        if (!kernel.isToBeRepeated()) {
            accepted.complete(kernel);
        }
    }

    private void lookup(KernelRequest request) throws IOException {
        advice.lookedUp(request.node());
        long node = filesystem.lookup(request.node(), request.name());
        if (node == NodeFilesystem.NONE) {
            fail(request, Errno.ENOENT);
            return;
        }
        EntryReply.write(filesystem, node, body(EntryReply.BYTES), 0);
        send(request, EntryReply.BYTES);
    }

    private void attributes(KernelRequest request) throws IOException {
        EntryReply.writeAttributes(filesystem, request.node(), body(EntryReply.ATTRIBUTES_BYTES));
        send(request, EntryReply.ATTRIBUTES_BYTES);
    }

    private void list(Opcode opcode, KernelRequest request) throws IOException {
        long from = request.longInteger(8);
        int size = Math.clamp(request.integer(16), 0, Negotiation.LARGEST_REQUEST_PAGES * 4096);
        DirectoryReply page = new DirectoryReply(filesystem, layout(opcode, request.node(), from), body(size));
        send(request, page.fill(request.node(), from));
    }

    private DirectoryReply.Layout layout(Opcode opcode, long directory, long from) {
        if (opcode == Opcode.READDIR) {
            return DirectoryReply.Layout.NAMES;
        }
        return advice.bringsAttributes(directory, from)
                ? DirectoryReply.Layout.WITH_ATTRIBUTES
                : DirectoryReply.Layout.ATTRIBUTES_LEFT_OUT;
    }

    /** {@code struct fuse_kstatfs}: a full filesystem, as one that is read only is. */
    private void statistics(KernelRequest request) {
        NodeFilesystem.Content content = filesystem.content();
        MemorySegment reply = body(STATFS_BYTES);
        reply.set(JAVA_LONG, 0, Math.ceilDiv(content.bytes(), STATFS_BLOCK));
        reply.set(JAVA_LONG, 24, content.entries());
        reply.set(JAVA_INT, 40, STATFS_BLOCK);
        reply.set(JAVA_INT, 44, LONGEST_NAME);
        reply.set(JAVA_INT, 48, STATFS_BLOCK);
        send(request, STATFS_BYTES);
    }

    private static MemorySegment body(int bytes) {
        return ReplyMessage.ofThread().body(bytes);
    }

    private void send(KernelRequest request, long bytes) {
        ReplyMessage.ofThread().send(channel, request.unique(), bytes);
    }

    private void fail(KernelRequest request, int errno) {
        ReplyMessage.ofThread().fail(channel, request.unique(), -errno);
    }
}
