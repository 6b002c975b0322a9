package promotions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A scene is a forge whose main branch has the data, a repository with code, records, and the
// integration.
type scene struct {
	t         testing.TB
	forge     *fakeForge
	client    services.ForgeWriter // the forge, unless another one has the data
	text      func(ref, path string) string
	world     *saastest.World
	code      []string // commits of the branch main of the code, newest first
	noCode    error    // the repository does not answer
	noRecords error
	bucket    map[string][]byte // records
	uids      map[string]string // of publishers, by channel
	state     state.Store
	now       time.Time
	own       string // more settings
	value     float64
	files     int
	size      int      // templates in a file
	codes     []string // the path of the secret for code of each file, if there are any
	notices   services.Notifier
	opens     string // the only secret that opens the repository, "" if all do

	asked    []string // passwords that the repository got
	log      bytes.Buffer
	findings []string
	standing map[string]integration.Standing
	flows    []integration.Flow
}

// sha returns the commit of a number.
func sha(n int) string { return fmt.Sprintf("c%039x", n) }

// newScene returns a scene with so many saas files of so many templates, each with a target that
// publishes a channel and one that subscribes to it. Production runs the first commit.
func newScene(t testing.TB, files, size int) *scene {
	t.Helper()
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, world: saastest.New(), code: []string{sha(1)}, bucket: map[string][]byte{},
		uids: map[string]string{}, state: dir, now: begin, files: files, size: size, value: 1}
	texts := map[string]string{"README.md": "read me\n"}
	for f := range files {
		text := fmt.Sprintf("# saas file %d\n$schema: /app-sre/saas-file-2.yml\nname: saas-%d\nresourceTemplates:\n", f, f)
		for i := range size {
			text += fmt.Sprintf(`- name: t%d
  # targets of t%d
  targets:
  - namespace: {$ref: %s}
    ref: main
    promotion: {publish: [c-%d-%d]}
  - namespace: {$ref: %s}
    ref: %s # prod
    promotion:
      auto: true
      subscribe: [c-%d-%d]
`, i, i, saastest.Stage, f, i, saastest.Production, sha(1), f, i)
		}
		texts[s.file(f)] = text
	}
	s.forge = newForge(texts)
	s.client = s.forge
	s.text = func(ref, path string) string {
		c, _ := s.forge.at(ref)
		return c.files[path]
	}
	return s
}

// file returns the path of a saas file in the project.
func (s *scene) file(f int) string { return fmt.Sprintf("data/services/shop/saas-%d.yml", f) }

var refPattern = regexp.MustCompile(`ref: ([0-9a-f]{40}) # prod`)

// refs returns the refs of production in a saas file of a branch.
func (s *scene) refs(branch string, f int) []string {
	var out []string
	for _, m := range refPattern.FindAllStringSubmatch(s.text(branch, s.file(f)), -1) {
		out = append(out, m[1])
	}
	return out
}

// query returns what answers queries over the data of main.
func (s *scene) query() integration.QueryFunc {
	w := s.world.Clone()
	proto := w.Data[saastest.File]
	delete(w.Data, saastest.File)
	raw, err := json.Marshal(proto)
	if err != nil {
		s.t.Fatal(err)
	}
	for f := range s.files {
		var data map[string]any
		if err := json.Unmarshal(raw, &data); err != nil {
			s.t.Fatal(err)
		}
		template := data["resourceTemplates"].([]any)[0].(map[string]any)
		data["name"] = fmt.Sprintf("saas-%d", f)
		var all []any
		for i, ref := range s.refs("main", f) {
			one := maps.Clone(template)
			one["name"] = fmt.Sprintf("t%d", i)
			channel := fmt.Sprintf("c-%d-%d", f, i)
			targets := template["targets"].([]any)
			stage, prod := maps.Clone(targets[0].(map[string]any)), maps.Clone(targets[1].(map[string]any))
			stage["promotion"] = map[string]any{"publish": []any{channel}}
			prod["ref"] = ref
			p := maps.Clone(prod["promotion"].(map[string]any))
			p["subscribe"] = []any{channel}
			prod["promotion"] = p
			one["targets"] = []any{stage, prod}
			all = append(all, one)
		}
		if data["resourceTemplates"] = all; s.codes != nil {
			auth := fmt.Sprintf("/pipelines/authentication-%d.yml", f)
			w.Data[auth] = map[string]any{"$schema": "/app-sre/saas-file-authentication-1.yml",
				"code": map[string]any{"path": s.codes[f], "field": "token"}}
			data["authentication"] = saastest.Ref(auth)
		}
		w.Data[fmt.Sprintf("/services/shop/saas-%d.yml", f)] = data
	}
	return w.Query(s.t)
}

// deploy lets the publisher of a template run a commit.
func (s *scene) deploy(f, i int, commit string, success bool) {
	channel := fmt.Sprintf("c-%d-%d", f, i)
	if s.uids[channel] == "" {
		m, err := saas.Read(s.t.Context(), s.query(), saas.Settings{})
		if err != nil {
			s.t.Fatal(err)
		}
		s.uids[channel] = m.Publishers(channel)[0].UID()
	}
	key, err := promotion.Key(promotion.RecordPlace{Channel: channel, UID: s.uids[channel]}, commit)
	if err != nil {
		s.t.Fatal(err)
	}
	s.bucket[key] = promotion.Result{Success: success, Saas: fmt.Sprintf("saas-%d", f), Hash: "0123456789abcdef",
		At: s.now}.Next(nil).Bytes()
}

