// Package kubetest gives tests a Kubernetes API server: one in memory ([New]), and a real
// kube-apiserver on this machine ([Start]).
//
// The one in memory knows objects of any resource that has a kind ([Server.Kinds]). It reads,
// lists in pages, creates, applies and deletes, all with preconditions, and notes all requests.
// It is strict where clients make mistakes (tokens, names, versions, conflicts of managers) and
// leaves out what only the inside of a cluster needs: controllers, defaults, validation of
// fields, other patches than server-side apply. Lists of an object are one value: fields of
// their elements have no managers. The test of package kube asks both servers the same questions.
package kubetest
