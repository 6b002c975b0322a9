// Package measurements asks Prometheus for numbers.
//
// The answer is exactly one finite number, or an error. No data, several series, NaN and infinity
// are errors: whoever asks must not take them for good or for bad.
package measurements
