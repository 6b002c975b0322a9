package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/state"
)

// A crashCase is a case of the area crash.
type crashCase struct {
	Input struct {
		At      any
		State   string
		Writers int // loops at once
	}
	Expected struct {
		Runs    int
		Next    string // what the next iteration does, for people
		Error   bool
		Applied *bool
		Others  string
		Exit    int
	}
}

// A dyingStore fails all calls from one on, as a process does that was killed.
type dyingStore struct {
	state.Store
	writes int   // that are let through; negative is all
	err    error // of reading
}

var errDead = fmt.Errorf("%w: killed", state.ErrUnreachable)

func (d *dyingStore) Read(ctx context.Context, key string) ([]byte, error) {
	if d.err != nil {
		return nil, d.err
	}
	return d.Store.Read(ctx, key)
}

func (d *dyingStore) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if d.writes == 0 {
		return errDead
	}
	d.writes--
	return d.Store.Update(ctx, key, change)
}

// A losingStore writes, and does not hear the answer: it reads again and tries once more.
type losingStore struct{ state.Store }

func (l *losingStore) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if err := l.Store.Update(ctx, key, change); err != nil {
		return err
	}
	return l.Store.Update(ctx, key, change)
}

// crashScene returns a scene in which everything is applied, and the branch of stage moved.
func crashScene(t *testing.T) *testScene {
	w := saastest.Large(2, 4)
	s := newTestScene(t, w)
	publishAll(t, s)
	s.settle()
	s.heads["https://github.com/acme/app-000 main"] = saastest.Shas(9)[8]
	s.builds["app-000-build"] = append(s.builds["app-000-build"], buildOf(2))
	return s
}

