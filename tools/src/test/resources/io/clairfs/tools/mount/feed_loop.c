/* Reads the files of a list, each into the same buffer. Prints files per second, of the best of three rounds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    static char line[4096];
    int count = 0, room = 1 << 20;
    char **paths = malloc(room * sizeof *paths);
    FILE *list = fopen(argv[1], "r");
    size_t bytes = atol(argv[2]);
    char *buffer = malloc(bytes);
    while (count < room && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = 0;
        paths[count++] = strdup(line);
    }
    double best = 0;
    for (int round = 0; round < 3; round++) {
        double begin = now();
        for (int i = 0; i < count; i++) {
            int fd = open(paths[i], O_RDONLY);
            if (fd < 0 || read(fd, buffer, bytes) != (ssize_t) bytes) {
                perror(paths[i]);
                return 1;
            }
            close(fd);
        }
        double rate = count / (now() - begin);
        best = rate > best ? rate : best;
    }
    printf("%.0f\n", best);
    return 0;
}
