package progress

import (
	"errors"
	"os"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// A Mode says how progress is shown. It is the value of a flag. The zero value chooses
// between Terminal and Plain.
type Mode string

// The modes.
const (
	Auto     Mode = ""         // Terminal if the output is a terminal and not that of a CI job, else Plain
	Terminal Mode = "terminal" // lines that are redrawn; the same as Plain if the output is not a terminal
	Plain    Mode = "plain"    // one line after the other
	None     Mode = "none"     // nothing
)

// String returns the word for the flag.
func (m *Mode) String() string {
	if *m == Auto {
		return "auto"
	}
	return string(*m)
}

// Set reads the word of the flag.
func (m *Mode) Set(word string) error {
	switch Mode(word) {
	case "auto":
		*m = Auto
	case Terminal, Plain, None:
		*m = Mode(word)
	default:
		return errors.New("must be auto, terminal, plain or none")
	}
	return nil
}

// Type returns the name of the value in the help of the flag.
func (*Mode) Type() string { return "auto|terminal|plain|none" }

func (o Display) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

// newDisplay returns the display for the mode, the output and the environment.
func (o Display) newDisplay() display {
	if o.Mode == None {
		return noDisplay{}
	}
	term := o.getenv("TERM")
	canRedraw := term != "" && term != "dumb"
	isJob := o.getenv("CI") != "" && o.getenv("CI") != "false"
	if o.Mode == Terminal || o.Mode == Auto && !isJob && canRedraw {
		if f, ok := o.Out.(*os.File); ok {
			if w := cwriter.New(f); w.IsTerminal() {
				return &terminalDisplay{out: w, hasColor: o.getenv("NO_COLOR") == "" && term != "dumb"}
			}
		}
	}
	return &plainDisplay{out: o.Out, isGitLab: o.getenv("GITLAB_CI") == "true"}
}
