package promotions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A timelineCase is the input of the area ledger: what happened when.
type timelineCase struct {
	Start    string
	Targets  []timelineTarget
	Steps    [][]string
	Settings struct {
		AutoMerge bool `json:"auto_merge"`
		Soak      string
		May       map[string][]string
	}
}

// A timelineTarget is a target of a case; its name is also its environment and its channel.
type timelineTarget struct {
	Name, App, File string
	Follows         string   // a branch
	After           []string // publishers
	Ref             string
	SoakDays        int `json:"soak_days"`
	Schedule        string
	Approvers       string
	Verify          *struct {
		For, Measure string
		Back         bool
	}
	Freight string
}

// A timeline plays a case: the real integration over a forge, a repository and records in memory.
type timeline struct {
	*scene
	in     timelineCase
	start  time.Time
	code   map[string][]string // letters of the commits of each repository, newest first
	app    map[string]object   // blocked and hotfix versions, by repository
	down   map[string]bool
	values map[string]string // what verifications measure
	err    error             // of the last loop
	begun  bool              // a loop ran
	jobs   map[string]string // images of Jobs that verify, by target
}

type object = map[string]any

// commitOfLetter returns the commit of a repository that a case names by a letter.
func commitOfLetter(app, letter string) string {
	sum := sha256.Sum256([]byte(app + " " + letter))
	return hex.EncodeToString(sum[:20])
}

// newTimeline returns the world of a case at its beginning.
func newTimeline(t *testing.T, in timelineCase) *timeline {
	t.Helper()
	start, err := time.Parse("2006-01-02T15:04Z07:00", in.Start)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &timeline{in: in, start: start, code: map[string][]string{}, app: map[string]object{}, down: map[string]bool{},
		values: map[string]string{}}
	p.scene = &scene{t: t, world: saastest.New(), bucket: map[string][]byte{}, state: dir, now: start}
	delete(p.world.Data, saastest.File)
	for _, target := range in.Targets {
		p.code[target.App] = []string{"A"}
		p.app[target.App] = object{"blockedVersions": []any{}, "hotfixVersions": []any{}}
		env := "/environments/" + target.Name + ".yml"
		p.world.Data[env] = object{"$schema": "/app-sre/environment-1.yml", "name": target.Name, "labels": object{}}
		p.world.Data[namespaceFile(target.Name)] = object{"$schema": "/openshift/namespace-1.yml", "name": target.Name,
			"app": saastest.Ref(saastest.App), "environment": saastest.Ref(env), "cluster": saastest.Ref(saastest.Cluster)}
	}
	p.forge = newForge(p.files())
	p.forge.byLines = true
	p.client = timelineForge{p.forge, p}
	p.text = func(ref, path string) string {
		c, _ := p.forge.at(ref)
		return c.files[path]
	}
	return p
}

func namespaceFile(name string) string { return "/services/shop/namespaces/" + name + ".yml" }

// path returns the path of a file of a case in the project.
func (timelineTarget) path(file string) string { return "data/services/shop/" + file + ".yml" }

// files returns the saas files of a case.
func (p *timeline) files() map[string]string {
	texts := map[string]string{}
	for _, of := range p.in.Targets {
		path := of.path(of.File)
		if texts[path] != "" {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "$schema: /app-sre/saas-file-2.yml\nname: %s\nresourceTemplates:\n", of.File)
		for _, app := range slices.Sorted(maps.Keys(p.code)) {
			if !slices.ContainsFunc(p.in.Targets, func(t timelineTarget) bool { return t.File == of.File && t.App == app }) {
				continue
			}
			fmt.Fprintf(&b, "- name: %s\n  url: https://github.com/acme/%s\n  path: /t.yml\n  targets:\n", app, app)
			for _, t := range p.in.Targets {
				if t.File == of.File && t.App == app {
					b.WriteString(t.yaml())
				}
			}
		}
		texts[path] = b.String()
	}
	return texts
}

// yaml returns a target as it stands in its file.
func (of timelineTarget) yaml() string {
	var b strings.Builder
	ref := of.Follows
	if ref == "" {
		ref = commitOfLetter(of.App, of.Ref)
	}
	fmt.Fprintf(&b, "  # about %s\n  - namespace: {$ref: %s}\n    ref: %s # of %s\n    promotion:\n      publish: [%s]\n", of.Name,
		namespaceFile(of.Name), ref, of.Name, of.Name)
	if of.After != nil {
		fmt.Fprintf(&b, "      auto: true\n      subscribe: [%s]\n", strings.Join(of.After, ", "))
	}
	if of.SoakDays > 0 {
		fmt.Fprintf(&b, "      soakDays: %d\n", of.SoakDays)
	}
	if of.Schedule != "" {
		fmt.Fprintf(&b, "      schedule: %q\n", of.Schedule)
	}
	return b.String()
}

