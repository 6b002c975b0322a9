//go:build !linux

package git

// hasTimes reports that a file has the times that git remembers: git is believed on this system.
func hasTimes(string, times) bool { return true }
