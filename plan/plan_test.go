package plan_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// sample returns an unsealed plan that uses everything once. Its decisions have no
// code, as in plans of an earlier prcheck.
func sample() *plan.Plan {
	return &plan.Plan{
		Base: plan.Side{Ref: "base.json", SHA256: strings.Repeat("a", 64), Commit: "c0"},
		Head: plan.Side{Ref: "head.json", SHA256: strings.Repeat("b", 64), Commit: "c1"},
		Changes: plan.Changes{Datafiles: []plan.Datafile{
			{Path: "/users/ana.yml", Schema: "/access/user-1.yml", Kind: plan.Modified, Fields: []string{"/roles/1"}},
		}},
		Integrations: []plan.Decision{
			{Name: "dns", Decision: plan.Skip, Rung: plan.RungSchema, Reason: "no schema it may read changed"},
			{Name: "tf-users", Decision: plan.Shards, Rung: plan.RungShards, Reason: "one of 9 shards differs <&>\u2028",
				Evidence: plan.Evidence{Keys: []string{"app-sre"}}, Tasks: []string{"tf-users/app-sre"}},
		},
		Tasks: []plan.Task{{ID: "tf-users/app-sre", Integration: "tf-users", Shard: "app-sre",
			Argv: []string{"tf", "--dry-run"}, Timeout: "10m0s", EstimateSeconds: 42, Inputs: "sha256:1"}},
	}
}

