// Package family holds the habits of groups of APIs: how a resource is addressed, where marks
// of ownership live, how a resource is created and locked, and how often one may ask.
//
// A [Family] is a table. Its functions that need more than a value are short, so that a new
// family costs one file. What all families share, the match of a path with a template, is in
// this package once.
//
// An [Address] is made from a resource type and either the parent and the name of a resource
// or its whole id. Names and ids come from data that nobody has checked: a part that would
// lead to another place (a slash, a step up, an escape, a query) is refused.
package family
