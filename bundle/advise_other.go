//go:build !linux

package bundle

// advise does nothing where there are no huge pages to ask for.
func advise([]byte) {}
