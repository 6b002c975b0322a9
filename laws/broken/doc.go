// Package broken breaks packages of the product as a list says, one way at a time, and tells which break nothing
// notices. A break is a mutant: a text of a file and what stands there instead. The files of the checkout stay as they
// are.
package broken
