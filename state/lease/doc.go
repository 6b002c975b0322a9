// Package lease lets at most so many tasks use the same thing at once, and start
// so many in a period, over all processes and machines that share a state.
//
//	err := lease.Hold(ctx, store, []lease.Limit{{Key: "aws/app-sre", Max: 2}}, run)
//
// What a user must know:
//
//   - A holder says every sixth of the TTL that it is alive. When it dies, its
//     place is free when somebody waited for one TTL without a sign of it.
//   - The clocks of machines are not compared: who waits measures with its own
//     clock how long it saw no sign. So places need no clocks that agree, only
//     ones that run about equally fast.
//   - A holder that could give no sign for half a TTL takes its lease for lost:
//     [Hold] then ends the context of what it runs, which has the other half of
//     the TTL to stop. What takes longer to stop, or is frozen together with its
//     process and thawed later, may run beside the next holder.
//   - Of a [Rate], the times of the last starts are kept by the clocks of those
//     who started. When clocks differ by d, the period may be shorter by d. A
//     time more than a minute ahead is taken for now.
//   - Nobody is served first: all ask equally often, so a place goes to any of
//     those who wait.
//   - A document that cannot be read may hide holders: it is left alone for one
//     TTL, and then set aside. One of another version is an error.
//   - Several limits are taken in the order of their keys, so that nobody waits
//     for each other.
package lease
