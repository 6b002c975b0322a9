// Package findings takes what natives report while they run, and makes of it the findings of a
// result.
//
//   - Of any number of reports at most [plan.MaxFindings] are kept: the worst first, those that
//     base has as well last. Those that are not kept are counted. Equal findings count once.
//   - What is kept does not depend on the order of the reports, so that several goroutines may
//     report at once.
//   - A report costs little, however long its message is: only its beginning is kept, and it is
//     masked and cleaned at the end, when all secrets are known.
//   - A severity that is not known counts as an error: in doubt the task fails. A code of
//     another form, and a file that neither bundle has, are left out.
//   - Reports after the end of an attempt are ignored.
package findings
