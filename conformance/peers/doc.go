// Package peers holds the engines that prcheck wrote in place of other programs to recorded answers of
// these programs.
//
// A judge reads all lines of its file in the shared data, gives each input to our engine, and compares with
// the recorded answer. It prints "judge NAME: N cases, S same, D deviations, F different". A case is a
// deviation only if its line says so and our answer is another one; every other difference fails.
//
// The tests TestLive… ask programs that run here, over inputs made from a seed; see docs/decisions/0085.
//
// The judges of GraphQL also ask a running qontract-server, which has loaded the bundles of the lines:
//
//	go test ./conformance/peers -run GraphQL -v -count 1 -server http://127.0.0.1:4000
//
// Then a line is the same only if our answer and the server's are both the recorded one.
package peers
