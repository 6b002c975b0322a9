package promotion

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
)

// now is the clock of the cases.
var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// ago returns the text of a time some hours ago.
func ago(hours float64) *string {
	text := formatTime(now.Add(-time.Duration(hours * float64(time.Hour))))
	return &text
}

// A stateCase is a record in the words of the cases.
type stateCase struct {
	Success bool
	Saas    *string `json:"saas_file"`
	Hash    *string `json:"target_config_hash"`
	CheckIn *string `json:"check_in"`
	Once    *bool   `json:"has_succeeded_once"`
}

func (c stateCase) record() Record {
	return Record{Success: c.Success, Saas: c.Saas, Hash: c.Hash, CheckIn: c.CheckIn, Once: c.Once}
}

// A validateCase is the input of the area promotion_validate.
type validateCase struct {
	Commit    string `json:"commit_sha"`
	Subscribe []struct {
		Name string
		UIDs []string `json:"publisher_uids"`
	}
	Data     map[string]string `json:"promotion_data"`
	SoakDays int               `json:"soak_days"`
	States   []*stateCase
	CheckIns []*float64 `json:"check_in_ages_h"`
	Steps    []struct {
		Success bool `json:"publisher_success"`
		Hotfix  bool
		Blocked bool
	}
}

// subject returns the subject of a case with its records.
func (c validateCase) subject() (Subject, Logs) {
	s, logs := Subject{SoakTime: days(c.SoakDays)}, Logs{}
	for _, ch := range c.Subscribe {
		s.Channels = append(s.Channels, Channel{ch.Name, ch.UIDs})
		if h, ok := c.Data[ch.Name]; ok {
			s.Data = append(s.Data, saas.ChannelData{Channel: ch.Name, Parents: []saas.ParentConfig{{Saas: "s", Hash: h}}})
		}
	}
	for i, at := range s.places() {
		switch {
		case i < len(c.States) && c.States[i] != nil:
			logs[at] = Log{Records: map[string]Record{c.Commit: c.States[i].record()}}
		case i < len(c.CheckIns):
			r := Record{Success: true}
			if age := c.CheckIns[i]; age != nil {
				r.CheckIn = ago(*age)
			}
			logs[at] = Log{Records: map[string]Record{c.Commit: r}}
		}
	}
	return s, logs
}

func TestValidateCases(t *testing.T) {
	shared.Each(t, "promotion_validate", func(t *testing.T, c struct {
		Input    validateCase
		Expected struct{ Valid any }
	}) {
		if c.Input.Steps == nil {
			s, logs := c.Input.subject()
			if v := Gate(s, c.Input.Commit, logs, now); v.Open != c.Expected.Valid || v.Open != (v.Reason == "") {
				t.Errorf("got %+v, want %v", v, c.Expected.Valid)
			}
			return
		}
		var got []any
		for _, step := range c.Input.Steps {
			s := Subject{Channels: []Channel{{"c", []string{"p"}}}}
			if step.Hotfix {
				s.Hotfix = []string{"sha"}
			}
			if step.Blocked {
				s.Blocked = []string{"sha"}
			}
			logs := Logs{{"c", "p"}: {Records: map[string]Record{"sha": {Success: step.Success}}}}
			got = append(got, Gate(s, "sha", logs, now).Open)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.Expected.Valid) {
			t.Errorf("got %v, want %v", got, c.Expected.Valid)
		}
	})
}

func TestPublishCases(t *testing.T) {
	shared.Each(t, "promotion_publish", func(t *testing.T, c struct {
		Input struct {
			Old     *stateCase
			Success bool
			DryRun  bool `json:"dry_run"`
		}
		Expected map[string]any
	}) {
		if c.Input.DryRun {
			t.Skip("about what a run publishes; package deploy has it")
		}
		var old *Record
		if c.Input.Old != nil {
			r := c.Input.Old.record()
			old = &r
		}
		got := Result{Success: c.Input.Success, Saas: "s", Hash: "h", At: now}.Next(old)
		for key, want := range c.Expected {
			var is any
			switch key {
			case "success":
				is = got.Success
			case "has_succeeded_once":
				is = *got.Once
			case "check_in":
				is = *got.CheckIn
				if is == formatTime(now) {
					is = "now"
				}
			default:
				t.Fatalf("%s is not compared", key)
			}
			if is != want {
				t.Errorf("%s is %v, want %v", key, is, want)
			}
		}
	})
}

