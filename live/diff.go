package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/bundle"
)

// maxDatafiles bounds how many datafiles are asked for.
const maxDatafiles = 1_000_000

// An entry is what the server says about one file of both bundles.
type entry struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

func (e entry) pair() *pair { return &pair{raw: [2]json.RawMessage{e.Old, e.New}} }

func (l *loader) diffPath() string { return "/diff/" + l.sha[base] + "/" + l.sha[head] }

// diff asks what differs.
func (l *loader) diff(ctx context.Context) error {
	raw, err := l.client.get(ctx, l.diffPath())
	if err != nil {
		return l.gone(ctx, err)
	}
	var answer struct {
		Datafiles map[bundle.Path]entry `json:"datafiles"`
		Resources map[bundle.Path]entry `json:"resources"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return l.client.garbled(l.diffPath(), err)
	}
	if answer.Datafiles == nil || answer.Resources == nil {
		return l.client.garbled(l.diffPath(), errors.New("it has no datafiles or no resources"))
	}
	for p, e := range answer.Datafiles {
		for _, side := range []*json.RawMessage{&e.Old, &e.New} {
			if *side, err = withoutPath(*side); err != nil {
				return l.client.garbled(l.diffPath(), fmt.Errorf("datafile %q: %w", p, err))
			}
		}
		l.datafiles[p] = e.pair()
	}
	for p, e := range answer.Resources {
		l.resources[p], l.changed[p] = e.pair(), true
	}
	return nil
}

// gone explains an error that may mean that either bundle is gone.
func (l *loader) gone(ctx context.Context, err error) error {
	for _, sha := range l.sha {
		if explained := l.client.unknown(ctx, err, sha); explained != err { //nolint:errorlint // the very same
			return explained
		}
	}
	return err
}

// withoutPath takes the path away that the server adds to a datafile.
func withoutPath(raw json.RawMessage) (json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	out := []byte{'{'}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if key == "path" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// fetch asks for the datafiles of the given paths that were not asked for yet,
// and returns the paths of those that exist.
func (l *loader) fetch(ctx context.Context, paths []bundle.Path) ([]bundle.Path, error) {
	var wanted []bundle.Path
	for _, p := range paths {
		if _, known := l.datafiles[p]; !known && askable(p) {
			l.datafiles[p] = nil
			wanted = append(wanted, p)
		}
	}
	if l.asked += len(wanted); l.asked > maxDatafiles {
		return nil, fmt.Errorf("%s names more than %d datafiles", l.client.server, maxDatafiles)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	got := make([]*pair, len(wanted))
	var g errgroup.Group
	g.SetLimit(connections)
	for i, p := range wanted {
		g.Go(func() error {
			var err error
			if got[i], err = l.datafile(ctx, p); err != nil {
				stop(err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var found []bundle.Path
	for i, p := range wanted {
		if l.datafiles[p] = got[i]; got[i] != nil {
			found = append(found, p)
		}
	}
	return found, nil
}

// askable tells whether a path survives the way to the server: nothing on it
// may take the path for one that goes up, or leave a part out.
func askable(p bundle.Path) bool {
	if !strings.HasPrefix(string(p), "/") {
		return false
	}
	for _, part := range strings.Split(string(p[1:]), "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// datafile asks for one datafile on both sides; nil when neither has it.
func (l *loader) datafile(ctx context.Context, p bundle.Path) (*pair, error) {
	parts := strings.Split(string(p), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	path := l.diffPath() + "/datafile" + strings.Join(parts, "/")
	raw, err := l.client.get(ctx, path)
	var status *StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound && strings.HasPrefix(status.Text, "datafile not found") {
		return nil, nil
	}
	if err != nil {
		return nil, l.gone(ctx, err)
	}
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, l.client.garbled(path, err)
	}
	if e.Old == nil && e.New == nil {
		return nil, l.client.garbled(path, errors.New("it has neither old nor new"))
	}
	for _, side := range []*json.RawMessage{&e.Old, &e.New} {
		if *side, err = withoutPath(*side); err != nil {
			return nil, l.client.garbled(path, err)
		}
	}
	return e.pair(), nil
}
