// Package audits remembers how audits of skipped work ended: how many skips were right and
// wrong, by day and by the rung that left the work out, and the misses, which are the wrong
// skips that two pairs of runs have shown.
//
//   - There is one document, "audits/all.json". It keeps the counts of a year, and one miss for
//     each integration and rung: the last one, and how often it was found.
//   - A miss is open until somebody confirms that its cause is gone. As the settings say, the
//     planner does not believe the rung about the integration meanwhile. So the document is
//     never collected.
//   - A miss makes work run and never makes it be skipped, so the document counts without a
//     signature. Who can remove it brings back the decision of the ladder, no more.
package audits
