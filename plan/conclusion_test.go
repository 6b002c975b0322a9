package plan

import (
	"reflect"
	"testing"
	"time"
)

func TestConclusion(t *testing.T) {
	schema := Conclusion{
		Action: Run, Rung: RungSchema, Reason: Reason{Code: CodeAllowedFileChanged, Names: []string{"/a.yml"}},
		Evidence: Evidence{Allowed: 3, Paths: []string{"/a.yml"}},
	}
	undecided := Conclusion{Remarks: []Reason{{Code: CodeNoTrace}}, Evidence: Evidence{Traces: []TraceProof{{Doubt: "x"}}}}
	decided := Conclusion{Action: Skip, Rung: RungState, Reason: Reason{Code: CodeSameAnswers},
		Evidence: Evidence{Keys: []string{"k"}}}
	result := Conclusion{Action: Skip, Rung: RungResult, Before: schema.Then(undecided).Reasons(),
		Reason: Reason{Code: CodePassedBefore, Count: 1, At: time.Unix(0, 0)}}
	const mayRead = "it may read /a.yml, which changed, and has no queries to look closer"
	for _, c := range []struct {
		name string
		of   Conclusion
		want Decision
	}{
		{"one rung", schema, Decision{Decision: Run, Rung: RungSchema, Code: CodeAllowedFileChanged, Reason: mayRead,
			Evidence: schema.Evidence}},
		{"a rung that decides nothing", schema.Then(undecided), Decision{
			Decision: Run, Rung: RungSchema, Code: CodeAllowedFileChanged,
			Reason:   mayRead + "; no trace of a run that passed is there",
			Evidence: Evidence{Allowed: 3, Paths: []string{"/a.yml"}, Traces: []TraceProof{{Doubt: "x"}}},
		}},
		{"a rung that decides", schema.Then(undecided).Then(decided), Decision{
			Decision: Skip, Rung: RungState, Code: CodeSameAnswers,
			Reason:   "head answers all that it asked when it last passed as it did then",
			Evidence: Evidence{Allowed: 3, Paths: []string{"/a.yml"}, Traces: []TraceProof{{Doubt: "x"}}, Keys: []string{"k"}},
		}},
		{"the rung result says first what would have run", schema.Then(undecided).Then(result), Decision{
			Decision: Skip, Rung: RungResult, Code: CodePassedBefore,
			Reason: mayRead +
				"; no trace of a run that passed is there; its task passed with the same inputs, 1970-01-01 00:00 UTC",
			Evidence: Evidence{Allowed: 3, Paths: []string{"/a.yml"}, Traces: []TraceProof{{Doubt: "x"}}},
		}},
	} {
		c.want.Name, c.want.Tasks = "it", []string{"it/a"}
		if got := c.of.Decision("it", []Task{{ID: "it/a"}}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// Then changes neither of the two conclusions.
func TestThenChangesNothing(t *testing.T) {
	remarks := append(make([]Reason, 0, 2), Reason{Code: CodeNoTrace})
	c := Conclusion{Action: Run, Remarks: remarks}
	c.Then(Conclusion{Remarks: []Reason{{Code: CodeFannedOut}}})
	if got := remarks[:2][1]; got.Code != "" {
		t.Errorf("the remarks of the first conclusion became %+v", got)
	}
}

// The evidence of two rungs together has every field of either of them.
func TestEvidenceTogether(t *testing.T) {
	var full Evidence
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Int:
			f.SetInt(7)
		case reflect.String:
			f.SetString("x")
		default:
			t.Fatalf("field %s: give it a value here", v.Type().Field(i).Name)
		}
	}
	for _, got := range []Evidence{full.with(Evidence{}), Evidence{}.with(full)} {
		if !reflect.DeepEqual(got, full) {
			t.Errorf("got %+v, want %+v", got, full)
		}
	}
}
