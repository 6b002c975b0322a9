package validate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/plan"
)

// members returns n members of an object, with a comma before each.
func members(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, ", "+format, i)
	}
	return out.String()
}

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := body.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A near name is looked for a bounded number of times.
func TestNearNamesAreBounded(t *testing.T) {
	suggested := 0
	for _, line := range check(t, zoo(t), validate.Body{}, `{`+required+members(90, `"colo%02d": 1`)+`}}`) {
		if strings.Contains(line, "do you mean") {
			suggested++
		}
	}
	if suggested != 50 {
		t.Errorf("got %d near names, want 50", suggested)
	}
}

// A walk ends when nobody wants to know more, and when there is no more time.
func TestWalkEnds(t *testing.T) {
	typ, value := zoo(t), parse(t, `{`+required+members(5000, `"x%d": 1`)+`}}`)
	for _, most := range []int{1, 7, 300} {
		calls := 0
		typ.Walk(validate.Body{Value: value}, func(validate.Violation) bool {
			calls++
			return calls < most
		})
		if calls != most {
			t.Errorf("got %d mistakes, want %d", calls, most)
		}
	}
	asked, last := 0, validate.Violation{}
	typ.Walk(validate.Body{Value: value, Stop: func() bool { asked++; return asked == 3 }},
		func(f validate.Violation) bool {
			last = f
			return true
		})
	if asked != 3 || last.Code != validate.CodeTime || last.Severity != plan.SeverityError {
		t.Errorf("asked %d times, and the last mistake is %+v", asked, last)
	}
}

// A good body that there is no time for is a mistake.
func TestNoTime(t *testing.T) {
	in := validate.Body{Stop: func() bool { return true }}
	got := check(t, zoo(t), in, `{`+required+`}, "tags": {"a": "1"`+members(500, `"t%d": "1"`)+`}}`)
	if len(got) != 1 || !strings.Contains(got[0], "VAL_TIME") {
		t.Errorf("got %q", got)
	}
}

// A list says the same as one without bounds: whether a mistake fails, and whether it knows all.
func TestListLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n, old, warnings := r.IntN(600), r.IntN(101), r.IntN(101)
		var all []validate.Violation
		for i := range n {
			f := validate.Violation{Pointer: fmt.Sprint(i), Severity: plan.SeverityError, Old: r.IntN(100) < old}
			if r.IntN(100) < warnings {
				f.Severity = plan.SeverityWarning
			}
			all = append(all, f)
		}
		fails := func(f validate.Violation) bool { return f.Severity == plan.SeverityError && !f.Old }
		at := 0
		l := validate.List{IsOld: func(validate.Violation) bool { return all[at].Old }}
		for goOn := true; goOn && at < n; at++ {
			goOn = l.Add(all[at])
		}
		got := l.Findings()
		if slices.ContainsFunc(got, fails) != slices.ContainsFunc(all, fails) {
			t.Fatalf("%d mistakes, of which %d %% are old and %d %% warnings: the verdict differs", n, old, warnings)
		}
		if len(got) > 200 || n < 200 && len(got) != n || n >= 200 && got[199].Code != validate.CodeBounds {
			t.Fatalf("%d mistakes: got %d", n, len(got))
		}
	}
}
