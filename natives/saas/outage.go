package saas

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// Outages are what is not known, each with the targets that it touches: one outage is one error, however many targets
// wait for it.
type Outages struct{ all []Outage }

// An Outage is what is not known, and what waits for it.
type Outage struct {
	Targets []string // in the order in which they were added; "" for none
	key     string
	why     error
}

// Err returns an outage as an error that names the first target and counts the others.
func (o Outage) Err() error {
	label := o.Targets[0]
	switch n := len(o.Targets); {
	case label == "":
		return o.why
	case n > 1:
		label = fmt.Sprintf("%s and %d more", label, n-1)
	}
	return fmt.Errorf("%s: %w", label, o.why)
}

// server matches the server in the text of an error.
var server = lazyregexp.New(`https?://[^/\s"]+`)

// OutageOf returns what tells outages apart: the server, if an error names one, and what ends its text, which is its
// cause.
func OutageOf(err error) string {
	text := err.Error()
	cause := text
	if i := strings.LastIndex(text, ": "); i >= 0 {
		cause = text[i+2:]
	}
	return server.FindString(text) + " " + cause
}

// Add adds a target that waits for something; nil is nothing.
func (o *Outages) Add(why error, target string) {
	if why == nil {
		return
	}
	key := OutageOf(why)
	for i := range o.all {
		if known := &o.all[i]; known.key == key {
			known.Targets = append(known.Targets, target)
			return
		}
	}
	o.all = append(o.all, Outage{Targets: []string{target}, key: key, why: why})
}

// All returns the outages in the order in which they were added.
func (o *Outages) All() []Outage { return o.all }

// Errors returns one error for each outage.
func (o *Outages) Errors() []error {
	var out []error
	for _, one := range o.all {
		out = append(out, one.Err())
	}
	return out
}
