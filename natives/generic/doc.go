// Package generic makes the native generic: it keeps resources of APIs as the data say, for any
// API that a specification describes. See docs/generic.md.
//
// A shard is a root: a subscription, or a namespace. It has a part for each endpoint. The entry
// of a resource is compared in three ways (package threeway) with what was applied last, which
// the state remembers, and with what is there, which is one GET for each resource and pass.
//
//   - What nobody desires is never touched, and nothing is written when nothing differs.
//   - A dry run of a change always has the findings of package check, which needs no
//     credentials. If the endpoint can be read, it has the plan as well.
//   - A token goes only to hosts that the settings of base name.
//   - Secrets are read just before they are written. The state keeps their version, or a hash
//     of the value with a key of the installation.
//   - Before something is created, and while an operation goes on, the state says so: a killed
//     run leaves nothing of unknown owner, and starts nothing twice.
package generic
