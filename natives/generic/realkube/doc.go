// Package realkube is the proof of the generic reconciler against a real API server of
// Kubernetes, which reads its own specification. It has tests only.
//
// A history is what happens to one object: it is applied, others edit it, and it is applied
// again with other data. The same histories run twice: once the reconciler applies, and once
// kubectl does. Then the objects must be the same.
//
// The tests are skipped if the variable PRCHECK_KUBE_APISERVER names no program. The
// variable PRCHECK_KUBECTL names kubectl; without it, the one beside the API server is taken.
package realkube
