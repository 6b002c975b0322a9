// Package peer asks a running qontract-server what a proof asked the embedded engine, and
// compares the answers. So a skip can be proven by answers that prcheck did not make itself.
//
// [Ask] sends each question of a proof to the bundle of its side, which the server knows by the
// sha256 of the bundle file. Status and body must be the same to the byte. Only two things are
// put aside: the line break at the end, and the stack traces that a server adds to errors unless
// it runs in production. Where a proof looked at the elements of an answer with errors, the
// server is asked for each of these elements alone.
//
// [Answers.Judge] applies the result to the report of a proof: another answer refutes what rests
// on it, and what rests on a question without an answer is believed at most. What is not a JSON
// object with data or errors is no answer: a page, a redirect to another host, a body that does not end.
//
// A server that does not answer is not asked for ever. Each answer has a time and a size. After
// some questions in a row without an answer, and when the server does not have a bundle, the rest
// is not asked.
//
// A difference is told by its place and by what kind of values stand there. The values are not
// told: they may be secrets in the data, or anything that a server sends.
package peer
