/* Tells how much processor time a process has used, in nanoseconds, all its threads together,
 * those that have ended too: for each process id on stdin one number on stdout.
 *
 * /proc counts in hundredths of a second, or forgets threads that have ended; the kernel's clock
 * of a process does neither.
 */
#include <stdio.h>
#include <time.h>

int main(void)
{
    int pid;
    while (scanf("%d", &pid) == 1) {
        clockid_t clock;
        struct timespec used;
        if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
            return 1;
        printf("%lld\n", used.tv_sec * 1000000000LL + used.tv_nsec);
        fflush(stdout);
    }
    return 0;
}
