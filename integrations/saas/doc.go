// Package saas reads SaaS files: which applications are deployed from which repositories to which
// namespaces, and how new versions come there.
//
// A saas file has templates, and a template has targets. A target deploys the template, at a
// commit, to one namespace. All targets of one saas file in one environment are a [Cell]: what
// one run of a pipeline deploys.
//
// The identities ([Target.UID], [Target.Hash], [Target.Keys], [Cell.Combo]) are byte for byte
// those of qontract-reconcile, because its state and its records are read and written.
package saas
