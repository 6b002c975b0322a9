// Package jsonpointer writes and reads JSON pointers (RFC 6901), such as
// "/roles/0/name". A pointer names a place in a JSON document: "" is the whole
// document, and each part after a slash is a key of an object or the index of a
// list item. Inside a part "~" is written "~0" and "/" is written "~1".
package jsonpointer
