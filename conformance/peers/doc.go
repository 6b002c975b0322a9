// Package peers holds the engines that prcheck wrote in place of other programs to recorded answers of
// these programs.
//
// A judge reads all lines of its file in the shared data, gives each input to our engine, and compares with
// the recorded answer. It prints "judge NAME: N cases, S same, D deviations, F different". A case is a
// deviation only if its line says so and our answer is another one; every other difference fails.
//
// The tests TestLive… ask programs that run here, over inputs made from a seed; see docs/decisions/0085.
package peers
