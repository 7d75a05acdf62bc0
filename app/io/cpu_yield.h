/* Lets other processes use the CPU during a long computation (password hashing). Between cpu_yield_begin and
 * cpu_yield_end a timer checks every half millisecond, and the process sleeps for about 60 us if it has used at least a
 * quarter of a millisecond of CPU time since its last sleep. A waiting process gets the CPU then. Niceness alone is not
 * enough: a process that becomes ready while a nice process computes often waits for the kernel's next tick, several
 * milliseconds (docs/BENCHMARKS.md).
 *
 * The timer sends SIGRTMIN to the process. Between begin and end, only compute: do not make system calls that a signal
 * can interrupt. The timer is not inherited by a forked child or over exec. One use at a time per process. */
#ifndef HB_IO_CPU_YIELD_H
#define HB_IO_CPU_YIELD_H

/* Starts the timer. If the kernel refuses one, the work runs without pauses. */
void cpu_yield_begin(void);

/* Stops the timer: no signal arrives after this returns. errno is unchanged. */
void cpu_yield_end(void);

#endif
