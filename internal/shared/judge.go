package shared

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// An Answer is what another program answered to an input.
type Answer struct {
	ID        string
	Input     json.RawMessage
	Answer    json.RawMessage
	Error     string // instead of an answer: the program refused
	Status    int    // of GraphQL
	Text      string // of YAML
	Deviation int    // number of the decision by which we answer otherwise
	LeftOut   string `json:"left_out"` // of a live judge: why the input cannot be judged
}

// IsRefused reports whether the program refused the input.
func (a Answer) IsRefused() bool { return a.Error != "" }

// A Deviation is a rule by which we answer otherwise than a program on purpose.
type Deviation struct {
	Judge    string
	Decision int
	Input    string // for instance
	Answer   string // of the program
	Rule     string
	Why      string // users are better off
}

// Deviations returns the table of all deviations.
func Deviations(t testing.TB) (all []Deviation) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, "conformance", "peers", "deviations.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// hasDeviation reports whether the table has a deviation of a judge by a decision.
func hasDeviation(t testing.TB, judge string, decision int) bool {
	t.Helper()
	return slices.ContainsFunc(Deviations(t), func(d Deviation) bool { return d.Judge == judge && d.Decision == decision })
}

// shown is how many differences a judge prints.
const shown = 5

// Judge holds an engine to the recorded answers of another program, and prints how many are the same. same says
// whether our answer is the recorded one, and otherwise what we say. A difference fails the test unless the
// answer has the number of a decision that stands in the table of deviations.
func Judge(t *testing.T, name string, same func(t *testing.T, a Answer) (bool, string)) {
	t.Helper()
	in, err := os.Open(Path(t, "data", "judges", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	var cases, alike, deviations, different int
	for lines.Scan() {
		var a Answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases++
		switch isSame, ours := same(t, a); {
		case isSame:
			alike++
		case a.Deviation > 0 && hasDeviation(t, name, a.Deviation):
			deviations++
		default:
			if different++; different <= shown {
				t.Errorf("%s: the program says %.600s %.300s, we say %.600s\n%.900s", a.ID, a.Answer, a.Error, ours, a.Input)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("judge %s: %d cases, %d same, %d deviations, %d different\n", name, cases, alike, deviations, different)
	if cases == 0 || different > 0 {
		t.Errorf("judge %s: %d cases, %d different", name, cases, different)
	}
}
