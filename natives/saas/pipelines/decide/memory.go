package decide

import (
	"encoding/json"
	"maps"
	"time"
)

// A Memory is what is remembered of the targets and the run of one cell.
type Memory struct {
	Targets map[string]Applied // by uid
	Intent  *Intent            // the run under way; nil if there is none
	Next    string             // fingerprint of what differs from the run under way, "" for nothing
	Failed  *Failure           // nil if the last run succeeded
}

// Applied is what the last successful runs deployed for a target.
type Applied struct {
	Key    string          `json:"key"` // as [WatchedTarget.Key]; another key is another target
	Values Values          `json:"values"`
	Config json.RawMessage `json:"config,omitempty"` // content of the value of the kind Config
	// TakenOver says that another program applied it. What that program did not remember is
	// remembered at first sight, and starts nothing.
	TakenOver bool `json:"taken_over,omitzero"`
}

// A Phase is how far an intent is.
type Phase string

// The phases of an intent.
const (
	Pending Phase = "pending" // the run may have been created or not
	Running Phase = "running" // the run was created
)

// An Intent is the decision to run. It is remembered before the run is created, and the name of
// the run follows from it, so that a decision never makes two runs.
type Intent struct {
	ID          string                     `json:"id"`
	Fingerprint string                     `json:"fingerprint"`
	Run         string                     `json:"run"` // name of the run
	Phase       Phase                      `json:"phase"`
	Since       time.Time                  `json:"since"`
	Reasons     []Reason                   `json:"reasons"`
	Holds       Holding                    `json:"holds"`
	Keys        map[string]string          `json:"keys"`               // of the targets, by uid
	Configs     map[string]json.RawMessage `json:"configs,omitempty"`  // contents, by uid
	AskedFor    bool                       `json:"asked_for,omitzero"` // a person asked for it again
}

// A Failure is the last run of a cell, which did not succeed.
type Failure struct {
	ID          string    `json:"id"` // of the intent
	Fingerprint string    `json:"fingerprint"`
	Run         string    `json:"run"`
	Runs        int       `json:"runs"` // how often the fingerprint failed
	Since       time.Time `json:"since"`
	Why         string    `json:"why"`
	Lost        bool      `json:"lost,omitzero"` // nobody knows how the run ended
	Own         Holding   `json:"own"`           // what the run held
	// Holds is what is in doubt: what the run held, and what runs held that failed before it.
	Holds    Holding                    `json:"holds"`
	Keys     map[string]string          `json:"keys"`
	Configs  map[string]json.RawMessage `json:"configs,omitempty"`
	AskedFor bool                       `json:"asked_for,omitzero"`
}

// A Reason says why a run starts.
type Reason struct {
	Kind   Kind   `json:"kind"`
	Target string `json:"target"` // label of the target
	Ref    string `json:"ref,omitempty"`
	Text   string `json:"text,omitempty"`
}

// clone returns a memory whose maps can be changed. What they hold is never changed.
func (m Memory) clone() Memory {
	m.Targets = maps.Clone(m.Targets)
	if m.Targets == nil {
		m.Targets = map[string]Applied{}
	}
	return m
}

// overlay returns the values with others put over them.
func (v Values) overlay(over Values) Values {
	out := maps.Clone(v)
	if out == nil {
		out = Values{}
	}
	maps.Copy(out, over)
	return out
}

// apply makes what a run held applied, and forgets the failure. What was in doubt and was not held
// by the run stays in doubt: nobody saw what the run deployed of it.
func (m *Memory) apply(holds Holding, keys map[string]string, configs map[string]json.RawMessage) {
	for uid, values := range holds {
		was := m.Targets[uid]
		if was.Key != keys[uid] {
			was = Applied{Key: keys[uid]}
		}
		was.Values, was.TakenOver = was.Values.overlay(values), false
		if raw, ok := configs[uid]; ok {
			was.Config = raw
		}
		m.Targets[uid] = was
	}
	if m.Failed == nil {
		return
	}
	for uid, values := range m.Failed.Holds {
		was, isKnown := m.Targets[uid]
		for kind := range values {
			if _, isHeld := holds[uid][kind]; !isHeld && isKnown && was.Key == m.Failed.Keys[uid] {
				was.Values = was.Values.overlay(Values{kind: Unseen})
			}
		}
		if isKnown {
			m.Targets[uid] = was
		}
	}
	m.Failed = nil
}
