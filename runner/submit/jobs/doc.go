// Package jobs runs the parts of a plan as a Job of Kubernetes. Requests and answers are JSON: see decision 26.
//
// The parts of a plan become one Indexed Job, which has a pod for each part. The cluster
// starts, retries and removes the pods. The package makes the manifest of the Job, creates the
// Job, waits for its end and cancels it. It does not read the results of the parts: their
// command says where they write them.
//
// The exit code of a pod has the meaning that the exit code of runner has:
//
//	1           a check failed; the part is not retried
//	2           no part can work with the input; the whole Job ends
//	other       the part is retried, for example when its node was lost
//
// A pod that the cluster itself takes away does not count as a try.
package jobs
