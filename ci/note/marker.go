package note

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/app-sre/prcheck/report"
)

// markerEnd is the end of the marker. It cannot occur in base64.
const markerEnd = " -->"

// maxMarker bounds how much is read of the first line of a body, in bytes.
const maxMarker = 1 << 20

// A state is what the marker of a note stores.
type state struct {
	Version    int   `json:"v"` // 1
	Generation int64 `json:"g"`
	Now        run   `json:"now"`
	Before     *run  `json:"before,omitempty"` // the run that Now was compared with
}

// newState returns the state that this note stores. The run before is usually the
// last run of the previous body. If that body has the same generation, it is a note
// on this very run, so its own run before is taken; likewise if its run had no plan.
func (n Note) newState(rep *report.Report, previous string, limit int) state {
	s := state{Version: 1, Generation: n.Serial, Now: n.newRun(rep)}
	if commitPattern.MatchString(n.Commit) {
		s.Now.Commit = shortHash(n.Commit)
	}
	if before, ok := n.readState(previous); ok {
		s.Before = &before.Now
		if before.Generation == n.Serial || before.Now.Unplanned {
			s.Before = before.Before
		}
	}
	s.Now.dropLongLists(limit)
	if s.Before != nil {
		s.Before.dropLongLists(limit)
		if s.Before.Commit == s.Now.Commit {
			s.Before.Commit = "" // the same commit was run again
		}
	}
	return s
}

// encode returns the state as JSON in base64.
func (s state) encode() string {
	raw, err := json.Marshal(s)
	if err != nil {
		return "" // cannot happen: every field has a form in JSON
	}
	return base64.RawStdEncoding.EncodeToString(raw)
}

// readState returns the state from the marker of a body, and whether the body is a
// note of this tool with a sound marker.
func (n Note) readState(body string) (state, bool) {
	rest, ok := strings.CutPrefix(body, n.Marker())
	if !ok {
		return state{}, false
	}
	line, _, _ := strings.Cut(rest[:min(len(rest), maxMarker)], "\n")
	code, ok := strings.CutSuffix(strings.TrimRight(line, "\r"), markerEnd)
	if !ok {
		return state{}, false
	}
	raw, err := base64.RawStdEncoding.Strict().DecodeString(code)
	if err != nil {
		return state{}, false
	}
	var s state
	if err := json.Unmarshal(raw, &s); err != nil || s.Version != 1 || s.Generation < 0 || !s.Now.isValid() ||
		s.Before != nil && !s.Before.isValid() {
		return state{}, false
	}
	return s, true
}
