package cli

import (
	"io"
	"io/fs"
)

// IsTerminal reports whether w is a character device. Terminals are, and so are a few other
// files, such as /dev/null.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// Color reports whether output to w may have colours: w is a terminal that can show them,
// and NO_COLOR is not set.
func (e Env) Color(w io.Writer) bool {
	if e.Getenv != nil && (e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb") {
		return false
	}
	return IsTerminal(w)
}
