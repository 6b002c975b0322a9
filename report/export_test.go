package report

// JUnitWithin is JUnit with another bound.
var JUnitWithin = encodeJUnitWithin