func sealed(t testing.TB) *plan.Plan {
	t.Helper()
	p := sample()
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

func written(t testing.TB, p *plan.Plan) string {
	t.Helper()
	var out bytes.Buffer
	if err := plan.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriteThenReadGivesTheSamePlan(t *testing.T) {
	want := sealed(t)
	text := written(t, want)
	got, err := plan.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if again := written(t, got); again != text {
		t.Errorf("second writing differs:\n%s\nwant\n%s", again, text)
	}
	if strings.Contains(text, "null") || !strings.HasSuffix(text, "}\n") || !strings.Contains(text, "<&>") {
		t.Errorf("want [] for empty lists, a newline at the end and no HTML escapes:\n%s", text)
	}
}

func TestCodeIsWrittenAndRead(t *testing.T) {
	p := sample()
	p.Integrations[0].Code = plan.CodeNoAllowedFile
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	text := written(t, p)
	got, err := plan.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if code := got.Integrations[0].Code; code != plan.CodeNoAllowedFile || strings.Count(text, `"code": `) != 1 {
		t.Errorf("got the code %q from\n%s", code, text)
	}
}

func TestSealIsDeterministicAndLeavesSharedSlicesAlone(t *testing.T) {
	decisions := sample().Integrations
	p := sample()
	p.Integrations = decisions
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	if decisions[0].Tasks != nil {
		t.Error("Seal changed the caller's slice")
	}
	if other := sealed(t); other.Digest != p.Digest {
		t.Errorf("digests differ: %s and %s", other.Digest, p.Digest)
	}
}

// What jq -cjS 'del(.digest)' made of this plan is recorded; where there is a jq,
// the record itself is checked too.
func TestDigestIsWhatJQGives(t *testing.T) {
	p := sample()
	p.Warnings = []string{"\t\"\\ \b\f\r\n\x01\x1f\x7f é \u2028 \U0001f600 bad\xff"}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile("testdata/jq.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(recorded)); got != p.Digest {
		t.Errorf("jq gave %s, want %s", got, p.Digest)
	}
	if _, err := exec.LookPath("jq"); err != nil {
		return
	}
	jq := exec.CommandContext(t.Context(), "jq", "-cjS", "del(.digest)")
	jq.Stdin = strings.NewReader(written(t, p))
	if got, err := jq.Output(); err != nil || !bytes.Equal(got, recorded) {
		t.Errorf("jq gives %s, %v, and testdata/jq.json is %s", got, err, recorded)
	}
}

func TestWriteRefusesAChangedPlan(t *testing.T) {
	p := sealed(t)
	p.Integrations[0].Reason = "because"
	if err := plan.Write(&bytes.Buffer{}, p); err == nil || !strings.Contains(err.Error(), "seal it first") {
		t.Errorf("got %v, want an error that says to seal it", err)
	}
}

func TestSealRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"order":            {func(p *plan.Plan) { p.Integrations[0].Name = "zzz" }, "name order"},
		"twice":            {func(p *plan.Plan) { p.Integrations[0].Name = "tf-users" }, "name order"},
		"no name":          {func(p *plan.Plan) { p.Integrations[0].Name = "" }, "name is empty"},
		"verdict":          {func(p *plan.Plan) { p.Integrations[0].Decision = "maybe" }, `decision is "maybe"`},
		"rung":             {func(p *plan.Plan) { p.Integrations[0].Rung = "luck" }, `rung is "luck"`},
		"no reason":        {func(p *plan.Plan) { p.Integrations[0].Reason = "" }, "no reason"},
		"skip with task":   {func(p *plan.Plan) { p.Integrations[1].Decision = plan.Skip }, "skipped but has the task"},
		"run without task": {func(p *plan.Plan) { p.Integrations[0].Decision = plan.Run }, "there is no task"},
		"unknown task":     {func(p *plan.Plan) { p.Integrations[1].Tasks[0] = "x" }, `"x" does not exist`},
		"listed twice": {func(p *plan.Plan) {
			p.Integrations[1].Tasks = []string{"tf-users/app-sre", "tf-users/app-sre"}
		}, "listed twice"},
		"foreign task": {func(p *plan.Plan) { p.Tasks[0].Integration = "dns" }, `belongs to integration "dns"`},
		"unlisted task": {func(p *plan.Plan) {
			p.Integrations = p.Integrations[:1]
		}, `no decision for integration "tf-users" lists it`},
		"same id":      {func(p *plan.Plan) { p.Tasks = append(p.Tasks, p.Tasks[0]) }, "is taken"},
		"no id":        {func(p *plan.Plan) { p.Tasks[0].ID = "" }, "tasks[0]: the id is empty"},
		"timeout word": {func(p *plan.Plan) { p.Tasks[0].Timeout = "soon" }, "is not a duration"},
		"timeout zero": {func(p *plan.Plan) { p.Tasks[0].Timeout = "0s" }, "is not positive"},
		"no argv":      {func(p *plan.Plan) { p.Tasks[0].Argv = nil }, "argv is empty"},
		"no program":   {func(p *plan.Plan) { p.Tasks[0].Argv = []string{""} }, "no program"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := sample()
			test.change(p)
			if err := p.Seal(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestSealAllowsNativeAndBlockedWithoutCommand(t *testing.T) {
	for _, task := range []plan.Task{{Native: true}, {Blocked: "only head defines it"}} {
		p := sample()
		p.Tasks[0].Argv, p.Tasks[0].Native, p.Tasks[0].Blocked = nil, task.Native, task.Blocked
		if err := p.Seal(); err != nil {
			t.Errorf("native %t, blocked %q: %v", task.Native, task.Blocked, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	good := written(t, sealed(t))
	replace := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	tests := map[string]struct{ text, want string }{
		"empty":         {"", "ends too early"},
		"cut":           {good[:len(good)/2], "ends too early"},
		"not json":      {"plan:", "invalid character"},
		"list":          {"[]", "not a JSON object"},
		"trailing":      {good + "{}", "more after the document"},
		"deep":          {strings.Repeat("[", 1<<20), "nested deeper"},
		"deep objects":  {strings.Repeat(`{"a":`, 1<<20), "nested deeper"},
		"version":       {replace("prcheck/v1", "prcheck/v9"), `"prcheck/v9"`},
		"no version":    {"{}", `version is ""`},
		"no digest":     {`{"version":"prcheck/v1"}`, `no "digest"`},
		"tampered":      {replace("--dry-run", "--wet-run"), "changed or damaged"},
		"unknown field": {replace(`"base": {`, `"later": 1, "base": {`), "changed or damaged"},
		"twice":         {replace(`"base": {`, `"base": 1, "base": {`), `key "base" appears twice`},
		"wrong type":    {replace(`"tasks": []`, `"tasks": 7`), "cannot unmarshal"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := plan.Read(strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestFieldsOfALaterVersionAreCoveredAndAccepted(t *testing.T) {
	p := sealed(t)
	text := strings.Replace(written(t, p), `"base": {`, `"later": {"z": 1.50, "a": null}, "base": {`, 1)
	_, err := plan.Read(strings.NewReader(text))
	_, after, ok := strings.Cut(err.Error(), "contents give ")
	if !ok {
		t.Fatalf("got %v, want the true digest in it", err)
	}
	digest, _, _ := strings.Cut(after, ": ")
	later, err := plan.Read(strings.NewReader(strings.Replace(text, p.Digest, digest, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(&bytes.Buffer{}, later); err == nil {
		t.Error("a plan was written that lost a field")
	}
}

func TestLookUps(t *testing.T) {
	p := sealed(t)
	if d, ok := p.Decision("dns"); !ok || d.Rung != plan.RungSchema {
		t.Errorf("got %+v, %t", d, ok)
	}
	if _, ok := p.Decision("nope"); ok {
		t.Error("found a decision that is not there")
	}
	if task, ok := p.Task("tf-users/app-sre"); !ok || task.Shard != "app-sre" {
		t.Errorf("got %+v, %t", task, ok)
	}
	if _, ok := p.Task("nope"); ok {
		t.Error("found a task that is not there")
	}
}

// FuzzRead reads a document in which some bytes of a plan are replaced. The fuzzed text is
// short, because Go makes each new input smaller in a time that grows with the square of its
// size, and meanwhile tries no other input.
func FuzzRead(f *testing.F) {
	whole := written(f, sealed(f))
	f.Add(uint16(0), uint16(0), "")
	f.Add(uint16(0), uint16(math.MaxUint16), `{"version":"prcheck/v1","digest":"sha256:","later":[1.50,{"a":null}]}`)
	f.Add(uint16(0), uint16(math.MaxUint16),
		`{"version":"prcheck/v1","plan":"x","results":[{"task":"a","status":"passed"}]}`)
	f.Fuzz(func(t *testing.T, at, size uint16, text string) {
		from := min(int(at), len(whole))
		text = whole[:from] + text + whole[min(from+int(size), len(whole)):]
		if rs, err := plan.ReadResults(strings.NewReader(text)); err == nil {
			if err := plan.WriteResults(&bytes.Buffer{}, rs); err != nil {
				t.Fatalf("results that were read cannot be written: %v", err)
			}
		}
		p, err := plan.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if err := p.Seal(); err != nil {
			t.Fatalf("a plan that was read cannot be sealed: %v", err)
		}
		again, err := plan.Read(strings.NewReader(written(t, p)))
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("got %+v, %v\nwant %+v", again, err, p)
		}
	})
}
