package progress

import (
	"errors"
	"os"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// A Mode is how to tell. The zero value chooses. It is a flag's value.
type Mode string

// The modes.
const (
	Auto     Mode = ""         // Terminal where there is one that is no job's, else Plain
	Terminal Mode = "terminal" // lines that are redrawn; Plain when there is no terminal
	Plain    Mode = "plain"    // one line after the other
	None     Mode = "none"
)

// String returns the word of the flag.
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

// Type is what the help calls the value.
func (*Mode) Type() string { return "auto|terminal|plain|none" }

func (o Options) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

// teller chooses how to tell.
func (o Options) teller() teller {
	if o.Mode == None {
		return silent{}
	}
	term := o.getenv("TERM")
	color := o.getenv("NO_COLOR") == "" && term != "dumb"
	job := o.getenv("CI") != "" && o.getenv("CI") != "false"
	if o.Mode == Terminal || o.Mode == Auto && !job && term != "" && term != "dumb" {
		if f, ok := o.Out.(*os.File); ok {
			if w := cwriter.New(f); w.IsTerminal() {
				return &screen{to: w, color: color}
			}
		}
	}
	return &lines{out: o.Out, gitlab: o.getenv("GITLAB_CI") == "true"}
}
