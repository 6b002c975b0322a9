// Package rounds runs a native integration outside of a plan: once, or again and again. One
// run is a round. It opens the newest data, refuses data that are older than those of the
// round before, lets the integration compare and act, and reports.
//
//   - A round is a dry run unless the options say otherwise. A dry run gets nothing that
//     writes, holds no lease and remembers nothing.
//   - All queries of a round are answered over one bundle, and only with data of the schemas
//     that the definition of the integration allows.
//   - A round that writes holds a lease, if there is a state. So two runs of one integration
//     and shard rarely act at once. If it is lost, no new step starts.
//   - When the context ends, no new step starts. The step that runs gets some seconds to end,
//     and what was done so far is reported.
//   - A failed round is followed by the next one after the usual pause. There is no storm of
//     attempts.
//   - Everything that a report or a line of the log has of the data, of live systems or of an
//     error is masked, made one line, and bounded.
package rounds
