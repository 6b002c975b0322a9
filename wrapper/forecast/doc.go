// Package forecast says how long the tasks of a plan will take together, by simulating
// their schedule many times.
//
// A simulation follows the rules of package wrapper: groups by order, the longest task first,
// slots, memory, and the limits of targets. How long a task takes is drawn from a log-normal
// distribution with the two percentiles of its estimate, as durations of programs mostly have
// (Limpert, Stahel and Abbt, "Log-normal Distributions across the Sciences", 2001), and is at
// most its time limit.
//
// It does not know of second attempts, of runs on base, of other processes that use the same
// targets, and of machines that are slow for all tasks at once: the spread of real runs is
// somewhat larger. A forecast decides nothing.
package forecast
