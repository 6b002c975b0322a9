// Package lines finds the lines at which findings stand: for a changed field of a
// datafile, the line of that field in the file of head, and for a changed resource the
// first line that differs. A [Finder] is the [report.Locator] of JUnit and Code Quality
// reports.
package lines
