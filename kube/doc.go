// Package kube runs the parts of a plan as one Indexed Job of Kubernetes: a pod
// for each part, started, retried and removed by the cluster. It makes the
// manifest, creates the Job, waits for its end and cancels it; what the parts
// said is not its business, they write that where their command says.
//
// What a pod's exit code means is the runner's contract: after 1 the part has
// said that a check failed, and another try would say the same; 2 is input that
// no part can work with, so the whole Job ends; everything else, a lost node
// included, is tried again. A pod that the cluster itself takes away does not
// count.
package kube
