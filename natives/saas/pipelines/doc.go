// Package pipelines is the native integration saas-pipelines: one loop that starts the runs which
// deploy cells. It takes the place of four integrations of qontract-reconcile that start runs for
// changed data, moved branches, new builds and new images.
//
// A cell is a saas file in one environment. Every difference between what is desired and what runs
// is a run, a hold with a reason, or a failure with a name. Package decide has the table of
// decisions, package ledger what is remembered, package loop the order of reading and writing, and
// package executor what runs.
//
// Its settings, beside those of package saas:
//
//	executor: tekton        # or native: a Job for each run
//	native: {image, integration, args, service_account, secret_env}
//	trace: true             # runs get the reason as parameters
//	repository: https://…   # address of the data, for the reasons
//	retry: {max: 2, backoff: 10m, fingerprints: [0123456789abcdef]}
//	take_over: false        # do not read what the four integrations remember
//
// A person who wants a failed run again can also write retry: FINGERPRINT.
//
//   - Each source is asked once: a repository with one request for all branches, a build server
//     with one for all jobs, a namespace of runs with one for all cells, an image only if its tag
//     is not the one that is applied, an objective only if a run would start.
//   - Credentials go only to hosts that the settings name.
//   - In a merge request nothing is asked: the report says which cells the merge would start.
//   - What the four integrations remember is read once for each saas file, as applied. This is
//     refused while one of them wrote within the last hour.
package pipelines
