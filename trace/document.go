package trace

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/state"
)

// digest returns a digest of everything in the trace except Digest and Recorded.
func (t *Trace) digest() string {
	c := *t
	c.Digest, c.Recorded = "", time.Time{}
	raw, _ := json.Marshal(&c) // a trace that does not encode cannot be saved
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// marshal returns the trace as a document.
func (t *Trace) marshal() ([]byte, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("writing a trace: %w", err)
	}
	return append(raw, '\n'), nil
}

// kind describes the documents of traces. A document is valid only if its digest is right.
var kind = state.Kind[Trace]{Version: Version, Valid: func(t *Trace) error {
	if t.Digest != t.digest() {
		return errors.New("its digest is wrong, so it was edited or damaged")
	}
	for _, r := range t.Requests {
		if r.Side != Base && r.Side != Head && r.Side != Either || len(r.Answer) != 64 {
			return errors.New("a request in it is not whole")
		}
	}
	return nil
}}
