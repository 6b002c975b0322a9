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
