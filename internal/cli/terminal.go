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

// ColorUsage describes a flag --color.
const ColorUsage = "when text has colours; auto means on a terminal and in the log of a GitLab job, unless NO_COLOR " +
	"is set, and everywhere if FORCE_COLOR is set"

// Colors returns the value of a flag --color.
func Colors() Choice { return OneOf("auto", "always", "never") }

// Color reports whether output to w has colours: as a flag --color says, else as the
// variables NO_COLOR and FORCE_COLOR say, else if w is a terminal that can show them or the
// log of a GitLab job.
func (e Env) Color(flag Choice, w io.Writer) bool {
	get := func(name string) string {
		if e.Getenv == nil {
			return ""
		}
		return e.Getenv(name)
	}
	force := get("FORCE_COLOR")
	switch {
	case flag.String() != "auto":
		return flag.String() == "always"
	case get("NO_COLOR") != "":
		return false
	case force != "":
		return force != "0" && force != "false"
	case get("GITLAB_CI") == "true" && isPipe(w):
		return true // the log of a job is a pipe, and GitLab shows its colours
	}
	return get("TERM") != "dumb" && IsTerminal(w)
}

// isPipe reports whether w is a pipe.
func isPipe(w io.Writer) bool {
	f, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}
