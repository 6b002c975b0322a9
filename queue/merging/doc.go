// Package merging merges what a walk of the queue accepted, one request after the other, and keeps a record of it.
//
//	Owner: the branch belongs to one loop ──► Merger: asks again, rebases, compares trees, merges by sha
//	   │ record before each call                │ rows of package queue say what follows each answer
//	   ▼                                        ▼
//	 state                                    Forge
//
// # Rules
//
//   - A branch has one owner, by a lease of the state. Each owner has a greater fencing number than the one before,
//     and the number stands in the record: who has an older one writes nothing any more ([ErrFenced]), and calls
//     nothing, since each call is recorded before.
//   - What is merged is a tree. It is compared after the forge rebased and after it merged.
//   - An answer that was lost is never believed: the merge request is read.
//   - A loop that was killed leaves its record. The next one reads what became of the last call, and goes on.
//   - Without the state nothing is merged.
package merging
