/*
 * Threads that read and compare all the time: stress_crowd THREADS SEED
 *
 * Lines that come in:
 *   mount M POINT             a mount, by its number
 *   file I PATH               a file below each mount, by its number
 *   next M SEED SIZE ...      what each file has that M lists from now on; what it listed before is right as well until
 *   settled M
 *   order M I I ...           one thread reads these files of M, one after the other
 *   pace N                    reads a second, all threads together; 0 is none
 *   stop
 * Lines that go out, numbers only but for the mode; times are CLOCK_MONOTONIC in ns, as Java's nanoTime:
 *   did READS BYTES LONGEST DROPPED BY_MODE...              since the last such line, every second
 *   failed M I MODE OFFSET LENGTH START END LONGEST ERRNO
 *   wrong M I MODE OFFSET LENGTH START END LONGEST SIZE GOT AT HEX   bytes from AT on are wrong; AT is -1 where a size or length is
 *   slow M I MODE OFFSET LENGTH START                       a read that is under way for longer than it is without a fault
 *   hang M I MODE OFFSET LENGTH START                       one that is longer under way than any may be
 *   long M I MODE OFFSET LENGTH START END LONGEST CALL      it ended: its longest call, and which
 *   ended
 * The word number k of a content is a mixture of its seed and k (FileContent.java), so nothing is looked up to compare.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOUNTS = 4, FILES = 4096, THREADS = 64, ROOM = 1 << 20, LONGEST_READ = 200000, BIG = 4 << 20, SMALL = 20000, PAGE = 4096 };
enum mode { PREAD, MMAP, DIRECT, SEEK, WHOLE, MODES };
static const char *const NAMES[] = {"pread", "mmap", "direct", "seek", "whole"};
static const int64_t SLOW_NS = 3000000000LL, LONG_NS = 8000000000LL, HANG_NS = 25000000000LL, SECOND = 1000000000LL;
static const long PAUSE_AFTER_FAILURE_NS = 5000000;
/* So many more of eight reads are whole ones, as a trainer's. */
enum { MORE_WHOLE = 3 };
static const int DROP_ONE_IN = 8;

struct content { uint64_t seed; int64_t size; };
/* Never freed: a thread may still compare with it. */
struct listing { int files; struct content of[]; };
struct order { int mount, length, at; int files[]; };

static char *points[MOUNTS], *files[FILES];
static int mounts, file_count, threads;
/* A mount that is just being mounted again is tried now and then only, if there is another. */
static int64_t gone_until[MOUNTS];
static const int64_t GONE_NS = 50000000;
static struct listing *now_listed[MOUNTS], *before_listed[MOUNTS];
static struct order *trainer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, out = PTHREAD_MUTEX_INITIALIZER;
static atomic_int pace, stopped, read_out;
static int64_t next_ns;

struct reader {
    pthread_t thread;
    uint64_t random;
    char *buffer;
    /* Under its lock: what is under way, and what was done since it was last told. */
    pthread_mutex_t lock;
    int busy, told, mount, file;
    enum mode mode;
    int64_t offset, length, start;
    int64_t reads, bytes, longest, dropped, by_mode[MODES];
};
static struct reader readers[THREADS];

static _Thread_local sigjmp_buf no_page;
static _Thread_local volatile int touching;

