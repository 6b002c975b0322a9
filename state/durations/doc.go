// Package durations remembers how long tasks took, and estimates how long they
// will take.
//
// What a user must know:
//
//   - An integration has one document, "durations/….json": a version, its name,
//     and for each shard the newest runs, the oldest first. The shard "" is the
//     whole of the integration.
//   - Everything is bounded: 20 runs of a shard, 1000 shards of an integration
//     (those that ran last stay), names of 300 bytes.
//   - Runs that passed count; where there are none, those that failed do. A run
//     that was canceled, timed out or never started tells no duration.
//   - A shard that never ran is estimated from the other shards of its
//     integration, and the whole from nothing else.
//   - Estimates are nearest-rank percentiles (Hyndman and Fan, "Sample Quantiles in
//     Statistical Packages", 1996, definition 1): always a duration that was
//     really measured.
//   - A document that is cut short, edited, too large or of another version is
//     no document. One of another version is left as it is; of the others a copy
//     is kept when the next runs take their place. Estimates decide about order
//     and what people are told, never about what runs.
//   - Several processes may add runs of one integration at once: all are kept. A
//     run may be counted twice when the answer of a bucket is lost.
package durations
