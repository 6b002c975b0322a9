package shared

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestMain is the program of the judges of this file, too: it says whether a text holds "ab".
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_JUDGE") == "" {
		os.Exit(m.Run())
	}
	fmt.Println(`{"peer": "fake 1"}`)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var of struct {
			ID    string
			Input string
		}
		if err := json.Unmarshal(lines.Bytes(), &of); err != nil || os.Getenv("FAKE_JUDGE") == "stops" {
			fmt.Fprintln(os.Stderr, "it stopped")
			os.Exit(1)
		}
		if strings.Contains(of.Input, "ddd") {
			fmt.Printf("{\"id\": %q, \"left_out\": \"three\"}\n", of.ID)
			continue
		}
		fmt.Printf("{\"id\": %q, \"answer\": %v}\n", of.ID, strings.Contains(of.Input, "ab"))
	}
}

// fake is a judge of an engine that has a mistake about texts that hold another one.
func fake(mistake string) Live {
	return Live{Name: "fake", Peer: "fake 1", Command: []string{os.Args[0]}, Cases: 500,
		Input: func(r *rand.Rand) any {
			text := make([]byte, r.IntN(20))
			for i := range text {
				text[i] = "abcd"[r.IntN(4)]
			}
			return string(text)
		},
		Same: func(t *testing.T, a Answer) (bool, string) {
			var text string
			if err := json.Unmarshal(a.Input, &text); err != nil {
				t.Fatal(err)
			}
			ours := fmt.Sprint(strings.Contains(text, "ab") != (mistake != "" && strings.Contains(text, mistake)))
			return ours == string(a.Answer), ours
		},
	}
}

// A difference is noticed and made as small as it can be. What is left out counts as nothing.
func TestAsk(t *testing.T) {
	t.Setenv("FAKE_JUDGE", "answers")
	for mistake, want := range map[string]string{"": "", "cab": `"cab"`, "bb": `"bb"`} {
		l := fake(mistake)
		got, err := l.ask(t, l.program(".", "."), 1, l.Cases)
		if err != nil {
			t.Fatal(err)
		}
		if string(got.first.Input) != want || (got.different > 0) != (want != "") || got.same+got.different != got.cases {
			t.Errorf("%q: got %+v, want the input %s", mistake, got, want)
		}
		if got.cases >= l.Cases || got.cases < l.Cases/2 {
			t.Errorf("%q: %d of %d cases were judged", mistake, got.cases, l.Cases)
		}
	}
}

// A deviation counts only if it stands in the table.
func TestAskDeviations(t *testing.T) {
	t.Setenv("FAKE_JUDGE", "answers")
	for name, isKnown := range map[string]bool{"fake": false, "yaml": true} {
		l := fake("bb")
		l.Name, l.Deviates = name, func(Answer, string) int { return 11 }
		got, err := l.ask(t, l.program(".", "."), 1, l.Cases)
		if err != nil || (got.deviations > 0) != isKnown || (got.different > 0) == isKnown {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// A program of another version does not judge, nor does one that cannot start. One that stops is an error.
func TestAskNobody(t *testing.T) {
	t.Setenv("FAKE_JUDGE", "answers")
	other := fake("")
	other.Peer = "fake 2"
	if _, err := other.program(".", ".").answers(nil); err == nil || err.Error() != "it is fake 1, want fake 2" {
		t.Errorf("another version: %v", err)
	}
	missing := fake("")
	missing.Command = []string{"judges/nothing"}
	if _, err := missing.program(".", t.TempDir()).answers(nil); err == nil {
		t.Error("a missing program was started")
	}
	t.Setenv("FAKE_JUDGE", "stops")
	l := fake("")
	if _, err := l.ask(t, l.program(".", "."), 1, 10); err == nil || !strings.Contains(err.Error(), "it stopped") {
		t.Errorf("a program that stops: %v", err)
	}
}
