// Package executor starts and observes the runs that deploy cells.
//
//   - [Tekton] makes the PipelineRuns of qontract-reconcile: pipelines, reports and scans that
//     read those work unchanged.
//   - [Jobs] makes a Job for each run, which runs the integration saas-deploy for one cell.
//
// A run carries the id of its intent as a label. To start a run that is there already is a
// success if the label is that of the intent, so that a lost answer makes no second run.
package executor
