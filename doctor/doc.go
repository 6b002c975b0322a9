// Package doctor checks an installation of prcheck from end to end: git, settings, bundle,
// integration definitions, programs, state, keys, GitLab and clocks. [Examine] returns a
// [Report] with one [Finding] or more for each check. A finding is good, a warning (prcheck
// works, but less well than it could) or a failure, and says what to do.
//
// The checks of the state write, read and remove one small document. Nothing is written to
// GitLab. What findings say is bounded, harmless to show, and free of the values of secret
// variables.
package doctor
