// Package pyjson reads and writes JSON as the module json of Python does, for digests, parameters and documents that
// programs in Python share with us: with their order of keys, their numbers and their escapes.
package pyjson
