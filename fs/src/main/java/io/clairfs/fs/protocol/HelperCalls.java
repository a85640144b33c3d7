package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.NativeCall;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/** The calls for a program that hands over a descriptor: sockets, {@code posix_spawn}, and a message with a descriptor. */
final class HelperCalls {
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 02000000;
    private static final int F_SETFD = 2;
    private static final int STANDARD_ERROR = 2;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;

    // struct msghdr and struct cmsghdr of 64-bit Linux
    private static final int MSGHDR_BYTES = 56;
    private static final int CMSG_BYTES = 24;
    private static final int CMSG_DATA = 16;

    /** {@code posix_spawn_file_actions_t} has 80 bytes in glibc and musl. */
    private static final int FILE_ACTIONS_BYTES = 256;

    private static final MethodHandle SOCKETPAIR =
            NativeCall.bind("socketpair", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle FCNTL = NativeCall.bind(
            "fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle ACTIONS_INIT =
            NativeCall.bindPlain("posix_spawn_file_actions_init", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle ACTIONS_DUP2 = NativeCall.bindPlain(
            "posix_spawn_file_actions_adddup2", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));
    private static final MethodHandle ACTIONS_DESTROY =
            NativeCall.bindPlain("posix_spawn_file_actions_destroy", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle SPAWN = NativeCall.bindPlain(
            "posix_spawn", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle WAITPID =
            NativeCall.bind("waitpid", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle RECVMSG =
            NativeCall.bind("recvmsg", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));

    private HelperCalls() {}

    /** Two ends of a connection that no process inherits. The caller closes both. */
    static int[] socketPair() throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(JAVA_INT, 2);
            checked("socketpair", (int)
                    SOCKETPAIR.invokeExact(NativeCall.state(), AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both));
            return both.toArray(JAVA_INT);
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    /** Lets processes that {@link #spawn} starts inherit {@code fd}. Processes that the JDK starts close it. */
    static void inherit(int fd) throws PosixException {
        try {
            checked("fcntl", (int) FCNTL.invokeExact(NativeCall.state(), fd, F_SETFD, 0));
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    /** Starts a program with {@code error} as its standard error. Returns the process's number. */
    static int spawn(List<String> command, List<String> environment, int error) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment actions = arena.allocate(FILE_ACTIONS_BYTES, 16);
            returned("posix_spawn", (int) ACTIONS_INIT.invokeExact(actions));
            try {
                returned("posix_spawn", (int) ACTIONS_DUP2.invokeExact(actions, error, STANDARD_ERROR));
                MemorySegment pid = arena.allocate(JAVA_INT);
                MemorySegment arguments = strings(arena, command);
                MemorySegment program = arena.allocateFrom(command.getFirst());
                returned("posix_spawn", (int) SPAWN.invokeExact(
                        pid, program, actions, MemorySegment.NULL, arguments, strings(arena, environment)));
                return pid.get(JAVA_INT, 0);
            } finally {
                int _ = (int) ACTIONS_DESTROY.invokeExact(actions);
            }
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    private static MemorySegment strings(Arena arena, List<String> texts) {
        MemorySegment array = arena.allocate(ADDRESS, texts.size() + 1L);
        for (int i = 0; i < texts.size(); i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(texts.get(i)));
        }
        return array; // its last pointer is null
    }

    /** Waits for the end of a process that {@link #spawn} started and that has closed its standard error. */
    static void awaitEnd(int process) throws PosixException {
        int rc;
        do {
            try {
                rc = (int) WAITPID.invokeExact(NativeCall.state(), process, MemorySegment.NULL, 0);
            } catch (Throwable t) {
                throw NativeCall.bug(t);
            }
        } while (rc < 0 && NativeCall.errno() == Errno.EINTR);
        checked("waitpid", rc);
    }

    /** The descriptor in the message that waits at {@code socket}, or -1 when there is none. The caller closes it. */
    static int receiveDescriptor(int socket) throws PosixException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(8, 8);
            MemorySegment pieces = arena.allocate(16, 8);
            pieces.set(ADDRESS, 0, text);
            pieces.set(JAVA_LONG, 8, 1);
            MemorySegment control = arena.allocate(CMSG_BYTES, 8);
            MemorySegment message = arena.allocate(MSGHDR_BYTES, 8);
            message.set(ADDRESS, 16, pieces);
            message.set(JAVA_LONG, 24, 1);
            message.set(ADDRESS, 32, control);
            message.set(JAVA_LONG, 40, CMSG_BYTES);
            long n = (long) RECVMSG.invokeExact(NativeCall.state(), socket, message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
            if (n < 0 && NativeCall.errno() != Errno.EAGAIN) {
                throw new PosixException("recvmsg", NativeCall.errno());
            }
            return n > 0 && message.get(JAVA_LONG, 40) == CMSG_BYTES ? control.get(JAVA_INT, CMSG_DATA) : -1;
        } catch (PosixException e) {
            throw e;
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    private static int checked(String call, int result) throws PosixException {
        if (result < 0) {
            throw new PosixException(call, NativeCall.errno());
        }
        return result;
    }

    /** Throws if a call returned an errno. */
    private static void returned(String call, int errno) throws PosixException {
        if (errno != 0) {
            throw new PosixException(call, errno);
        }
    }
}
