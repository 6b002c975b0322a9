package pipelines

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/ledger"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A configCase is a case of the area trigger_config.
type configCase struct {
	Input struct {
		Stored, Desired json.RawMessage
		Value           json.RawMessage // a content that loses its nulls; package decide has it
		Target          map[string]any  // fields of a target that stands in the data
	}
	Expected struct {
		Trigger  bool
		Written  bool            `json:"state_written"`
		Value    json.RawMessage // see Input.Value
		StateKey string          `json:"state_key"`
		Ref      string          `json:"target_ref"`
		Reason   *string
	}
}

func TestConfigCases(t *testing.T) {
	shared.Each(t, "trigger_config", func(t *testing.T, c configCase) {
		switch {
		case c.Input.Value != nil:
			t.Skip("about contents that are compared; package decide has it")
		case c.Input.Target != nil:
			c.checkTarget(t)
			return
		}
		memory := decide.Memory{Targets: map[string]decide.Applied{}}
		if string(c.Input.Stored) != "null" {
			applied := decide.Applied{Key: "t", Values: decide.Values{}, TakenOver: true}
			if err := remember(&applied, saas.SignalConfig, c.Input.Stored); err != nil {
				t.Fatal(err)
			}
			memory.Targets["t"] = applied
		}
		desired := decide.Applied{Values: decide.Values{}}
		if err := remember(&desired, saas.SignalConfig, c.Input.Desired); err != nil {
			t.Fatal(err)
		}
		var content struct {
			Ref       string
			Namespace struct {
				Name    string
				Cluster struct{ Name string }
			}
		}
		if err := json.Unmarshal(c.Input.Desired, &content); err != nil {
			t.Fatal(err)
		}
		signal := decide.ConfigSource{Hash: desired.Values[decide.Config], Content: desired.Config, Ref: content.Ref}.Signal()
		cell := decide.Cell{Key: "c",
			Targets: []decide.WatchedTarget{{UID: "t", Key: "t", Label: "t", Signals: []decide.Signal{signal}}}}
		d := decide.Decide(cell, memory, decide.Policy{}, time.Time{})
		if is := d.State == decide.Start; is != c.Expected.Trigger {
			t.Fatalf("%s, want trigger %v", d.State, c.Expected.Trigger)
		}
		// the input names neither the saas file nor the environment
		if parts := strings.Split(c.Expected.StateKey, "/"); len(parts) == 5 {
			of := triggerCase{}
			of.Input.File, of.Input.Template, of.Input.Cluster, of.Input.Name, of.Input.Env = parts[0], parts[1],
				content.Namespace.Cluster.Name, content.Namespace.Name, parts[4]
			if got := of.target().StateKey(saas.SignalConfig); got != c.Expected.StateKey {
				t.Errorf("state key %s, want %s", got, c.Expected.StateKey)
			}
		}
		if want := c.Expected.Ref; want != "" && d.Reasons[0].Ref != want {
			t.Errorf("ref %s, want %s", d.Reasons[0].Ref, want)
		}
	})
}

// checkTarget makes an iteration over data with a target of a case that nobody deployed before.
func (c configCase) checkTarget(t *testing.T) {
	w := saastest.Large(1, 2)
	for field, value := range c.Input.Target {
		w.Target("/services/app-000/saas.yml", 0, 0)[field] = value
	}
	s := newTestScene(t, w)
	publishAll(t, s)
	must(t, s.run())
	const cell = "app-000/stage"
	if got := len(s.runsOf(cell)) > 0; got != c.Expected.Trigger {
		t.Errorf("a run starts: %v, want %v; %+v", got, c.Expected.Trigger, s.units)
	}
	m, err := saas.Read(t.Context(), s.query, saas.Settings{})
	must(t, err)
	doc, err := ledger.Read(t.Context(), s.state, "app-000")
	must(t, err)
	uid := m.Files[0].Templates[0].Targets[0].UID()
	if _, isKnown := doc.Targets[uid]; isKnown || doc.Cells[cell].Intent != nil != c.Expected.Written {
		t.Errorf("the state is %s, want it written: %v", jsonOf(doc), c.Expected.Written)
	}
}