func TestRecordCases(t *testing.T) {
	shared.Each(t, "record", func(t *testing.T, c struct {
		Input    recordCase
		Expected struct {
			Usable, Error *bool
			Once          *bool `json:"has_succeeded_once"`
			Success       *bool
			Writes        string
			Valid         *bool
			Gate          string
		}
	}) {
		if want := c.Expected.Valid; want != nil {
			if _, err := Key(RecordPlace{c.Input.Channel, "p"}, "sha"); (err == nil) != *want {
				t.Errorf("the place of a record of the channel %q: %v", c.Input.Channel, err)
			}
			return
		}
		if want := c.Expected.Gate; want != "" {
			c.Input.checkGate(t, want)
			return
		}
		at := RecordPlace{"c", "p"}
		b := newBucket()
		if c.Input.Record != nil {
			raw := jsonOf(t, c.Input.Record)
			b.put(t, at, "sha", raw)
			log := NewRecords(b, 2).Log(t.Context(), at)
			_, usable := log.Records["sha"]
			isError := log.Wrong["sha"] != nil
			if c.Expected.Usable != nil && usable != *c.Expected.Usable ||
				c.Expected.Error != nil && isError != *c.Expected.Error {
				t.Errorf("got %+v", log)
			}
			err := Publish(t.Context(), b, at, "sha", Result{Success: true, At: now})
			if (err != nil) != isError || isError && string(b.objects[keyOf(t, at, "sha")].raw) != raw {
				t.Errorf("publishing on top of it: %v", err)
			}
			return
		}
		publishAtOnce(t, b, at, c.Input.Runs)
		log := NewRecords(b, 1).Log(t.Context(), at)
		last := c.Input.Runs[len(c.Input.Runs)-1] == "ok"
		if r := log.Records["sha"]; c.Expected.Once != nil && *r.Once != *c.Expected.Once || r.Success != last {
			t.Errorf("got %s", r.Bytes())
		}
		if n := len(b.writes) - 1; n != len(c.Input.Runs) { // one is the timeline
			t.Errorf("got %d writes, want one on top of the other", n)
		}
	})
}

// A recordCase is the input of the area record.
type recordCase struct {
	Runs    []string       // that end at once
	Record  map[string]any // null: there is none
	Channel string
}

// checkGate asks the gate of a target whose publisher has the record. A gate that is closed for it names the
// publisher.
func (c recordCase) checkGate(t *testing.T, want string) {
	t.Helper()
	b, at := newBucket(), RecordPlace{"c", "0123456789abcdef"}
	if c.Record != nil {
		b.put(t, at, "sha", jsonOf(t, c.Record))
	}
	logs := Logs{at: NewRecords(b, 1).Log(t.Context(), at)}
	v := Gate(Subject{Channels: []Channel{{at.Channel, []string{at.UID}}}}, "sha", logs, now)
	if got := map[bool]string{true: "open", false: "closed"}[v.Open]; got != want ||
		!v.Open && !strings.Contains(v.Reason, at.UID) {
		t.Errorf("got %+v, want it %s", v, want)
	}
}

// The cases about the keys of records. Those of what triggers remember are held by package saas.
func TestStateKeyCases(t *testing.T) {
	shared.Each(t, "state_key", func(t *testing.T, c struct {
		Input    struct{ Type, Channel, UID, Sha string }
		Expected struct{ Object string }
	}) {
		in := c.Input
		if in.Type != "promotion" {
			t.Skip("about what a trigger remembers; package saas has it")
		}
		if got, err := Key(RecordPlace{in.Channel, in.UID}, in.Sha); err != nil || got != c.Expected.Object {
			t.Errorf("got %q, %v, want %q", got, err, c.Expected.Object)
		}
	})
}

// publishAtOnce lets runs of a commit end at once: each but the last writes between the read and
// the write of the one after it.
func publishAtOnce(t *testing.T, b *testBucket, at RecordPlace, runs []string) {
	t.Helper()
	var publish func(i int)
	publish = func(i int) {
		if i < 0 {
			return
		}
		b.beforePut = func() { publish(i - 1) }
		if err := Publish(t.Context(), b, at, "sha", Result{Success: runs[i] == "ok", Saas: "s", Hash: "h",
			At: now}); err != nil {
			t.Fatal(err)
		}
	}
	publish(len(runs) - 1)
}

// keyOf returns the key of a record.
func keyOf(t *testing.T, at RecordPlace, commit string) string {
	t.Helper()
	key, err := Key(at, commit)
	if err != nil || !strings.HasPrefix(key, "state/openshift-saas-deploy/promotions_v2/") {
		t.Fatalf("got %q, %v", key, err)
	}
	return key
}

var _ integration.BucketWriter = (*testBucket)(nil)
