// Command worlds holds prcheck's verdicts against the truth, over random repositories.
//
// It makes small repositories with random programs, random changes of them, and asks `runner
// precheck` about each change, on a laptop and in a job of GitLab. The truth is the program
// itself, run by hand in two checkouts that git made: one of base, one of head. Nothing of
// prcheck takes part in it.
//
//   - A false green is a check that ends with 0 although a program that passes on base fails on
//     head, or fails there with other words.
//   - A wrong skip is the same, and the program was not even started.
//   - A needless run is a program that ran although it passed before, with the same state, and
//     nothing that it reads changed since.
//
// A pair is made from its seed alone, so that each finding can be repeated:
//
//	go run ./laws/worlds -pairs 200 -seed 1 -runner bin/runner
package main
