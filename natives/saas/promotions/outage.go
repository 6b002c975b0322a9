package promotions

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// Outages are what is not known, each with the targets that it touches: one outage is one error, however many targets
// wait for it.
type outages struct {
	keys    []string
	whys    []error
	targets [][]string
}

// server matches the server in the text of an error.
var server = lazyregexp.New(`https?://[^/\s"]+`)

// outageOf returns what tells outages apart: the server, if an error names one, and what ends its text, which is its
// cause.
func outageOf(err error) string {
	text := err.Error()
	cause := text
	if i := strings.LastIndex(text, ": "); i >= 0 {
		cause = text[i+2:]
	}
	return server.FindString(text) + " " + cause
}

// add adds a target that waits for something; nil is nothing.
func (o *outages) add(why error, target string) {
	if why == nil {
		return
	}
	key := outageOf(why)
	for i, known := range o.keys {
		if known == key {
			o.targets[i] = append(o.targets[i], target)
			return
		}
	}
	o.keys, o.whys, o.targets = append(o.keys, key), append(o.whys, why), append(o.targets, []string{target})
}

// errors returns one error for each outage.
func (o *outages) errors() []error {
	var out []error
	for i, why := range o.whys {
		label := o.targets[i][0]
		if n := len(o.targets[i]); n > 1 && label != "" {
			label = fmt.Sprintf("%s and %d more", label, n-1)
		}
		if label != "" {
			why = fmt.Errorf("%s: %w", label, why)
		}
		out = append(out, why)
	}
	return out
}
