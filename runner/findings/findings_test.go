package findings_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/findings"
)

// isFile knows the files of the bundles of these tests.
func isFile(path string) bool {
	return path == "/a.yml" || path == "/b.yml" || path == "/hidden\x00.yml"
}

// collect returns the findings of some reports.
func collect(reports ...plan.Finding) (*findings.Collection, []plan.Finding) {
	c := findings.New(mask.New([]string{"hunter22", "/b/hunter22"}), isFile)
	for _, f := range reports {
		c.Add(f)
	}
	found, _ := c.Findings()
	return c, found
}

func TestFindingIsCleaned(t *testing.T) {
	const long = plan.MaxFindingPlace
	for name, c := range map[string]struct{ in, want plan.Finding }{
		"as it is": {plan.Finding{Code: "DUPLICATE", Severity: "warning",
			Place: plan.Place{File: "/a.yml", Pointer: "/x/0"}, Message: "m", Old: true},
			plan.Finding{Code: "DUPLICATE", Severity: "warning", Place: plan.Place{File: "/a.yml", Pointer: "/x/0"},
				Message: "m", Old: true}},
		"an unknown severity": {plan.Finding{Severity: "fatal", Message: "m"},
			plan.Finding{Severity: "error", Message: "m"}},
		"no severity": {plan.Finding{Message: "m"}, plan.Finding{Severity: "error", Message: "m"}},
		"a code in lower case": {plan.Finding{Code: "duplicate", Severity: "note", Message: "m"},
			plan.Finding{Severity: "note", Message: "m"}},
		"a long code": {plan.Finding{Code: plan.FindingCode(strings.Repeat("A", 41)), Severity: "note", Message: "m"},
			plan.Finding{Severity: "note", Message: "m"}},
		"a foreign file": {plan.Finding{Severity: "note", Place: plan.Place{File: "/etc/passwd", Pointer: "/x"},
			Message: "m"}, plan.Finding{Severity: "note", Message: "m"}},
		"a hidden character": {plan.Finding{Severity: "note", Place: plan.Place{File: "/hidden\x00.yml"}, Message: "m"},
			plan.Finding{Severity: "note", Message: "m"}},
		"not a pointer": {plan.Finding{Severity: "note", Place: plan.Place{File: "/a.yml", Pointer: "x"}, Message: "m"},
			plan.Finding{Severity: "note", Place: plan.Place{File: "/a.yml"}, Message: "m"}},
		"a long pointer": {plan.Finding{Severity: "note",
			Place: plan.Place{File: "/a.yml", Pointer: "/" + strings.Repeat("x", long)}, Message: "m"},
			plan.Finding{Severity: "note", Place: plan.Place{File: "/a.yml"}, Message: "m"}},
		"a secret pointer": {plan.Finding{Severity: "note", Place: plan.Place{File: "/a.yml", Pointer: "/x/hunter22"},
			Message: "m"}, plan.Finding{Severity: "note", Place: plan.Place{File: "/a.yml"}, Message: "m"}},
		"a secret": {plan.Finding{Severity: "note", Message: "it is hunter\x1b[0m22!"},
			plan.Finding{Severity: "note", Message: "it is ***!"}},
		"lines and escapes": {plan.Finding{Severity: "note", Message: " a\r\n\x1b[2J::error::\u202eb "},
			plan.Finding{Severity: "note", Message: "a ::error::b"}},
		"nothing": {plan.Finding{Severity: "note", Message: " \n"},
			plan.Finding{Severity: "note", Message: "(a finding without a message)"}},
		"a long message": {plan.Finding{Severity: "note", Message: strings.Repeat("ü", 301)},
			plan.Finding{Severity: "note", Message: strings.Repeat("ü", 299) + "…"}},
		"half a secret": {plan.Finding{Severity: "note", Message: "x" + strings.Repeat(" ", 4<<10-5) + "hunter22"},
			plan.Finding{Severity: "note", Message: "x…"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := collect(c.in); len(got) != 1 || got[0] != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	want := []plan.Finding{
		{Severity: "error", Message: "b"}, {Severity: "error", Place: plan.Place{File: "/a.yml"}, Message: "a"},
		{Severity: "error", Place: plan.Place{File: "/a.yml", Pointer: "/x"}, Code: "A", Message: "b"},
		{Severity: "error", Place: plan.Place{File: "/a.yml", Pointer: "/x"}, Code: "B", Message: "a"},
		{Severity: "warning", Message: "a"}, {Severity: "note", Message: "a"},
		{Severity: "error", Message: "a", Old: true},
	}
	reversed := slices.Clone(want)
	slices.Reverse(reversed)
	if _, got := collect(append(reversed, want[0])...); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFailure(t *testing.T) {
	at := func(file, message string) plan.Finding {
		return plan.Finding{Code: "TYPE", Severity: "error", Place: plan.Place{File: file, Pointer: "/x"}, Message: message}
	}
	warning, old := plan.Finding{Severity: "warning", Message: "m"}, plan.Finding{Severity: "error", Message: "m",
		Old: true}
	var many []plan.Finding
	for i := range 1000 {
		many = append(many, at("", fmt.Sprintf("message %03d", i)))
	}
	for name, c := range map[string]struct {
		reports []plan.Finding
		want    string
		hasFile bool
	}{
		"none":            {nil, "<nil>", false},
		"none that fails": {[]plan.Finding{warning, old}, "<nil>", false},
		"one": {[]plan.Finding{at("/a.yml", "hunter22 is no number"), warning},
			"TYPE: /a.yml#/x: *** is no number", true},
		"one twice": {[]plan.Finding{at("/a.yml", "m"), at("/a.yml", "m")}, "TYPE: /a.yml#/x: m", true},
		"three": {[]plan.Finding{at("/b.yml", "m"), at("/a.yml", "n"), at("/a.yml", "m")},
			"3 mistakes in the data, the first: TYPE: /a.yml#/x: m", true},
		"one without file": {[]plan.Finding{at("/b.yml", "m"), at("", "n")}, "2 findings fail it, the first: TYPE: n", true},
		"without files":    {[]plan.Finding{at("", "n")}, "TYPE: n", false},
		"too many":         {many, "1000 findings fail it, the first: TYPE: message 000", false},
	} {
		t.Run(name, func(t *testing.T) {
			collection, _ := collect(c.reports...)
			got := collection.Failure()
			if text := fmt.Sprint(got); got == nil != (c.want == "<nil>") ||
				got != nil && (text != c.want || got.HasFile != c.hasFile) {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

// Whatever the order of the reports is, and however many there are, the same is kept: the most
// important findings. All others are counted.
func TestOrderOfReports(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var reports []plan.Finding
		for range rng.IntN(700) {
			reports = append(reports, plan.Finding{
				Severity: []plan.Severity{"error", "warning", "note", "?"}[rng.IntN(4)],
				Place:    plan.Place{File: []string{"", "/a.yml", "/b.yml"}[rng.IntN(3)]},
				Message:  strings.Repeat("long ", rng.IntN(30)/29*2000) + fmt.Sprint(rng.IntN(200)), Old: rng.IntN(2) == 0,
			})
		}
		first, want := collect(reports...)
		_, beyond := first.Findings()
		rng.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
		second, got := collect(reports...)
		_, beyondToo := second.Findings()
		if !slices.Equal(got, want) || beyond != beyondToo || !reflect.DeepEqual(first.Failure(), second.Failure()) {
			t.Fatalf("seed %d: got %d findings and %d more, want %d and %d", seed, len(got), beyondToo, len(want), beyond)
		}
		distinct := map[plan.Finding]bool{}
		for _, f := range reports {
			_, one := collect(f)
			distinct[one[0]] = true
		}
		all := slices.SortedFunc(func(yield func(plan.Finding) bool) {
			for f := range distinct {
				if !yield(f) {
					return
				}
			}
		}, findings.Compare)
		if len(want) < len(all) && beyond < len(all)-len(want) || !slices.Equal(want, all[:len(want)]) {
			t.Fatalf("seed %d: of %d findings %d are kept and %d counted", seed, len(all), len(want), beyond)
		}
	}
}

// A flood of long reports from many goroutines costs no more than what is kept.
func TestFlood(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 30_000
	}
	c := findings.New(mask.New([]string{"hunter22"}), isFile)
	long := strings.Repeat("x", 10<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := worker; i < n; i += 8 {
				// each more important than all before
				c.Add(plan.Finding{Severity: plan.SeverityWarning, Place: plan.Place{File: "/a.yml"},
					Message: fmt.Sprintf("%09d", n-i)})
				c.Add(plan.Finding{Severity: plan.SeverityError, Place: plan.Place{File: long, Pointer: long},
					Code: plan.FindingCode(long), Message: long[i%1000:]})
			}
		}()
	}
	wg.Wait()
	found, beyond := c.Findings()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap grew by %d KiB", grown>>10)
	}
	// Of a message only the beginning is kept, so all long ones are one.
	if len(found) != plan.MaxFindings || beyond != n-plan.MaxFindings+1 || found[1].Message != "000000001" ||
		found[0].Severity != plan.SeverityError ||
		utf8.RuneCountInString(found[0].Message) != plan.MaxFindingMessage {
		t.Errorf("got %d findings and %d more: %+v", len(found), beyond, found[:2])
	}
	runtime.KeepAlive(long)
}

// The findings of a result have a bounded size, and the rest is counted.
func TestFindingsAreBoundedTogether(t *testing.T) {
	var reports []plan.Finding
	for i := range plan.MaxFindings {
		reports = append(reports,
			plan.Finding{Severity: plan.SeverityNote, Place: plan.Place{File: "/a.yml", Pointer: "/" + strings.Repeat("x", 900)},
				Message: fmt.Sprint(i)})
	}
	c, found := collect(reports...)
	_, beyond := c.Findings()
	if len(found) == 0 || len(found) > 72 || len(found)+beyond != plan.MaxFindings {
		t.Errorf("got %d findings and %d more", len(found), beyond)
	}
}

// Reports after the end of an attempt are ignored: the result is written already.
func TestLateReports(t *testing.T) {
	c, _ := collect()
	c.Add(plan.Finding{Severity: plan.SeverityError, Message: "late"})
	if found, beyond := c.Findings(); len(found)+beyond > 0 || c.Failure() != nil {
		t.Errorf("got %v", found)
	}
}

// Of a long message only its beginning stays in memory.
func TestLongMessagesAreFreed(t *testing.T) {
	c := findings.New(mask.New(nil), isFile)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range plan.MaxFindings {
		c.Add(plan.Finding{Severity: plan.SeverityError, Message: fmt.Sprint(i) + strings.Repeat("x", 1<<20)})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap grew by %d KiB", grown>>10)
	}
	if found, _ := c.Findings(); len(found) != plan.MaxFindings {
		t.Errorf("got %d findings", len(found))
	}
}
