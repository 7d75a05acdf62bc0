/* For work that keeps a CPU busy for long and may wait: between begin and end the process sleeps for a moment after
 * each half millisecond of its CPU time, and whoever waits for this CPU runs. Niceness alone doesn't do that: somebody
 * who wakes up while a nice process computes often has to wait for the kernel's next tick, milliseconds away
 * (docs/BENCHMARKS.md).
 *
 * It is done by a signal (SIGRTMIN): in between nothing may be called that one would cut short, and nothing but
 * computing is what this is for. A forked child and a program started by exec know nothing of it. */
#ifndef HB_IO_CPU_YIELD_H
#define HB_IO_CPU_YIELD_H

/* Without a timer to be had the work goes on without pauses. */
void cpu_yield_begin(void);

/* No signal comes afterwards. errno stays as the work left it. */
void cpu_yield_end(void);

#endif