// target returns a target of the case.
func (p *timeline) target(name string) timelineTarget {
	p.t.Helper()
	for _, of := range p.in.Targets {
		if of.Name == name {
			return of
		}
	}
	p.t.Fatalf("the case has no target %q", name)
	return timelineTarget{}
}

// refOf returns the ref of a target on a branch or commit.
func (p *timeline) refOf(at, name string) string {
	of := p.target(name)
	m := regexp.MustCompile(`ref: (\S+) # of ` + regexp.QuoteMeta(name) + "\n").FindStringSubmatch(p.text(at, of.path(of.File)))
	if m == nil {
		return ""
	}
	return m[1]
}

// query answers over the data of main.
func (p *timeline) query() integration.QueryFunc {
	w := p.world.Clone()
	var components []any
	for _, name := range slices.Sorted(maps.Keys(p.app)) {
		c := maps.Clone(p.app[name])
		c["name"], c["resource"], c["url"] = name, "upstream", "https://github.com/acme/"+name
		components = append(components, c)
	}
	w.Data[saastest.App]["codeComponents"] = components
	main, _ := p.forge.at("main")
	for path, text := range main.files {
		var data object
		if err := yaml.Unmarshal([]byte(text), &data); err != nil {
			p.t.Fatal(err)
		}
		for key, value := range saastest.New().Data[saastest.File] {
			if _, has := data[key]; !has {
				data[key] = value
			}
		}
		w.Data[strings.TrimPrefix(path, "data")] = data
	}
	return w.Query(p.t)
}

