package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// A contentFunc returns the text of a bundle resource, and whether it is there.
type contentFunc func(ctx context.Context, path string) (text string, isThere bool, err error)

// reuse returns specifications of an API that were read before, nil if there are none or if the
// content of a document is another one now. So nothing is parsed twice.
func (r *Reader) reuse(ctx context.Context, a *API, content contentFunc) (*Specs, error) {
	r.mu.Lock()
	var known []*Specs
	for _, id := range slices.Backward(r.order) {
		if s := r.kept[id]; s.mistake == nil && slices.Equal(s.listed, a.Specifications) && s.overridesAt == a.Overrides {
			known = append(known, s)
		}
	}
	r.mu.Unlock()
	sums := map[string]string{}
	for _, s := range known {
		isSame, err := s.isSame(ctx, sums, content)
		if err != nil || isSame {
			return s, err
		}
	}
	return nil, nil
}

// isSame reports whether all documents that were read have the same content still. Sums are those
// of the documents that were asked for already.
func (s *Specs) isSame(ctx context.Context, sums map[string]string, content contentFunc) (bool, error) {
	for _, name := range sortedKeys(s.sums) {
		sum, known := sums[name]
		if !known {
			text, isThere, err := content(ctx, "/"+strings.TrimPrefix(name, "/"))
			if err != nil {
				return false, err
			}
			sum = missing
			if isThere {
				raw := sha256.Sum256([]byte(text))
				sum = hex.EncodeToString(raw[:])
			}
			sums[name] = sum
		}
		if sum != s.sums[name] {
			return false, nil
		}
	}
	return true, nil
}
