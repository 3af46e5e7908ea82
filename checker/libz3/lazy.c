/* Loads libz3 when one of its functions is called first, so that a program which never asks Z3 starts
   without it.

   Looked for, in this order:
   - what the variable CAUSEWAY_LIBZ3 names, a library or its folder, and nothing else if it is set;
   - libz3.so in the folder of the program;
   - the library inside the program, if it has one: unpacked once, to the user's cache; or else
     the library that was found when the program was built;
   - the system's.

   The library of the build is not looked for by its path where it is inside the program too: the folder of
   a build may have been temporary, and anybody may make it again.

   If there is none, `Z3_get_full_version` gives "no libz3: " and the reasons in the place of a version, and
   any other function ends the program. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* BUILD_LIBRARY, CACHED_NAME, LIBRARY_HASH, LIBRARY_LENGTH, OLDEST_MAJOR, OLDEST_MINOR, OLDEST_PATCH: written by the build script. */
#include "found.h"
#include "inflate.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* The names of the functions, one after the other, and their addresses in the same order. */
extern HIDDEN const char causeway_z3_names[];
extern HIDDEN void *causeway_z3_table[];

/* The library inside the program, packed. Only the command has it; tests and benchmarks do not. */
extern HIDDEN __attribute__((weak)) const char causeway_z3_begin[];
extern HIDDEN __attribute__((weak)) const char causeway_z3_end[];

static void *library;
static char reasons[4 * PATH_MAX];

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    size_t used = strlen(reasons);
    if (used != 0 && used + 2 < sizeof reasons) {
        strcpy(reasons + used, "; ");
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reasons + used, sizeof reasons - used, format, arguments);
    va_end(arguments);
}

/* Loads a library if it is a Z3 that is new enough. */
static int load(const char *path, const char *name) {
    void *candidate = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (candidate == NULL) {
        note("%s", dlerror());
        return 0;
    }
    void (*version)(unsigned *, unsigned *, unsigned *, unsigned *);
    *(void **)&version = dlsym(candidate, "Z3_get_version");
    if (version == NULL) {
        note("`%s` is not a libz3", name);
        dlclose(candidate);
        return 0;
    }
    unsigned major, minor, patch, revision;
    version(&major, &minor, &patch, &revision);
    int new_enough = major != OLDEST_MAJOR   ? major > OLDEST_MAJOR
                     : minor != OLDEST_MINOR ? minor > OLDEST_MINOR
                                             : patch >= OLDEST_PATCH;
    if (!new_enough) {
        note("`%s` is z3 %u.%u.%u, and %d.%d.%d or newer is needed", name, major, minor, patch,
             OLDEST_MAJOR, OLDEST_MINOR, OLDEST_PATCH);
        dlclose(candidate);
        return 0;
    }
    library = candidate;
    return 1;
}

static int load_file(const char *path) { return load(path, path); }

/* What the user named. */
static void load_named(const char *name) {
    char path[PATH_MAX], file[PATH_MAX + 16];
    struct stat about;
    if (realpath(name, path) == NULL || stat(path, &about) != 0) {
        note("CAUSEWAY_LIBZ3 is `%s`: %s", name, strerror(errno));
        return;
    }
    snprintf(file, sizeof file, S_ISDIR(about.st_mode) ? "%s/libz3.so" : "%s", path);
    load_file(file);
}

static int load_beside(void) {
    char path[PATH_MAX + 16];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length <= 0 || length >= PATH_MAX) return 0;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) return 0;
    strcpy(slash + 1, "libz3.so");
    return access(path, F_OK) == 0 && load_file(path);
}

/* Whether nobody else may have written it. */
static int is_mine(const char *path, mode_t kind) {
    struct stat about;
    return lstat(path, &about) == 0 && (about.st_mode & S_IFMT) == kind &&
           about.st_uid == geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
           (kind == S_IFDIR || about.st_size == LIBRARY_LENGTH);
}

/* Whether a file has the bytes of the library: a disk that was full, or lost its power, may have others of the same
   length. The same hash as that of the build script. */
static int is_whole(const char *path) {
    size_t length = LIBRARY_LENGTH;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    struct stat about;
    if (fstat(file, &about) != 0 || about.st_size != LIBRARY_LENGTH) {
        close(file);
        return 0;
    }
    const unsigned char *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return 0;
    uint64_t hash = length;
    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, length - at < 8 ? length - at : 8);
        hash ^= word;
        hash = (hash << 23 | hash >> 41) * 0x100000001b3u;
    }
    munmap((void *)bytes, length);
    return hash == LIBRARY_HASH;
}

/* What runs that were killed left in the folder; a younger file may belong to one that still writes. */
static void remove_unfinished(const char *folder) {
    DIR *entries = opendir(folder);
    if (entries == NULL) return;
    time_t now = time(NULL);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        struct stat about;
        if (strncmp(entry->d_name, "unfinished-", 11) == 0 &&
            fstatat(dirfd(entries), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - about.st_mtime > 3600) {
            unlinkat(dirfd(entries), entry->d_name, 0);
        }
    }
    closedir(entries);
}