// env returns the environment of a loop.
func (p *timeline) env() integration.Environment {
	own := object{"forge": object{"url": "https://gitlab.example.com", "project": "group/project",
		"token": object{"path": "a", "field": "b"}}, "folder": "data", "records": "s3://bucket",
		"auto_merge": p.in.Settings.AutoMerge}
	if p.in.Settings.May != nil {
		own["may"] = p.in.Settings.May
	}
	if p.in.Settings.Soak != "" {
		own["soak"] = p.in.Settings.Soak
	}
	approvers, freight, verify := object{}, object{}, object{}
	for _, of := range p.in.Targets {
		if of.Approvers != "" {
			approvers[of.Name] = of.Approvers
		}
		if of.Freight != "" {
			list, _ := freight[of.Freight].([]any)
			freight[of.Freight] = append(list, of.Name)
		}
		if of.Verify != nil {
			verify[of.Name] = object{"for": of.Verify.For, "measure": of.Verify.Measure + " of " + of.Name, "least": 1,
				"back": of.Verify.Back}
		}
	}
	for name, image := range p.jobs {
		verify[name] = object{"for": "10m", "job": object{"image": image, "args": []any{"--fast"}}}
	}
	own["approvers"], own["freight"], own["verify"] = approvers, freight, verify
	raw, err := json.Marshal(own)
	if err != nil {
		p.t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml", fmt.Appendf(nil, "version: 1\nintegrations:\n  %s:\n    settings: %s\n", Name, raw))
	if err != nil {
		p.t.Fatal(err)
	}
	return integration.Environment{Integration: Name, Settings: rules.For(Name), Query: p.query(),
		State: state.ReadOnly(p.state), Now: func() time.Time { return p.now }, Log: &p.log, Workers: 1,
		Secret: func(context.Context, integration.SecretRef) (string, error) { return "token", nil },
		Bucket: func(context.Context, string) (integration.BucketReader, error) { return p.scene, nil },
		Report: func(integration.Remark) {}}
}

// native returns the integration over the services of the case.
func (p *timeline) native() native {
	return native{Services{Repositories: p, Measurements: p,
		Forge: func(Project) (services.ForgeWriter, error) { return p.client, nil }}}
}

var errDown = errors.New("it does not answer")

// A timelineForge is a forge that may be down.
type timelineForge struct {
	*fakeForge
	of *timeline
}

func (f timelineForge) Branches(ctx context.Context, prefix string) (map[string]string, error) {
	if f.of.down["forge"] {
		return nil, errDown
	}
	return f.fakeForge.Branches(ctx, prefix)
}

func (p *timeline) Heads(_ context.Context, of services.Repository, _ []string) (map[string]string, error) {
	if p.down["code"] {
		return nil, errDown
	}
	app := strings.TrimPrefix(of.URL, "https://github.com/acme/")
	return map[string]string{"main": commitOfLetter(app, p.code[app][0])}, nil
}

func (p *timeline) Log(_ context.Context, of services.Repository, commit string, limit int) ([]string, error) {
	if p.down["code"] {
		return nil, errDown
	}
	app := strings.TrimPrefix(of.URL, "https://github.com/acme/")
	var all []string
	for _, letter := range p.code[app] {
		if c := commitOfLetter(app, letter); c == commit || all != nil {
			all = append(all, c)
		}
	}
	return all[:min(limit, len(all))], nil
}

func (p *timeline) Files(context.Context, services.Repository, string, string, bool) (map[string][]byte, error) {
	return nil, errors.ErrUnsupported
}

func (p *timeline) Measure(_ context.Context, _ string, _ services.Login, expression string) (float64, error) {
	_, name, _ := strings.Cut(expression, " of ")
	switch p.values[name] {
	case "good":
		return 1, nil
	case "bad":
		return 0, nil
	}
	return 0, errDown
}

// model returns the data of main.
func (p *timeline) model() (*saas.Model, saas.Settings) {
	own, err := readSettings(p.env().Settings.Own)
	if err != nil {
		p.t.Fatal(err)
	}
	m, err := saas.Read(p.t.Context(), p.query(), own.Settings)
	if err != nil {
		p.t.Fatal(err)
	}
	return m, own.Settings
}

// found returns a target of the data.
func (p *timeline) found(m *saas.Model, name string) *saas.Target {
	all := m.Called(name)
	if len(all) != 1 {
		p.t.Fatalf("%d targets are called %q", len(all), name)
	}
	return all[0]
}

// letter returns the letter of a commit of a repository, by its first digits.
func (p *timeline) letter(app, commit string) string {
	for _, l := range append([]string{"?"}, p.code[app]...) {
		if commit != "" && strings.HasPrefix(commitOfLetter(app, l), commit) {
			return l
		}
	}
	return commit
}

// open returns the open merge request that changes a target, the last closed one if there is none and closed is set.
func (p *timeline) request(name string, want services.MergeState) *services.MergeRequest {
	for _, m := range slices.Backward(p.forge.requests) {
		b, ok := readBlock(m.Description)
		if m.State == want && ok && slices.ContainsFunc(b.Entries, func(e entry) bool {
			return e.Namespace == namespaceFile(name)
		}) {
			return m
		}
	}
	return nil
}

// after returns a time after the start as the cases write it.
func (p *timeline) after(at time.Time) string {
	d := at.Sub(p.start).Round(time.Minute)
	out := fmt.Sprintf("%dh", int(d.Hours()))
	if m := int(d.Minutes()) % 60; m != 0 {
		out += fmt.Sprintf("%dm", m)
	}
	return out
}

// heldLine matches a line about something that waits.
var heldLine = regexp.MustCompile(`(?m)^HELD (\S+) (\S+?)(?: until (\S+))?: (\S+) \S+: .+$`)

// A held is such a line, in the words of the cases.
type held struct{ commit, code, until string }

// held returns what waits, by target.
func (p *timeline) held() map[string]held {
	out := map[string]held{}
	m, _ := p.model()
	for _, line := range heldLine.FindAllStringSubmatch(p.log.String(), -1) {
		for _, of := range p.in.Targets {
			t := p.found(m, of.Name)
			label, _, _ := strings.Cut(t.Label(), " ")
			if !strings.Contains(line[0], ": "+t.Label()+": ") || label != line[4] {
				continue
			}
			h := held{commit: p.letter(of.App, line[2]), code: line[1]}
			if at, err := time.Parse("2006-01-02T15:04Z", line[3]); err == nil {
				h.until = at.Format("01-02T15:04")
			}
			out[of.Name] = h
		}
	}
	return out
}

// books returns the ledgers of all targets, by name.
func (p *timeline) books() map[string]*ledger.Book {
	out := map[string]*ledger.Book{}
	m, _ := p.model()
	for _, of := range p.in.Targets {
		t := p.found(m, of.Name)
		b, _, err := ledger.Read(p.t.Context(), reader{p.bucket}, t.UID(), of.Name)
		if err != nil {
			p.t.Fatal(err)
		}
		out[of.Name] = b
	}
	return out
}

// A reader reads the records even while they are down.
type reader struct{ objects map[string][]byte }

func (r reader) Get(_ context.Context, key string) ([]byte, string, error) {
	raw, ok := r.objects[key]
	if !ok {
		return nil, "", integration.ErrNotThere
	}
	return raw, versionOf(raw), nil
}

func (r reader) Keys(context.Context, string) ([]string, error) { return nil, errors.ErrUnsupported }

// expectRef returns what is expected of the ref of a target in main after an edit.
func (p *timeline) edit(name, was, is string) {
	of := p.target(name)
	text := p.text("main", of.path(of.File))
	if !strings.Contains(text, was) {
		p.t.Fatalf("%s has no %q", of.File, was)
	}
	p.forge.edit("main", of.path(of.File), strings.Replace(text, was, is, 1))
}

// jsonOf decodes a value strictly.
func jsonOf[T any](t testing.TB, raw json.RawMessage) T {
	t.Helper()
	var out T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("the driver does not know the expectation %s: %v", raw, err)
	}
	return out
}
