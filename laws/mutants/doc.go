// Package main breaks packages in small ways and counts how often tests notice. "make mutants" runs it. It is no
// part of the product.
//
// A change replaces one comparison, condition, result, text or number of a file. The sample is drawn by a seed: first
// a kind, then a place, so that the many texts do not hide the few results. A change that does not compile is
// not counted, and another one is drawn.
//
// A change is noticed if a short test of its package fails, or else one of a package that imports it directly. With
// -own only the package itself is asked, which is quicker and counts no more than is noticed. A test that does not end
// in time fails. The files of the checkout are not touched: the go command reads the changed file by an overlay.
//
// Changes after which the package does the same stand in equivalent.json, with the reason. They are printed, and count
// as not noticed.
//
// With -engines it breaks the engines that stand in for other programs, as listed in engines.json, and asks the judges
// alone: a judge that stays green holds nothing.
//
//   - sites.go: what can be changed; try.go: one change and the tests; engines.go: the broken engines and
//     their judges; main.go: the sample and its table; last.txt: the last outputs.
package main
