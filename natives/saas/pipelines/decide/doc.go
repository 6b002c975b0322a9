// Package decide says, for each cell of saas files, whether a run starts, what it waits for, or
// what failed. It is pure: signals, gates, runs and the clock are arguments, and [Decide] returns
// what is to be remembered and what is to be started.
//
// A cell is a saas file in one environment. One run deploys all targets of a cell.
//
//   - A [Signal] is what one source says about a target now. It differs if its value is not the
//     one that was applied. A signal whose source does not answer is unknown: it never differs,
//     and it never is the same. The other signals of the cell count.
//   - The fingerprint of a run is a digest of everything that the run is to apply: uid, kind of
//     signal, value. A run that succeeds makes exactly these values applied. What changed while
//     it ran stays different, so it starts the next run.
//   - After a failed run nobody knows what is deployed. So everything that the run held stays
//     different until a run succeeds, also if the data go back to what was applied before.
//   - A cell whose values failed is held until a value changes, until the policy of retries
//     allows another run, or until a person names the fingerprint in the settings.
//   - A value that is seen for the first time at a target that another program applied, after a
//     take-over, is remembered without a run.
package decide
