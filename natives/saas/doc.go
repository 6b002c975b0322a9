// Package saas reads SaaS files: which applications are deployed from which repositories to which
// namespaces, and how new versions come there.
//
// A saas file has templates, and a template has targets. A target deploys the template, at a
// commit, to one namespace. All targets of one saas file in one environment are a [Cell]: what
// one run of a pipeline deploys.
//
//   - [Read] asks for the data and makes a [Model]. A mistake marks what it holds as broken, the
//     smallest part that can be told: a target, a saas file, or what uses a datafile.
//   - [Validate] returns all mistakes as findings, those that hold nothing included.
//   - [Model.CellState] is all of the data that a deploy of a cell reads, and [NewPreview] says
//     what the merge of a change would start and promote.
//   - The identities ([Target.UID], [Target.Hash], [Target.StateKey], [Cell.Combo]) are byte for
//     byte those of qontract-reconcile, because its state and its records are read and written.
package saas
