package peers

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// A line is a recorded answer.
type line struct {
	ID        string
	Input     json.RawMessage
	Answer    json.RawMessage
	Error     string // instead of an answer: the program refused
	Status    int    // of GraphQL
	Text      string // of YAML
	Deviation int    // number of the decision by which we answer otherwise
}

// isRefused reports whether the program refused the input.
func (l line) isRefused() bool { return l.Error != "" }

// shown is how many differences a judge prints.
const shown = 5

// judge holds an engine to all lines of a file. same says whether our answer is the recorded one, and
// otherwise what we say.
func judge(t *testing.T, name string, same func(t *testing.T, l line) (bool, string)) {
	t.Helper()
	in, err := os.Open(shared.Path(t, "data", "judges", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	var cases, alike, deviations, different int
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases++
		switch isSame, ours := same(t, l); {
		case isSame:
			alike++
		case l.Deviation > 0:
			deviations++
		default:
			if different++; different <= shown {
				t.Errorf("%s: the program says %.600s %.300s, we say %.600s\n%.900s", l.ID, l.Answer, l.Error, ours, l.Input)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("judge %s: %d cases, %d same, %d deviations, %d different", name, cases, alike, deviations, different)
	if cases == 0 || different > 0 {
		t.Errorf("judge %s: %d cases, %d different", name, cases, different)
	}
}
