package report

// JUnitWithin is JUnit with a bound that tests can choose.
var JUnitWithin = encodeJUnitWithin
