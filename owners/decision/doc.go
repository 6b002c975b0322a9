// Package decision says, from what people wrote, which places of a change are approved, and whether the change may be
// merged.
//
// A word is a command on a line of its own: /lgtm, /lgtm cancel, /hold or /hold cancel. /lgtm may name a commit. Quoted
// lines are no words, lines in code blocks are.
//
// Per place and context the last word of any person of the context holds, so one person takes back another's. A place
// is approved by any of its contexts; or without a word if every context has one person alone, who is the author or a
// bot, and whose last word is not /hold; or by its parts, if they cover it and all are approved. The author may hold a
// place that is not theirs, and they or any of its people may end that.
//
// Everything fails closed: of a file about which it is unknown who may approve, nothing is approved. The author's word
// never counts for a restrictive type.
package decision