static void bus(int signal) {
    if (touching) siglongjmp(no_page, 1);
    _exit(128 + signal);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void pause_ns(int64_t ns) {
    struct timespec t = {ns / SECOND, ns % SECOND};
    nanosleep(&t, NULL);
}

static uint64_t mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static const uint64_t STEP = 0x9e3779b97f4a7c15ULL;

static uint64_t word(uint64_t seed, int64_t k) { return mixed(seed + STEP * (uint64_t)(k + 1)); }

static uint64_t any(struct reader *r, uint64_t below) { return mixed(r->random += STEP) % below; }

/* Where the bytes differ from what the content has at this offset; -1 is nowhere. */
static int64_t differs(uint64_t seed, int64_t offset, const char *got, int64_t length) {
    int64_t i = 0;
    while (i < length) {
        int64_t at = offset + i;
        uint64_t w = word(seed, at >> 3);
        if ((at & 7) == 0 && length - i >= 8) {
            uint64_t g;
            memcpy(&g, got + i, 8);
            if (g == w) { i += 8; continue; }
        }
        if ((unsigned char)got[i] != (unsigned char)(w >> (8 * (at & 7)))) return i;
        i++;
    }
    return -1;
}

/* The name of this thread's longest call, for who wonders about it. */
static _Thread_local const char *longest_is;

/* One call of the system, timed. */
#define TIMED(name, call) \
    ({ \
        int64_t began = now(); \
        __auto_type rc = (call); \
        int64_t took = now() - began; \
        if (took > *longest) *longest = took, longest_is = name; \
        rc; \
    })

struct result { int64_t size, offset, got; };

static int read_range(struct reader *r, int fd, int64_t offset, int64_t length, struct result *result, int64_t *longest) {
    result->got = 0;
    while (result->got < length) {
        ssize_t n = TIMED("pread", pread(fd, r->buffer + result->got, length - result->got, offset + result->got));
        if (n < 0) return errno;
        if (n == 0) return 0;
        result->got += n;
        if (r->mode == DIRECT && n % PAGE) return 0; /* the file's end */
    }
    return 0;
}

static int read_backwards(struct reader *r, int fd, int64_t offset, int64_t end, struct result *result, int64_t *longest) {
    result->got = 0;
    for (int64_t piece = end; piece > offset;) {
        int64_t begin = piece - 4097 > offset ? piece - 4097 : offset, got = 0;
        lseek(fd, begin, SEEK_SET);
        while (got < piece - begin) {
            ssize_t n = TIMED("read", read(fd, r->buffer + (begin - offset) + got, piece - begin - got));
            if (n < 0) return errno;
            if (n == 0) return 0;
            got += n;
        }
        result->got += got;
        piece = begin;
    }
    return 0;
}

static int read_mapped(struct reader *r, int fd, int64_t offset, int64_t end, struct result *result, int64_t *longest) {
    result->got = 0;
    if (end <= offset) return 0;
    char *pages = mmap(NULL, result->size, PROT_READ, any(r, 2) ? MAP_SHARED : MAP_PRIVATE, fd, 0);
    if (pages == MAP_FAILED) return errno;
    volatile int rc = 0;
    if (sigsetjmp(no_page, 1) == 0) {
        touching = 1;
        for (int64_t at = offset; at < end;) {
            int64_t stop = (at / PAGE + 1) * PAGE < end ? (at / PAGE + 1) * PAGE : end;
            TIMED("touch", (memcpy(r->buffer + (at - offset), pages + at, stop - at), 0));
            at = stop;
        }
        result->got = end - offset;
    } else {
        rc = EFAULT;
    }
    touching = 0;
    munmap(pages, result->size);
    return rc;
}

/* In whole pages; what was not asked for is compared as well. */
static int read_direct(struct reader *r, int fd, int64_t offset, int64_t length, struct result *result, int64_t *longest) {
    result->offset = offset / PAGE * PAGE;
    return read_range(r, fd, result->offset, (offset + length - result->offset + PAGE - 1) / PAGE * PAGE, result, longest);
}

static int read_as(struct reader *r, const char *path, struct result *result, int64_t *longest) {
    int fd = TIMED("open", open(path, O_RDONLY | O_CLOEXEC | (r->mode == DIRECT ? O_DIRECT : 0)));
    if (fd < 0) return errno;
    struct stat status;
    int rc = TIMED("fstat", fstat(fd, &status)) ? errno : 0;
    if (rc == 0) {
        result->size = status.st_size;
        result->offset = r->offset;
        int64_t end = r->offset + r->length < result->size ? r->offset + r->length : result->size;
        switch (r->mode) {
            case PREAD: rc = read_range(r, fd, r->offset, r->length, result, longest); break;
            case MMAP: rc = read_mapped(r, fd, r->offset, end, result, longest); break;
            case DIRECT: rc = read_direct(r, fd, r->offset, r->length, result, longest); break;
            case SEEK: rc = read_backwards(r, fd, r->offset, end, result, longest); break;
            default: rc = read_range(r, fd, 0, ROOM, result, longest); break;
        }
    }
    close(fd);
    return rc;
}

/* Whether an answer is the content's, all of it; else where it is not. */
static int is(const struct reader *r, const struct content *content, const struct result *result, int64_t *at) {
    int64_t wanted = r->mode == WHOLE ? ROOM : r->offset + r->length - result->offset;
    if (r->mode == DIRECT) wanted = (wanted + PAGE - 1) / PAGE * PAGE;
    int64_t there = content->size - result->offset < 0 ? 0 : content->size - result->offset;
    *at = -1;
    if (result->size != content->size || result->got != (there < wanted ? there : wanted)) return 0;
    *at = differs(content->seed, result->offset, r->buffer, result->got);
    return *at < 0;
}

static int give_back(struct reader *r, const char *path) {
    int fd = any(r, DROP_ONE_IN) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return 1;
}

static void say_read(const struct reader *r, const char *what, int64_t end, int64_t longest) {
    printf("%s %d %d %s %lld %lld %lld %lld %lld", what, r->mount, r->file, NAMES[r->mode], (long long)r->offset,
            (long long)r->length, (long long)r->start, (long long)end, (long long)longest);
}

static void say_wrong(const struct reader *r, const struct result *result, int64_t at, int64_t end, int64_t longest) {
    int64_t first = at < 0 ? 0 : at - (result->offset + at) % 8;
    first = first < 0 ? 0 : first;
    pthread_mutex_lock(&out);
    say_read(r, "wrong", end, longest);
    printf(" %lld %lld %lld x", (long long)result->size, (long long)result->got, (long long)(at < 0 ? -1 : result->offset + first));
    for (int64_t i = first; at >= 0 && i < first + 32 && i < result->got; i++) printf("%02x", (unsigned char)r->buffer[i]);
    printf("\n");
    fflush(stdout);
    pthread_mutex_unlock(&out);
}

/* Takes what is to be read; what it takes from is locked. Returns whether there is anything. */
static int choose(struct reader *r) {
    if (trainer && r == &readers[0]) {
        r->mount = trainer->mount;
        r->file = trainer->files[trainer->at++];
        r->mode = WHOLE;
        if (trainer->at == trainer->length) trainer = NULL;
    } else {
        r->mount = (int)any(r, mounts);
        if (now() < gone_until[r->mount] && any(r, 16)) r->mount = (r->mount + 1) % mounts;
        r->file = (int)any(r, file_count);
        r->mode = (enum mode)any(r, MODES + MORE_WHOLE);
        if (r->mode >= MODES) r->mode = WHOLE;
    }
    struct listing *listed = now_listed[r->mount];
    if (!listed) return 0;
    int64_t size = listed->of[r->file].size;
    if (size > BIG && (r->mode == WHOLE || r->mode == SEEK)) r->mode = PREAD;
    r->offset = r->mode == WHOLE ? 0 : (int64_t)any(r, size + 10);
    r->length = r->mode == WHOLE ? ROOM : 1 + (int64_t)any(r, any(r, 8) ? SMALL : LONGEST_READ);
    return 1;
}

static void read_once(struct reader *r) {
    const struct listing *may[4];
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&r->lock);
    int found = mounts > 0 && file_count > 0 && choose(r);
    if (found) {
        may[0] = now_listed[r->mount];
        may[1] = before_listed[r->mount];
        r->start = now();
        r->busy = 1;
        r->told = 0;
    }
    pthread_mutex_unlock(&r->lock);
    pthread_mutex_unlock(&lock);
    if (!found) {
        pause_ns(SECOND / 100);
        return;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", points[r->mount], files[r->file]);
    struct result result = {0, 0, 0};
    int64_t longest = 0, at = -1, first_at = -1;
    int dropped = r->mode != DIRECT && give_back(r, path);
    int rc = read_as(r, path, &result, &longest);
    int64_t end = now();
    pthread_mutex_lock(&lock);
    may[2] = now_listed[r->mount];
    may[3] = before_listed[r->mount];
    pthread_mutex_unlock(&lock);
    int right = 0;
    for (int i = 0; rc == 0 && !right && i < 4; i++) {
        right = may[i] && is(r, &may[i]->of[r->file], &result, &at);
        first_at = first_at < 0 ? at : first_at;
    }
    pthread_mutex_lock(&r->lock);
    r->busy = 0;
    r->dropped += dropped;
    if (longest > r->longest) r->longest = longest;
    if (right) {
        r->reads++;
        r->bytes += result.got;
        r->by_mode[r->mode]++;
    }
    pthread_mutex_unlock(&r->lock);
    if (longest > LONG_NS) {
        pthread_mutex_lock(&out);
        say_read(r, "long", end, longest);
        printf(" %s\n", longest_is);
        fflush(stdout);
        pthread_mutex_unlock(&out);
    }
    if (rc == ENOENT || rc == ENOTCONN || rc == ECONNABORTED) {
        pthread_mutex_lock(&lock);
        gone_until[r->mount] = end + GONE_NS;
        pthread_mutex_unlock(&lock);
    }
    if (rc) {
        pthread_mutex_lock(&out);
        say_read(r, "failed", end, longest);
        printf(" %d\n", rc);
        fflush(stdout);
        pthread_mutex_unlock(&out);
        pause_ns(PAUSE_AFTER_FAILURE_NS);
    } else if (!right) {
        say_wrong(r, &result, first_at, end, longest);
    }
}

/* Waits until this thread's turn has come; what was missed for more than a second is not made up for. */
static void await_turn(void) {
    int each = atomic_load(&pace);
    if (each == 0) {
        pause_ns(SECOND / 100);
        return;
    }
    pthread_mutex_lock(&lock);
    int64_t at = now(), mine = next_ns > at - SECOND ? next_ns : at - SECOND;
    next_ns = mine + SECOND / each;
    pthread_mutex_unlock(&lock);
    if (mine > at) pause_ns(mine - at);
}

static void *run(void *argument) {
    struct reader *r = argument;
    while (!atomic_load(&stopped)) {
        await_turn();
        if (atomic_load(&pace) && !atomic_load(&stopped)) read_once(r);
    }
    return NULL;
}

static void tell(void) {
    int64_t reads = 0, bytes = 0, longest = 0, dropped = 0, by_mode[MODES] = {0};
    pthread_mutex_lock(&out);
    for (int i = 0; i < threads; i++) {
        struct reader *r = &readers[i];
        pthread_mutex_lock(&r->lock);
        reads += r->reads, bytes += r->bytes, dropped += r->dropped;
        longest = r->longest > longest ? r->longest : longest;
        for (int m = 0; m < MODES; m++) by_mode[m] += r->by_mode[m];
        r->reads = r->bytes = r->longest = r->dropped = 0;
        memset(r->by_mode, 0, sizeof r->by_mode);
        int64_t takes = r->busy ? now() - r->start : 0;
        if (takes > (r->told ? HANG_NS : SLOW_NS) && r->told < 2) {
            r->told = takes > HANG_NS ? 2 : 1;
            printf("%s %d %d %s %lld %lld %lld\n", takes > HANG_NS ? "hang" : "slow", r->mount, r->file, NAMES[r->mode],
                    (long long)r->offset, (long long)r->length, (long long)r->start);
        }
        pthread_mutex_unlock(&r->lock);
    }
    printf("did %lld %lld %lld %lld", (long long)reads, (long long)bytes, (long long)longest, (long long)dropped);
    for (int m = 0; m < MODES; m++) printf(" %lld", (long long)by_mode[m]);
    printf("\n");
    fflush(stdout);
    pthread_mutex_unlock(&out);
}

static void *tell_on(void *none) {
    while (!atomic_load(&read_out)) {
        pause_ns(SECOND);
        tell();
    }
    return none;
}

static void obey(char *line) {
    char *rest, *what = strtok_r(line, " \n", &rest);
    char *number = strtok_r(NULL, " \n", &rest);
    int n = number ? atoi(number) : 0;
    if (!what) return;
    pthread_mutex_lock(&lock);
    if (!strcmp(what, "pace")) {
        atomic_store(&pace, n);
    } else if (!strcmp(what, "mount")) {
        points[n] = strdup(strtok_r(NULL, "\n", &rest));
        mounts = n + 1;
    } else if (!strcmp(what, "file")) {
        files[n] = strdup(strtok_r(NULL, "\n", &rest));
        file_count = n + 1;
    } else if (!strcmp(what, "next")) {
        struct listing *listed = calloc(1, sizeof *listed + file_count * sizeof listed->of[0]);
        for (listed->files = 0; listed->files < file_count; listed->files++) {
            listed->of[listed->files].seed = (uint64_t)strtoll(strtok_r(NULL, " \n", &rest), NULL, 10);
            listed->of[listed->files].size = strtoll(strtok_r(NULL, " \n", &rest), NULL, 10);
        }
        before_listed[n] = now_listed[n];
        now_listed[n] = listed;
    } else if (!strcmp(what, "settled")) {
        before_listed[n] = NULL;
    } else if (!strcmp(what, "order")) {
        struct order *order = calloc(1, sizeof *order + strlen(rest) * sizeof order->files[0]);
        order->mount = n;
        for (char *file; (file = strtok_r(NULL, " \n", &rest));) order->files[order->length++] = atoi(file);
        trainer = order->length ? order : NULL;
    } else if (!strcmp(what, "stop")) {
        atomic_store(&stopped, 1);
    }
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct sigaction action = {.sa_handler = bus, .sa_flags = SA_NODEFER};
    sigaction(SIGBUS, &action, NULL);
    threads = atoi(argv[1]) < THREADS ? atoi(argv[1]) : THREADS;
    for (int i = 0; i < threads; i++) {
        readers[i].random = mixed((uint64_t)atoll(argv[2]) + i);
        pthread_mutex_init(&readers[i].lock, NULL);
        if (posix_memalign((void **)&readers[i].buffer, PAGE, ROOM + PAGE)) return 1;
        if (pthread_create(&readers[i].thread, NULL, run, &readers[i])) return 1;
    }
    pthread_t teller;
    if (pthread_create(&teller, NULL, tell_on, NULL)) return 1;
    char *line = NULL;
    size_t room = 0;
    while (!atomic_load(&stopped) && getline(&line, &room, stdin) > 0) obey(line);
    if (!atomic_load(&stopped)) _exit(1); /* the tester is gone */
    for (int i = 0; i < threads; i++) pthread_join(readers[i].thread, NULL);
    atomic_store(&read_out, 1);
    pthread_join(teller, NULL);
    tell();
    printf("ended\n");
    fflush(stdout);
    _exit(0);
}