// publishAll lets all publishers have run all commits of subscribers.
func publishAll(t testing.TB, s *testScene) {
	t.Helper()
	m, err := saas.Read(t.Context(), s.query, saas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Cells() {
		for _, target := range c.Targets {
			if !subscribes(target) {
				continue
			}
			for _, channel := range target.Promotion.Subscribe {
				for _, p := range m.Publishers(channel) {
					s.bucket.record(channel, p.UID(), target.Ref, "2026-01-01 00:00:00+00:00")
				}
			}
		}
	}
}

// die makes an iteration that dies after a step of the protocol.
func (s *testScene) die(step int) {
	real := s.state
	defer func() { s.state = real; delete(s.fail, "create") }()
	dying := &dyingStore{Store: real, writes: -1}
	s.state = dying
	switch step {
	case 1, 5: // before anything is written
		dying.writes = 0
	case 2: // the intent is written
		dying.writes = 1
		s.fail["create"] = errDead
	case 3: // the run is there
		dying.writes = 1
	}
	_ = s.run()
}

// runsOf returns the names of the runs of a cell that were made.
func (s *testScene) runsOf(cell string) []string {
	file, env, _ := strings.Cut(cell, "/")
	var out []string
	for key, raw := range s.objects {
		if bytes.Contains(raw, []byte(`"qontract.saas_file_name":"`+file+`"`)) &&
			bytes.Contains(raw, []byte(`"qontract.env_name":"`+env+`"`)) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

func TestCrashCases(t *testing.T) {
	shared.Each(t, "crash", func(t *testing.T, c crashCase) {
		s := crashScene(t)
		const cell = "app-000/stage"
		before := len(s.runsOf(cell))
		applied := s.applied(t, "app-000")
		err := c.play(t, s)
		if got := len(s.runsOf(cell)) - before; got != c.Expected.Runs {
			t.Errorf("%d runs, want %d", got, c.Expected.Runs)
		}
		if (err != nil) != c.Expected.Error {
			t.Errorf("error %v, want %v", err, c.Expected.Error)
		}
		if isNothing := errors.Is(err, integration.ErrNothingDone); isNothing != (c.Expected.Exit == 3) {
			t.Errorf("error %v, want exit code %d", err, c.Expected.Exit)
		}
		if want := c.Expected.Applied; want != nil && maps.Equal(applied, s.applied(t, "app-000")) == *want {
			t.Errorf("applied %v, want something new: %v", s.applied(t, "app-000"), *want)
		}
		if c.Expected.Others != "" && s.unit("app-001/stage").State != string(decide.Same) {
			t.Errorf("other cells: %+v", s.units)
		}
	})
}

// play plays a case to its end, and returns the error of the last iteration.
func (c crashCase) play(t *testing.T, s *testScene) error {
	key := ledger.Key("app-000")
	switch {
	case c.Input.State == "corrupt":
		must(t, s.state.Write(t.Context(), key, []byte(`{"version":"saas/v1","generation"`)))
		return s.run()
	case c.Input.State == "unreachable":
		s.state = &dyingStore{Store: s.state, err: state.ErrUnreachable}
		return s.run()
	case c.Input.Writers > 0:
		s.atOnce(c.Input.Writers)
		return s.run()
	case c.Input.At == "put: lost answer":
		s.state = &losingStore{s.state}
		return s.run()
	case strings.HasPrefix(c.Input.State, "version"):
		must(t, s.state.Write(t.Context(), key, []byte(`{"version":"saas/v2"}`)))
		return s.run()
	}
	if text, ok := c.Input.At.(string); ok {
		if strings.Contains(text, "lost") || strings.Contains(text, "timeout") || strings.Contains(text, "no answer") {
			s.lost = errors.New(text)
			_ = s.run()
			s.lost = nil
			return s.run()
		}
		s.fail["create"] = errors.New(text)
		if err := s.run(); err == nil {
			t.Error("a failed creation is no error")
		}
		return s.run() // it is tried again
	}
	step := int(c.Input.At.(float64))
	if step == 5 {
		must(t, s.run())
		s.end("True")
	}
	s.die(step)
	must(t, s.run())
	s.end("True")
	must(t, s.run())
	if u := s.unit("app-000/stage"); u.State != string(decide.Same) {
		t.Errorf("in the end it is %+v", u)
	}
	return s.run()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// applied returns the commits and builds that are applied, by uid.
func (s *testScene) applied(t *testing.T, file string) map[string]string {
	doc, err := ledger.Read(t.Context(), s.state, file)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for uid, a := range doc.Targets {
		out[uid] = a.Values[decide.Commit] + a.Values[decide.Upstream] + a.Values[decide.Image]
	}
	return out
}

// A takeOverCase is a case of the area take_over.
type takeOverCase struct {
	Input struct {
		Legacy       any
		LegacyConfig string `json:"legacy_config"`
	}
	Expected struct {
		Runs    int
		Applied int
	}
}

func TestTakeOverCases(t *testing.T) {
	shared.Each(t, "take_over", func(t *testing.T, c takeOverCase) {
		s := newTestScene(t, saastest.Large(3, 12)) // with builds and images
		publishAll(t, s)
		kinds := legacy(t, s, c.Input.LegacyConfig != "")
		if list, ok := c.Input.Legacy.([]any); ok {
			kinds = keepKinds(s, list)
		}
		if c.Input.Legacy == "unknown key" {
			s.bucket.objects[saas.SignalConfig.Folder()+"/gone/gone/c-1/gone/stage"] = testObject{raw: `{"ref":"main"}`}
		}
		must(t, s.run())
		if len(s.created) != c.Expected.Runs {
			t.Errorf("created %v, want %d runs: %s", s.created, c.Expected.Runs, s.log.String())
		}
		if c.Expected.Applied > 0 && kinds != c.Expected.Applied {
			t.Errorf("%d kinds were taken over, want %d", kinds, c.Expected.Applied)
		}
		must(t, s.run())
		if len(s.created) > 0 {
			t.Errorf("then %v", s.created)
		}
		s.heads["https://github.com/acme/app-000 main"] = saastest.Shas(9)[8]
		must(t, s.run())
		if len(s.created) == 0 {
			t.Error("a commit after the take-over starts nothing")
		}
	})
}

// legacy puts what the four integrations remember into the bucket, and returns how many kinds
// there are.
func legacy(t *testing.T, s *testScene, withoutNulls bool) int {
	t.Helper()
	m, err := saas.Read(t.Context(), s.query, saas.Settings{})
	must(t, err)
	kinds := map[saas.Signal]bool{}
	put := func(target *saas.Target, of saas.Signal, v any) {
		raw, err := json.Marshal(v)
		must(t, err)
		kinds[of] = true
		s.bucket.objects[of.Folder()+"/"+target.StateKey(of)] = testObject{raw: string(raw),
			written: s.now.Add(-2 * time.Hour)}
	}
	for _, c := range m.Cells() {
		for _, target := range c.Targets {
			content := target.Content().(map[string]any)
			if withoutNulls {
				maps.DeleteFunc(content, func(_ string, v any) bool {
					raw, _ := json.Marshal(v)
					return string(raw) == "null"
				})
			}
			put(target, saas.SignalConfig, content)
			switch {
			case target.Upstream != nil:
				put(target, saas.SignalUpstream, map[string]any{"number": 1, "result": "SUCCESS"})
			case len(target.Images) > 0:
				put(target, saas.SignalImages, saastest.Shas(1)[0][:7])
			case !saas.IsCommit(target.Ref):
				put(target, saas.SignalCommit, saastest.Shas(1)[0])
			}
		}
	}
	return len(kinds)
}

// keepKinds leaves only some of the kinds of objects in the bucket, and returns how many.
func keepKinds(s *testScene, names []any) int {
	folders := map[string]saas.Signal{"config": saas.SignalConfig, "commit": saas.SignalCommit,
		"upstream": saas.SignalUpstream, "image": saas.SignalImages}
	kept := map[string]bool{}
	for _, name := range names {
		kept[folders[name.(string)].Folder()] = true
	}
	for key := range s.bucket.objects {
		folder, _, _ := strings.Cut(strings.TrimPrefix(key, "state/"), "/")
		if strings.HasPrefix(folder, "openshift-saas-deploy-trigger-") && !kept["state/"+folder] {
			delete(s.bucket.objects, key)
		}
	}
	return len(kept)
}

func TestTakeOverIsRefused(t *testing.T) {
	s := newTestScene(t, saastest.Large(3, 12))
	legacy(t, s, false)
	s.now = s.now.Add(-90 * time.Minute) // the newest object is 30 minutes old
	err := s.run()
	if err == nil || len(s.created) > 0 || !strings.Contains(err.Error(), "another program wrote") {
		t.Errorf("%v, created %v", err, s.created)
	}
	if list, err := s.state.List(t.Context(), ""); err != nil || len(list) > 0 {
		t.Errorf("the state has %v, %v", list, err)
	}
}

// A run whose creation nobody heard of is found by its label, and not made again.
func TestLostAnswer(t *testing.T) {
	s := crashScene(t)
	before := len(s.runsOf("app-000/stage"))
	s.lost = errDown
	if err := s.run(); err == nil {
		t.Error("a creation without an answer is no error")
	}
	s.lost = nil
	must(t, s.run())
	if got := len(s.runsOf("app-000/stage")) - before; got != 1 || s.unit("app-000/stage").State != string(decide.Busy) {
		t.Errorf("%d runs, %+v, want one under way", got, s.unit("app-000/stage"))
	}
}
