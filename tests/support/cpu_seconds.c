/* cpu_seconds FILE COMMAND…: runs the command and ends with its exit status. Appends a line `USER SYSTEM` to FILE: the
 * CPU seconds of the command and of all processes that it started. Background servers count once they have ended: this
 * process becomes their parent when their own parents end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void append(const char *path)
{
    struct rusage used;
    FILE *file = fopen(path, "ae");
    if (!file) {
        perror(path);
        return;
    }
    getrusage(RUSAGE_CHILDREN, &used);
    fprintf(file, "%.1f %.1f\n", seconds(used.ru_utime), seconds(used.ru_stime));
    fclose(file);
}

int main(int argc, char **argv)
{
    int status, other;
    pid_t ended;
    if (argc < 3) {
        fputs("usage: cpu_seconds FILE COMMAND…\n", stderr);
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 2;
    }
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    signal(SIGINT, SIG_IGN); /* the command has it too, and ends */
    do {
        ended = waitpid(-1, &status, 0);
    } while (ended != child);
    while (waitpid(-1, &other, WNOHANG) > 0) {
    }
    append(argv[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
