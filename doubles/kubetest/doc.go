// Package kubetest gives tests a Kubernetes API server: one in memory ([New]), and a real
// kube-apiserver on this machine ([Start]).
//
// The one in memory knows objects of any resource that has a kind ([Server.Kinds]). It reads,
// lists in pages, creates, applies, patches and deletes, all with preconditions and dryRun=All,
// and notes all requests. The managers of fields are kept by the code that a real server uses, by
// the types of the kinds in core, apps and batch. Defaults and rules are our own, for what decides
// how objects are changed: selectors, strategies, what cannot change, containers. It has one version
// of each kind, quotas that count objects, one user without a role ([Server.Nobody]), and a policy
// that a test plays ([Server.Deny]).
//
// The answers of a real server to a table of requests are recorded in testdata, managers of fields
// included, and the server in memory must give the same. TestFidelityOfRecording holds the recording
// to a real server, and makes it anew with -update.
//
// Controllers of Deployments, ReplicaSets and StatefulSets, the one that deletes what has no owner
// any more, and machines work only when a test says so ([Server.Settle], [Server.Step],
// [Server.Working]). A test says what becomes of pods ([Server.Fate]), and asks how many there were
// at once ([Server.MostPods]). There is no controller of Jobs and CronJobs.
//
// Both servers learn the kinds of Tekton with AddTekton. There is no controller of Tekton either: a
// test says what becomes of a run with PlayRun.
package kubetest
