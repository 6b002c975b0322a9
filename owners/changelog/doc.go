// Package changelog says of each merge which apps it touched, and which of the change types that are to be followed:
// those with the label change_log_tracking. The places that a type allows are those of package coverage, so the log and
// the approvals agree.
//
// A [Reader] knows the apps, namespaces and change types of one bundle, the newest: a log speaks of the past in the
// words of today. A [Log] is written in the form in which the platform's own programs keep it.
package changelog
