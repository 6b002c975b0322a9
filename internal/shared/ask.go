package shared

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// findings are how often a program and our engine agree.
type findings struct {
	cases, same, deviations, different int
	first                              Answer // that differs, made small
	ours                               string
}

// ask compares the answers to n inputs.
func (l Live) ask(t *testing.T, p program, seed uint64, n int) (findings, error) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(len(l.Name))))
	var out findings
	inputs := make([]json.RawMessage, n)
	for i := range inputs {
		raw, err := json.Marshal(l.Input(r))
		if err != nil {
			return out, err
		}
		inputs[i] = raw
	}
	answers, err := p.answers(inputs)
	if err != nil {
		return out, err
	}
	for _, a := range answers {
		if a.LeftOut != "" {
			continue
		}
		out.cases++
		switch isDifferent, isDeviation, ours := l.differs(t, a); {
		case isDeviation:
			out.deviations++
		case !isDifferent:
			out.same++
		default:
			if out.different++; out.different == 1 {
				out.first, out.ours = a, ours
			}
		}
	}
	if out.different > 0 {
		err = l.shrink(t, p, &out)
	}
	return out, err
}

// differs compares our answer with the program's.
func (l Live) differs(t *testing.T, a Answer) (isDifferent, isDeviation bool, ours string) {
	t.Helper()
	isSame, ours := l.Same(t, a)
	if isSame {
		return false, false, ours
	}
	if l.Deviates != nil {
		d := l.Deviates(a, ours)
		isDeviation = d > 0 && hasDeviation(t, l.Name, d)
	}
	return !isDeviation, isDeviation, ours
}

// shrink looks for a smaller input that differs, as long as there is one.
func (l Live) shrink(t *testing.T, p program, of *findings) error {
	t.Helper()
	for range maxRounds {
		smaller, err := variants(of.first.Input)
		if err != nil {
			return err
		}
		answers, err := p.answers(smaller)
		if err != nil {
			return err
		}
		isSmaller := false
		for _, a := range answers {
			if a.LeftOut != "" {
				continue
			}
			isDifferent, _, ours := l.differs(t, a)
			if isSmaller = isDifferent; isSmaller {
				of.first, of.ours = a, ours
				break
			}
		}
		if !isSmaller {
			return nil
		}
	}
	return nil
}