/* Unpacks the library into a file. */
static int write_library(int file) {
    size_t packed = (size_t)(causeway_z3_end - causeway_z3_begin);
    uint8_t *bytes = mmap(NULL, LIBRARY_LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return 0;
    int whole = inflate((const uint8_t *)causeway_z3_begin, packed, bytes, LIBRARY_LENGTH);
    for (size_t at = 0; whole && at < LIBRARY_LENGTH;) {
        ssize_t written = write(file, bytes + at, LIBRARY_LENGTH - at);
        if (written < 0 && errno == EINTR) continue;
        whole = written > 0;
        at += whole ? (size_t)written : 0;
    }
    munmap(bytes, LIBRARY_LENGTH);
    return whole;
}

/* The library in the user's cache, put there if it is not. */
static int load_cached(void) {
    char folder[PATH_MAX], path[PATH_MAX + 64], unfinished[PATH_MAX + 64];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache != NULL && cache[0] == '/') {
        length = snprintf(folder, sizeof folder, "%s", cache);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(folder, sizeof folder, "%s/.cache", home);
    } else {
        return 0;
    }
    if (length >= PATH_MAX - 16) return 0;
    mkdir(folder, 0700);
    strcpy(folder + length, "/causeway");
    mkdir(folder, 0700);
    if (!is_mine(folder, S_IFDIR)) return 0;
    snprintf(path, sizeof path, "%s/" CACHED_NAME, folder);
    if (!is_mine(path, S_IFREG) || !is_whole(path)) {
        remove_unfinished(folder);
        /* Renamed when it is whole: another run never sees half of it. */
        snprintf(unfinished, sizeof unfinished, "%s/unfinished-XXXXXX", folder);
        int file = mkostemp(unfinished, O_CLOEXEC);
        if (file < 0) return 0;
        int whole = write_library(file) && fchmod(file, 0500) == 0 && fsync(file) == 0;
        whole = close(file) == 0 && whole && is_whole(unfinished);
        if (!whole || rename(unfinished, path) != 0) {
            unlink(unfinished);
            return 0;
        }
    }
    return load_file(path);
}

/* Where nothing can be kept, or nothing there be executed. */
static int load_from_memory(void) {
    char path[64];
    int file = memfd_create("libz3.so", MFD_CLOEXEC);
    if (file < 0) {
        note("memory for the library inside the program: %s", strerror(errno));
        return 0;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int loaded = write_library(file) && is_whole(path) && load(path, "the library inside the program");
    close(file);
    return loaded;
}

static void find(void) {
    const char *named = getenv("CAUSEWAY_LIBZ3");
    if (named != NULL && named[0] != '\0') {
        load_named(named);
        return;
    }
    if (load_beside()) return;
    if (causeway_z3_begin != NULL) {
        if (load_cached() || load_from_memory()) return;
    } else if (load_file(BUILD_LIBRARY)) {
        return;
    }
    load_file("libz3.so");
}

/* As plain text: a path may hold anything. */
static const char *no_version(void) {
    static char answer[sizeof reasons + 16];
    snprintf(answer, sizeof answer, "no libz3: %s", reasons);
    for (char *at = answer; *at != '\0'; at++)
        if (*at < ' ' || *at > '~') *at = '?';
    return answer;
}

/* The address of the function with this place in the table, which is put there. */
HIDDEN void *causeway_z3_resolve(unsigned index) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    const char *name = causeway_z3_names;
    for (unsigned place = 0; place < index; place++) name += strlen(name) + 1;
    if (library == NULL && strcmp(name, "Z3_get_full_version") == 0) return (void *)no_version;
    void *function = library == NULL ? NULL : dlsym(library, name);
    if (function == NULL) {
        fprintf(stderr, "error: `%s` of z3 cannot be called: %s\n", name,
                library == NULL ? reasons : dlerror());
        _exit(2);
    }
    /* Another thread may be here too, and writes the same. */
    __atomic_store_n(&causeway_z3_table[index], function, __ATOMIC_RELEASE);
    return function;
}

/* An output that is closed when the program starts (`>&-`) is one that nobody reads: a pipe without a
   reader. It has nothing to do with Z3, and can be seen nowhere else: before `main`, Rust opens /dev/null in
   its place, and the program would believe that all it says was written. */
__attribute__((constructor)) static void closed_output(void) {
    int ends[2];
    if (fcntl(STDOUT_FILENO, F_GETFD) != -1 || errno != EBADF || pipe(ends) != 0) {
        return;
    }
    if (ends[1] == STDOUT_FILENO) {
        close(ends[0]);
        return;
    }
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    if (ends[0] != STDOUT_FILENO) {
        close(ends[0]);
    }
}
