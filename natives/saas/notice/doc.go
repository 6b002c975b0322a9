// Package notice says what people are told about targets: what newly stands in their ledgers, which waits began, and
// what does not answer. It is pure: who sends notices, and what remembers which were sent, comes from outside.
//
//   - One event is one notice, with an id that follows from it: a notice that is sent twice, because a program was
//     killed, has the same id again.
//   - What is older than the moment from which on somebody is told is no news.
//   - A wait is told when it begins, and not again while it lasts. One outage is one notice, however many targets wait
//     for it.
package notice
