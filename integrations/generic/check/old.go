package check

import (
	"github.com/app-sre/prcheck/integrations/generic/body"
	"github.com/app-sre/prcheck/integrations/generic/validate"
)

// seen are the mistakes of base: how often each one is there.
type seen map[string]int

func remember(all []validate.Finding) seen {
	out := seen{}
	for _, f := range all {
		out[exactly(f)]++
		out[anywhere(f)]++
	}
	return out
}

// has reports whether base has a mistake: at the same place, or in a list as often as head has
// it, for its items may have moved.
func (s seen) has(f validate.Finding) bool {
	if s[exactly(f)] > 0 {
		s[exactly(f)]--
		s[anywhere(f)]--
		return true
	}
	if f.Pointer == f.Pattern || s[anywhere(f)] <= 0 {
		return false
	}
	s[anywhere(f)]--
	return true
}

func exactly(f validate.Finding) string { return "at " + f.Pointer + " " + what(f) }

func anywhere(f validate.Finding) string { return "in " + f.Pattern + " " + what(f) }

func what(f validate.Finding) string {
	return string(f.Code) + " " + string(f.Severity) + " " + body.Canonical(f.Value)
}
