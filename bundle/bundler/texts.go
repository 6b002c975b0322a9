package bundler

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Text reads one file of a section again, by its path in the bundle, to show
// where in it something stands. For a section that is one file, any path means
// that file. It lists the section each time unless known does so only once.
func (s Section) Text(ctx context.Context, p string, known *Listing) ([]byte, error) {
	e, err := known.find(ctx, s, p)
	if err != nil {
		return nil, err
	}
	r, err := s.Tree.Open(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := r.Read(e, maxDatafile)
	if err == nil && len(raw) > maxDatafile {
		err = fmt.Errorf("%s is larger than %d bytes", path.Join(s.Shown, p), maxDatafile)
	}
	raw = slices.Clone(raw) // it is good until the reader closes
	return raw, errors.Join(err, r.Close())
}

// A Listing remembers what is in a section. The zero value knows nothing yet.
type Listing struct{ named map[string]Entry }

func (l *Listing) find(ctx context.Context, s Section, p string) (Entry, error) {
	if l.named == nil {
		entries, err := s.Tree.List(ctx, s.Dir)
		if err != nil {
			return s.file(ctx)
		}
		l.named = make(map[string]Entry, len(entries))
		for _, e := range entries {
			l.named[e.Name] = e
		}
	}
	if e, ok := resolve(l.named, l.named[strings.TrimPrefix(p, "/")]); ok && e.Path != "" {
		return e, nil
	}
	return s.file(ctx)
}
