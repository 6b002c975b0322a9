// Package kube reads objects of Kubernetes for native integrations; package writer changes them. Requests and
// answers are JSON: see decision 26.
//
// [Open] returns what reads the objects of a cluster, and [OpenTrial] what lets the cluster check writes that
// it does not keep. The connection of Open sends nothing but GET and HEAD, that of OpenTrial patches
// with dryRun=All as well. Natives know them as interfaces of package integration.
//
//   - An answer is what was asked for, or an error: the page of a proxy, half an answer, another
//     object and a redirect are errors. Only the API server itself can say that an object is not
//     there.
//   - A list is whole, or an error.
//   - The token is sent over TLS, or within this machine, to this address alone. It appears in
//     no error. An error does not repeat the object that a server refuses.
//   - Errors have the class config (address, token, role or object are wrong) or transient (it
//     may pass by itself), see [integration.Failure].
package kube
