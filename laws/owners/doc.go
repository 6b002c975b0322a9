// Command owners holds what the packages of owners say of random small worlds against the truth, which it finds by
// plain walks of its own:
//
//	go run ./laws/owners --worlds 1000000 --seed 1
//
// A world is a file in base and in head, change types and roles that allow places in it, and words. The laws:
//
//   - complete: the leaves that differ are exactly the leaves of the places about which somebody must decide,
//     none twice
//   - order: a list is reordered exactly if what both sides have stands in another order
//   - covered: a place is covered exactly if selectors allow it on each side that has it, or all leaves of it
//   - permuted: another order of items with identity changes nothing but what is reordered
//   - fewer: without a role, a person or a selector nothing more is approved
//   - larger: a change with more in it lets nobody approve more
//   - content: an approval holds on another base exactly if the place and both values are the same
//   - head: rules and users that head edits change nobody's places
//   - decided: restrictive types, disabled types, admission and unknown files are as base says
//
// With --mutants it breaks the packages, one way at a time, and a law must notice each.
package main
