package shared

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// A Live judge is another program that runs here and is asked the same as our engine. The program prints a line
// {"peer": "NAME VERSION"} first. Then it reads lines {"id", "input"}, and writes an [Answer] for each one, in their
// order; "left_out" instead of an answer says why an input cannot be judged.
type Live struct {
	Name    string
	Peer    string   // the one that may judge, with its version
	Command []string // words that begin with testdata/ are files of conformance/peers, with judges/ installed ones
	Cases   int      // of a short run
	Input   func(r *rand.Rand) any
	Same    func(t *testing.T, a Answer) (bool, string) // as for [Judge]
	// Deviates returns the number of the decision by which we say otherwise, and 0 if there is none. It may be nil.
	Deviates func(a Answer, ours string) int
}

// Ask holds an engine to the answers of a program that runs here, over inputs made from a seed, and prints how many
// are the same. The first difference is made small before it is printed. Ask skips the test unless PRCHECK_JUDGES
// names the folder of what the programs need. PRCHECK_JUDGE_SEED and PRCHECK_JUDGE_TIMES (more inputs) ask for others.
func Ask(t *testing.T, l Live) {
	t.Helper()
	dir := os.Getenv("PRCHECK_JUDGES")
	if dir == "" {
		t.Skip("no judge was installed, see .ci/run judges")
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	p := l.program(root, dir)
	if _, err := p.answers(nil); err != nil {
		why := notAsked(t, root)[l.Name]
		if why == "" {
			why = err.Error()
			t.Errorf("%s cannot be asked, and conformance/peers/not-asked.json does not say why: %v", l.Peer, err)
		}
		fmt.Printf("judge live %s: NOT ASKED (%s)\n", l.Name, why)
		return
	}
	seed, times := setting("PRCHECK_JUDGE_SEED"), setting("PRCHECK_JUDGE_TIMES")
	found, err := l.ask(t, p, seed, l.Cases*int(times))
	if err != nil {
		t.Fatalf("judge live %s: %v", l.Name, err)
	}
	fmt.Printf("judge live %s: %d cases, %d same, %d deviations, %d different (by %s, seed %d)\n",
		l.Name, found.cases, found.same, found.deviations, found.different, l.Peer, seed)
	if found.different > 0 {
		a := found.first
		t.Errorf("%s says %.900s %.300s, we say %.900s\n%s", l.Peer, a.Answer, a.Error, found.ours, a.Input)
	}
	if found.cases < l.Cases/2 {
		t.Errorf("only %d of %d inputs could be judged", found.cases, l.Cases)
	}
}

// setting returns a positive number of the environment, or 1.
func setting(name string) uint64 {
	n, err := strconv.ParseUint(os.Getenv(name), 10, 32)
	if err != nil || n == 0 {
		return 1
	}
	return n
}

// notAsked returns why judges may be missing, by their names.
func notAsked(t *testing.T, root string) (why map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "conformance", "peers", "not-asked.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &why); err != nil {
		t.Fatal(err)
	}
	return why
}

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
