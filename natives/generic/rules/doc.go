// Package rules says, for each place of a body, what a comparison may do with it: may it be
// set, changed, read back; how lists are merged; how texts are spelled.
//
// Rules come from a [classes.Classifier] by [Of], or from a table by [Table]. What a resource
// says about itself, such as the paths to ignore, is laid over them by [With].
//
// A place is named by its pattern: a JSON pointer in which * stands for the item of a list,
// such as /properties/subnets/*/name. Its path names the item by its keys, or by its value in
// a set: /properties/subnets/name=a/name and /zones/"1".
//
// Rules can be used by several goroutines at once.
package rules
