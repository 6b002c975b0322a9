// Package hooks holds what a service does that no specification says, as code at named stages
// of the work on one resource.
//
// A [Hook] is compiled in. It is about the types that its pattern matches, and does something
// at one or more stages. Most hooks run for each resource of their types. A hook that is
// [Hook.ByName] runs only for the resources whose data name it: data choose among hooks that
// are there, and never define one.
//
// A [Registry] runs the hooks of a stage in the order of their names. What a hook gets is a
// copy, so it cannot change anything but by what it returns. A hook that panics, fails or
// overruns its time ends in an [*Error] about its resource; other resources go on. A hook has to
// end with its context: while a call goes on that overran its time, the hook is not called again.
// The message of a panic is not told, since it may hold a value of the resource; its place in the
// code is.
//
// Hooks decide and never act: [Ready] calls of a PreReconcile are made by who runs the work,
// and not in a dry run.
package hooks
