/*
 * The floor: the work of one fire, done in C with nothing around it.
 *
 * usage: floor pipe|socket[-asked] FOLDER PAYLOAD PROGRAM [WORD...]
 *
 * With -asked, another process does the work: each fire is a message of one byte there, and one back.
 *
 * Each line on standard input is a number of fires; the answer is one line with the nanoseconds of each.
 * A fire: three pipes or socket pairs, the payload written, vfork, setsid, chdir, exec, then poll on both
 * outputs and a pidfd, what was written is kept, the child is waited for, everything is closed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char payload[4096];
static size_t payload_size;
static int sockets;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void pair(int ends[2]) /* the first is read, the second written */
{
    int failed = sockets ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) : pipe2(ends, O_CLOEXEC);

    if (failed)
        die("pair");
}

static int drain(int fd, char *kept, size_t *size) /* false at the end of the stream */
{
    ssize_t got;

    while ((got = read(fd, kept, 65536)) > 0)
        *size += (size_t)got;
    return got < 0 && errno == EAGAIN;
}

static void fire(const char *folder, char **words)
{
    static char kept[65536];
    size_t size = 0;
    int in[2], out[2], err[2];

    pair(in);
    pair(out);
    pair(err);
    if (write(in[1], payload, payload_size) != (ssize_t)payload_size)
        die("write");
    if (sockets)
        shutdown(in[1], SHUT_WR);
    else
        close(in[1]);
    pid_t pid = vfork();
    if (pid < 0)
        die("vfork");
    if (pid == 0) {
        setsid();
        if (chdir(folder) || dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0)
            _exit(127);
        execve(words[0], words, environ);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);

    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        die("pidfd_open");
    struct pollfd watched[3] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}, {pidfd, POLLIN, 0}};
    while (!(watched[2].revents & POLLIN)) {
        if (poll(watched, 3, 60000) <= 0)
            die("poll");
        for (int each = 0; each < 2; each++)
            if (watched[each].revents && !drain(watched[each].fd, kept, &size))
                watched[each].fd = -1; /* poll skips it from now on */
    }
    drain(out[0], kept, &size);
    drain(err[0], kept, &size);

    int status;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) != pid)
        die("wait4");
    close(pidfd);
    close(out[0]);
    close(err[0]);
    if (sockets)
        close(in[1]);
}

/* Fork a process that fires once for each byte from a socket, and answers with one; returns our end. */
static int start_supervisor(const char *folder, char **words)
{
    int ends[2];
    char byte;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        die("socketpair");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid > 0) {
        close(ends[1]);
        return ends[0];
    }
    close(ends[0]);
    while (read(ends[1], &byte, 1) == 1) {
        fire(folder, words);
        if (write(ends[1], &byte, 1) != 1)
            die("write");
    }
    _exit(0);
}

static long long now(void)
{
    struct timespec seen;

    clock_gettime(CLOCK_MONOTONIC, &seen);
    return seen.tv_sec * 1000000000LL + seen.tv_nsec;
}

int main(int count, char **words)
{
    char line[32];

    if (count < 5 || strlen(words[3]) > sizeof payload)
        return 2;
    sockets = strncmp(words[1], "socket", 6) == 0;
    payload_size = strlen(words[3]);
    memcpy(payload, words[3], payload_size);
    int supervisor = strstr(words[1], "-asked") ? start_supervisor(words[2], words + 4) : -1;
    while (fgets(line, sizeof line, stdin)) {
        for (int left = atoi(line); left > 0; left--) {
            long long began = now();
            char byte = 0;
            if (supervisor < 0)
                fire(words[2], words + 4);
            else if (write(supervisor, &byte, 1) != 1 || read(supervisor, &byte, 1) != 1)
                die("the other process");
            printf("%lld ", now() - began);
        }
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}