func (s *scene) deployAll(commit string) {
	for f := range s.files {
		for i := range s.size {
			s.deploy(f, i, commit, true)
		}
	}
}

func (s *scene) Heads(_ context.Context, of services.Repository, _ []string) (map[string]string, error) {
	return map[string]string{"main": s.code[0]}, s.open(of)
}

// open returns the error of a request to the repository of the code.
func (s *scene) open(of services.Repository) error {
	s.asked = append(s.asked, of.Password)
	if s.opens != "" && of.Password != s.opens {
		return errors.New("status 403")
	}
	return s.noCode
}

func (s *scene) Log(_ context.Context, of services.Repository, commit string, limit int) ([]string, error) {
	i := slices.Index(s.code, commit)
	if i < 0 {
		return nil, services.ErrNotThere
	}
	return s.code[i:min(len(s.code), i+limit)], s.open(of)
}

func (s *scene) Files(context.Context, services.Repository, string, string, bool) (map[string][]byte, error) {
	return nil, errors.ErrUnsupported
}

func (s *scene) Measure(context.Context, string, services.Login, string) (float64, error) {
	return s.value, nil
}

func (s *scene) Get(_ context.Context, key string) ([]byte, string, error) {
	raw, ok := s.bucket[key]
	if s.noRecords != nil {
		return nil, "", s.noRecords
	}
	if !ok {
		return nil, "", integration.ErrNotThere
	}
	return raw, versionOf(raw), nil
}

func (s *scene) Keys(_ context.Context, prefix string) ([]string, error) {
	keys := slices.Sorted(maps.Keys(s.bucket))
	return slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, prefix) }), nil
}

// env returns the environment of a loop.
func (s *scene) env() integration.Environment { return s.envOver(s.query()) }

// envOver returns the environment of a loop over other data.
func (s *scene) envOver(query integration.QueryFunc) integration.Environment {
	s.t.Helper()
	own := "{forge: {url: https://gitlab.example.com, project: group/project, token: {path: a, field: b}}, folder: data, records: s3://bucket" + s.own + "}"
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  "+Name+":\n    settings: "+own+"\n"))
	if err != nil {
		s.t.Fatal(err)
	}
	of := rules.For(Name)
	s.findings, s.flows, s.standing = nil, nil, map[string]integration.Standing{}
	s.log.Reset()
	return integration.Environment{Integration: Name, Settings: of, Query: query, State: state.ReadOnly(s.state),
		Now: func() time.Time { return s.now }, Log: &s.log, Workers: 1,
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) {
			if slices.Contains(s.codes, ref.Path) {
				return ref.Path, nil
			}
			return "token", nil
		},
		Bucket: func(context.Context, string) (integration.BucketReader, error) { return s, nil },
		Report: func(f integration.Remark) { s.findings = append(s.findings, string(f.Severity)+" "+f.Message) },
		Stand:  func(st integration.Standing) { s.standing[st.Key] = st },
		Pass:   func(f integration.Flow) { s.flows = append(s.flows, f) },
	}
}

func (s *scene) native() integration.Native {
	forge := func(at Project) (services.ForgeWriter, error) {
		if at.Token != "token" || at.Path != "group/project" {
			return nil, errors.New("another project")
		}
		return s.client, nil
	}
	return New(Services{Repositories: s, Measurements: s, Notices: s.notices, Forge: forge})
}

// loop runs one loop and returns what it wrote to the forge.
func (s *scene) loop() ([]string, error) {
	s.t.Helper()
	s.now = s.now.Add(5 * time.Minute)
	s.forge.now, s.forge.writes = s.now, nil
	err := s.native().Run(s.t.Context(), s.env(), s.actors())
	return s.forge.writes, err
}

func (s *scene) actors() integration.Actors {
	return integration.Actors{State: s.state, Did: func(integration.Deed) {}, Bucket: s.writer}
}

// writer returns the bucket for writing.
func (s *scene) writer(context.Context, string) (integration.BucketWriter, error) { return s, nil }

func (s *scene) Put(_ context.Context, key string, raw []byte, version string) (string, error) {
	if s.noRecords != nil {
		return "", s.noRecords
	}
	if is := versionOf(s.bucket[key]); is != version {
		return "", integration.ErrChanged
	}
	s.bucket[key] = raw
	return versionOf(raw), nil
}

func (s *scene) Remove(context.Context, string, string) error { return errors.ErrUnsupported }

// versionOf returns the version of an object, "" if there is none.
func versionOf(raw []byte) string {
	if raw == nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// mustLoop runs one loop and fails the test unless it wrote exactly this.
func (s *scene) mustLoop(want ...string) {
	s.t.Helper()
	got, err := s.loop()
	if err != nil || !slices.Equal(got, want) && len(got)+len(want) > 0 {
		s.t.Fatalf("got %q, %v, want %q\n%s", got, err, want, s.log.String())
	}
}

// settle merges what is open and loops until nothing is written.
func (s *scene) settle() {
	s.t.Helper()
	for range 40 {
		wrote, err := s.loop()
		if err != nil {
			s.t.Fatal(err)
		}
		merged := false
		for _, m := range s.forge.requests {
			merged = s.forge.merge(m) || merged
		}
		if len(wrote) == 0 && !merged {
			return
		}
	}
	s.t.Fatalf("it does not come to rest:\n%s", s.log.String())
}
