// Each test runs in a process of its own, so a test that faults or never ends costs no other test. The process that starts them does
// not use the GPU. This part is C, too: it can be compiled without CUDA.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT ((long)(sizeof(TESTS) / sizeof(TESTS[0])))

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Whether a process has ended within some seconds, and with what.
static int ended(pid_t process, double seconds, int *status) {
    const double until = now() + seconds;
    for (;;) {
        pid_t which = waitpid(process, status, WNOHANG);
        if (which == process) return 1;
        if (which < 0 && errno != EINTR) return 0;
        if (now() >= until) return 0;
        struct timespec pause = {0, 5 * 1000 * 1000};
        nanosleep(&pause, NULL);
    }
}

// Runs a test in another process. Whether it came to its end.
static int apart(long test, const char *program, const char *runs, const char *seed, double seconds) {
    char index[32];
    snprintf(index, sizeof index, "%ld", test);
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        char *arguments[] = {(char *)program, (char *)"--only", index, (char *)runs, (char *)seed, NULL};
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    int status = 0;
    if (process < 0) {
        printf("Not run %s: no process could be started\n\n", TESTS[test].name);
    } else if (!ended(process, seconds, &status)) {
        kill(process, SIGKILL);
        // Where the driver does not let it go, the next test is tried all the same.
        ended(process, 10, &status);
        printf("Hung %s: no end within %.0f s\n\n", TESTS[test].name, seconds);
    } else if (WIFSIGNALED(status)) {
        printf("Faulted %s: signal %d\n\n", TESTS[test].name, WTERMSIG(status));
    } else if (WEXITSTATUS(status) == 127) {
        printf("Not run %s: the program could not start itself\n\n", TESTS[test].name);
    } else if (WEXITSTATUS(status) != 0) {
        // Code 2 has said why.
        if (WEXITSTATUS(status) != 2) printf("Faulted %s: exit code %d\n\n", TESTS[test].name, WEXITSTATUS(status));
    } else {
        return 1;
    }
    return 0;
}

int main(int count, char **arguments) {
    // Seconds for each test, and for all; 0 is no limit.
    double deadline = 60, total = 0;
    int at = 1;
    if (count == 5 && strcmp(arguments[1], "--only") == 0) {
        const long test = atol(arguments[2]);
        if (test < 0 || test >= COUNT) return 127;
        TESTS[test].run(atol(arguments[3]), (unsigned)atol(arguments[4]));
        return 0;
    }
    for (; at + 1 < count && strncmp(arguments[at], "--", 2) == 0; at += 2) {
        if (strcmp(arguments[at], "--deadline") == 0) deadline = atof(arguments[at + 1]);
        else if (strcmp(arguments[at], "--total") == 0) total = atof(arguments[at + 1]);
        else break;
    }
    if (at < count && strncmp(arguments[at], "--", 2) == 0) {
        fprintf(stderr, "usage: %s [--deadline SECONDS] [--total SECONDS] [RUNS [SEED [NAME...]]]\n", arguments[0]);
        return 2;
    }
    const char *runs = at < count ? arguments[at] : "1000";
    const char *seed = at + 1 < count ? arguments[at + 1] : "1";
    const double start = now();
    int all = 1;
    for (long test = 0; test < COUNT; test++) {
        int wanted = count <= at + 2;
        for (int i = at + 2; i < count; i++) wanted |= strcmp(arguments[i], TESTS[test].name) == 0;
        if (!wanted) continue;
        double seconds = deadline > 0 ? deadline : 1e9;
        const double left = total > 0 ? start + total - now() : 1e9;
        if (left <= 0) {
            printf("Not run %s: the time of all tests is over\n\n", TESTS[test].name);
            all = 0;
            continue;
        }
        if (left < seconds) seconds = left;
        all &= apart(test, arguments[0], runs, seed, seconds);
    }
    return all ? 0 : 1;
}
