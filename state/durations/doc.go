// Package durations remembers how long tasks took, and estimates how long they
// will take.
//
//   - An integration has one document, "durations/….json". It holds a version, the name
//     of the integration, and the newest runs of each shard, the oldest run first. The
//     shard "" is the integration as a whole.
//   - Documents are bounded: 20 runs of a shard, 1000 shards of an integration (the
//     shards that ran last stay), and names of 300 bytes.
//   - An estimate rests on the runs that passed, or on the runs that failed if none
//     passed. A run that was canceled, timed out or never started is not remembered.
//   - A shard that never ran is estimated from the other shards of its integration.
//     The integration as a whole is estimated from its own runs only.
//   - Estimates are nearest-rank percentiles (Hyndman and Fan, "Sample Quantiles in
//     Statistical Packages", 1996, definition 1): an estimate is always a duration
//     that was measured.
//   - A document that cannot be read counts as none. If it is corrupt (cut short, edited
//     or too large), a copy is kept when the next run replaces it. If it has another
//     version, it stays as it is.
//   - Estimates decide the order of tasks and appear in reports. They never decide
//     whether a task runs.
//   - Several processes may add runs of one integration at once, and no run is lost. A
//     run may be counted twice when the answer of a bucket is lost.
package durations
