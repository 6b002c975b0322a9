package promotion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/integration"
)

// A testBucket is a bucket in memory.
type testBucket struct {
	mu        sync.Mutex
	objects   map[string]stored
	reads     []string
	writes    []string
	beforePut func() // called once, before the next write
	fail      map[string]error
}

type stored struct {
	raw     []byte
	version int
}

func newBucket() *testBucket {
	return &testBucket{objects: map[string]stored{}, fail: map[string]error{}}
}

func (b *testBucket) Get(_ context.Context, key string) ([]byte, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads = append(b.reads, key)
	if err := b.fail[key]; err != nil {
		return nil, "", err
	}
	o, ok := b.objects[key]
	if !ok {
		return nil, "", integration.ErrNotThere
	}
	return o.raw, fmt.Sprint(o.version), nil
}

func (b *testBucket) Keys(_ context.Context, prefix string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail[prefix]; err != nil {
		return nil, err
	}
	var out []string
	for k := range b.objects {
		if strings.HasPrefix(k, prefix) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (b *testBucket) Put(_ context.Context, key string, raw []byte, version string) (string, error) {
	if before := b.beforePut; before != nil {
		b.beforePut = nil
		before()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	is := ""
	if o, ok := b.objects[key]; ok {
		is = fmt.Sprint(o.version)
	}
	if is != version {
		return "", integration.ErrChanged
	}
	b.objects[key] = stored{raw, len(b.writes) + 1}
	b.writes = append(b.writes, key)
	return fmt.Sprint(len(b.writes)), nil
}

func (b *testBucket) Remove(context.Context, string, string) error { return errors.ErrUnsupported }

// put stores a record.
func (b *testBucket) put(t *testing.T, at RecordPlace, commit, raw string) {
	b.objects[keyOf(t, at, commit)] = stored{[]byte(raw), 1000}
}

// jsonOf returns a value as JSON.
func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestRecordsReadWhatIsNeeded(t *testing.T) {
	b := newBucket()
	at := RecordPlace{"stage", "p"}
	for _, c := range []string{"c1", "c2", "c3"} {
		b.put(t, at, c, `{"success": true}`)
	}
	s := Subject{Channels: []Channel{{"stage", []string{"p"}}, {"stage", []string{"p"}}}}
	r := NewRecords(b, 4)
	if logs := r.Read(t.Context(), s, "c2"); len(logs) != 1 || len(logs[at].Records) != 1 || len(b.reads) != 1 {
		t.Errorf("for one commit: got %v after %q", logs, b.reads)
	}
	if logs := r.Read(t.Context(), s, "c1", "c2", "c9"); len(logs[at].Records) != 2 || len(b.reads) != 2 {
		t.Errorf("for some commits: got %v after %q", logs, b.reads)
	}
	s.SoakTime = days(1)
	if logs := r.Read(t.Context(), s, "c2"); len(logs[at].Records) != 3 || len(b.reads) != 4 {
		t.Errorf("with a soak time: got %v after %q", logs, b.reads)
	}
}

func TestRecordsThatCannotBeReadAreUnknown(t *testing.T) {
	for name, broken := range map[string]func(b *testBucket, key string){
		"the record":  func(b *testBucket, key string) { b.fail[key] = errors.New("no answer") },
		"the listing": func(b *testBucket, key string) { b.fail[strings.TrimSuffix(key, "c1")] = errors.New("no answer") },
	} {
		t.Run(name, func(t *testing.T) {
			b, at := newBucket(), RecordPlace{"stage", "p"}
			b.put(t, at, "c1", `{"success": true}`)
			broken(b, keyOf(t, at, "c1"))
			s := Subject{Channels: []Channel{{"stage", []string{"p"}}}, SoakTime: days(1)}
			v := Gate(s, "c1", NewRecords(b, 1).Read(t.Context(), s, "c1"), now)
			if v.Open || v.Err == nil || !strings.Contains(v.Reason, "no answer") {
				t.Errorf("got %+v", v)
			}
		})
	}
	v := Gate(Subject{Channels: []Channel{{"a/b", []string{"p"}}}}, "c1",
		NewRecords(newBucket(), 1).Read(t.Context(), Subject{Channels: []Channel{{"a/b", []string{"p"}}}}, "c1"), now)
	if v.Open || v.Err == nil || !strings.Contains(v.Reason, "slash") {
		t.Errorf("a channel with a slash: got %+v", v)
	}
}

func TestPublish(t *testing.T) {
	b, at := newBucket(), RecordPlace{"stage", "p"}
	run := func(commit string, success bool, after float64) {
		t.Helper()
		if err := Publish(t.Context(), b, at, commit, Result{Success: success, Saas: "up", Hash: "h",
			At: now.Add(hours(after))}); err != nil {
			t.Fatal(err)
		}
	}
	is := func(commit, want string) {
		t.Helper()
		if got := string(b.objects[keyOf(t, at, commit)].raw); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	run("a", true, 0)
	is("a",
		`{"success": true, "target_config_hash": "h", "saas_file": "up", "check_in": "2026-11-23 12:00:00+00:00", "has_succeeded_once": true}`)
	run("a", true, 1)
	if len(b.writes) != 2 {
		t.Errorf("got %q, want no write for what is there", b.writes)
	}
	run("b", false, 2)
	delete(b.objects, "state/prcheck-saas-deploy/runs/stage/p") // by somebody who cleans up
	run("a", true, 3)                                           // b ran in between, so the time begins again
	is("a",
		`{"success": true, "target_config_hash": "h", "saas_file": "up", "check_in": "2026-11-23 15:00:00+00:00", "has_succeeded_once": true}`)
	is("b",
		`{"success": false, "target_config_hash": "h", "saas_file": "up", "check_in": "2026-11-23 14:00:00+00:00", "has_succeeded_once": false}`)
	if err := Publish(t.Context(), b, RecordPlace{"a/b", "p"}, "c", Result{}); err == nil {
		t.Error("a channel with a slash got a record")
	}
}
