// Package lease limits how many tasks use the same thing at once, and how many start in
// a period, over all processes and machines that share a state.
//
//	err := lease.Hold(ctx, store, []lease.Limit{{Key: "aws/app-sre", Max: 2}}, run)
//
// A [Limit] has a number of places. A task holds a place by a [Lease] and gives a sign of
// life every sixth of the lease's TTL (time to live).
//
//   - When a holder dies, its place becomes free: a task that waits takes the place when
//     it has seen no sign of life of the holder for one TTL.
//   - The clocks of machines are never compared for a place. A task that waits measures with
//     its own clock. So the clocks need not agree; they need only run at about the same speed.
//   - A holder that could not give a sign of life for half a TTL has lost its lease.
//     [Hold] then ends the context of the task, which has the other half of the TTL to
//     stop. A task that takes longer to stop may run beside the next holder. So may a task
//     that is frozen together with its process and continues later.
//   - For a [Rate], each process writes down when its tasks started, by its own clock. If
//     two clocks differ by d, the period may be shorter by d. A time that is more than a
//     minute ahead counts as now.
//   - A [Bucket] limits by tokens: its document says only when the bucket is full again. A
//     process takes its tokens at once and waits until they are there, so that they are
//     served in the order in which they were taken, and none are lost. If two clocks differ
//     by d, the one that is behind waits up to d longer, and never gets more.
//   - For places there is no queue. All tasks that wait ask equally often, and any of them may
//     get the next free place.
//   - A document that cannot be read may hide holders. It is left alone for one TTL, and
//     then set aside. A document of another version is an error.
//   - Several limits are taken in the order of their keys, so that two tasks never wait for
//     each other.
//   - A task that is interrupted while it waits gives back the place that it may have got
//     without hearing so.
package lease
