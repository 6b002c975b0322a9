// Package loop makes one iteration over cells: it reads what is remembered, observes the runs,
// decides, remembers the decisions, and starts the runs.
//
// The order is what makes a run unique, wherever the process dies:
//
//  1. the documents are read, and after them the runs are listed, so that a run of a remembered
//     intent that is not listed is gone;
//  2. the decision is written as an intent, if nobody else wrote meanwhile;
//  3. the run is created under a name that follows from the intent;
//  4. that it was created is written.
//
// An iteration that finds a pending intent goes on with step 3. What another iteration wrote is
// never overwritten: the saas file is left alone until the next iteration.
package loop
