// Package kubetest gives tests a Kubernetes API server: one in memory ([New]), and a real
// kube-apiserver on this machine ([Start]).
//
// The one in memory knows objects of any resource that has a kind ([Server.Kinds]). It reads,
// lists in pages, creates, applies, patches and deletes, all with preconditions and dryRun=All,
// and notes all requests. The managers of fields are kept by the code that a real server uses, by
// the types of the kinds in core, apps and batch. Defaults and rules are our own, for what decides
// how objects are changed: selectors, strategies, what cannot change, containers. It has no roles,
// no quotas and one version of each kind. The tests of package kube ask both servers the same
// questions.
package kubetest
