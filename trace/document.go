package trace

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// digest covers all of the trace but when it was recorded.
func (t *Trace) digest() string {
	c := *t
	c.Digest, c.Recorded = "", time.Time{}
	raw, err := json.Marshal(&c)
	if err != nil { // variables are JSON, and everything else always encodes
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// marshal writes a trace down.
func (t *Trace) marshal() ([]byte, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("writing a trace: %w", err)
	}
	return append(raw, '\n'), nil
}

// parse reads a trace, and refuses one that is not whole or not as it was
// written.
func parse(raw []byte) (*Trace, error) {
	var version struct{ Version string }
	if err := json.Unmarshal(raw, &version); err != nil {
		return nil, errors.New("it is cut short or damaged")
	}
	if version.Version != Version {
		return nil, fmt.Errorf("its version is %.40q, and this prcheck reads %q", version.Version, Version)
	}
	var t Trace
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, errors.New("it is cut short or damaged")
	}
	if d := t.digest(); d == "" || t.Digest != d {
		return nil, errors.New("it was edited or damaged: its digest is wrong")
	}
	for _, r := range t.Requests {
		if r.Side != Base && r.Side != Head && r.Side != Either || len(r.Answer) != 64 {
			return nil, errors.New("a request in it is not whole")
		}
	}
	return &t, nil
}
