package bundler

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Text reads one file of a section by its path in the bundle, for messages that
// name lines of the file. If the section is one file, any path means that file. The
// listing saves listing the section again for the next file.
func (s TreePart) Text(ctx context.Context, p string, known *Listing) ([]byte, error) {
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
	raw = slices.Clone(raw) // the reader owns it
	return raw, errors.Join(err, r.Close())
}

// A Listing keeps the entries of a section for several calls of [TreePart.Text]. The
// zero value is filled by the first call.
type Listing struct{ entries map[string]Entry }

// find returns the entry of a file of a section by its path in the bundle.
func (l *Listing) find(ctx context.Context, s TreePart, p string) (Entry, error) {
	if l.entries == nil {
		entries, err := s.list(ctx)
		if err != nil {
			return s.findFile(ctx)
		}
		l.entries = make(map[string]Entry, len(entries))
		for _, e := range entries {
			l.entries[e.Name] = e
		}
	}
	if e, ok := resolveLink(l.entries, l.entries[strings.TrimPrefix(p, "/")]); ok && e.Path != "" {
		return e, nil
	}
	return s.findFile(ctx)
}
