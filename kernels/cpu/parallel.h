/*
 * parallel.h - OpenMP, or nothing where the compiler has none.
 *
 * PARALLEL(q, worth)	the statement that follows runs on all of the queue's threads, or on one where WORTH is false
 * SHARE		the loop that follows is divided among them, a block each; they wait for each other at its end
 * SHARE_UNEVEN		the same for iterations of unequal length; whoever is free takes the next
 * PARALLEL_LOOP(q, worth) both in one
 * PARALLEL_SELF()	which thread this is, from 0
 */
#ifndef KERNELS_CPU_PARALLEL_H
#define KERNELS_CPU_PARALLEL_H

#ifdef _OPENMP
#include <omp.h>
#define PARALLEL_PRAGMA(text) _Pragma(#text)
#define PARALLEL(q, worth) PARALLEL_PRAGMA(omp parallel num_threads((q)->threads) if(worth))
#define SHARE PARALLEL_PRAGMA(omp for schedule(static))
#define SHARE_UNEVEN PARALLEL_PRAGMA(omp for schedule(dynamic))
#define PARALLEL_LOOP(q, worth) PARALLEL_PRAGMA(omp parallel for schedule(static) num_threads((q)->threads) if(worth))
#define PARALLEL_SELF() omp_get_thread_num()
#else
#define PARALLEL_SELF() 0
#define PARALLEL(q, worth) (void)(q);
#define SHARE
#define SHARE_UNEVEN
#define PARALLEL_LOOP(q, worth) (void)(q);
#endif

#endif
