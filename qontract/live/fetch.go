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

	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxDatafiles is the largest number of datafiles that are requested.
const maxDatafiles = 1_000_000

// A diffEntry is the answer of the server about one file on both sides.
type diffEntry struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// toPair returns the file as a pair.
func (e diffEntry) toPair() *filePair { return &filePair{raw: [2]json.RawMessage{e.Old, e.New}} }

// diffPath returns the path of the differences between both bundles.
func (l *loader) diffPath() string { return "/diff/" + l.sha[base] + "/" + l.sha[head] }

// readDiff reads the differences between both bundles.
func (l *loader) readDiff(ctx context.Context) error {
	raw, err := l.client.get(ctx, l.diffPath())
	if err != nil {
		return l.explainMissingBundle(ctx, err)
	}
	var answer struct {
		Datafiles map[bundle.Path]diffEntry `json:"datafiles"`
		Resources map[bundle.Path]diffEntry `json:"resources"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return l.client.badAnswer(l.diffPath(), err)
	}
	if answer.Datafiles == nil || answer.Resources == nil {
		return l.client.badAnswer(l.diffPath(), errors.New("it has no datafiles or no resources"))
	}
	for p, e := range answer.Datafiles {
		for _, side := range []*json.RawMessage{&e.Old, &e.New} {
			if *side, err = removePath(*side); err != nil {
				return l.client.badAnswer(l.diffPath(), fmt.Errorf("datafile %q: %w", p, err))
			}
		}
		l.datafiles[p] = e.toPair()
	}
	for p, e := range answer.Resources {
		l.resources[p], l.changed[p] = e.toPair(), true
	}
	return nil
}

// explainMissingBundle returns a better error if the cause of err is that the server no
// longer has one of the bundles.
func (l *loader) explainMissingBundle(ctx context.Context, err error) error {
	for _, sha := range l.sha {
		if explained := l.client.explainUnknownBundle(ctx, err, sha); explained != err { //nolint:errorlint // compares whether it is the same value
			return explained
		}
	}
	return err
}

// removePath removes the member path from a datafile. The server has added it.
func removePath(raw json.RawMessage) (json.RawMessage, error) {
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

// fetchDatafiles requests the datafiles with the given paths, except those that were
// requested before. It returns the paths of the new datafiles that exist.
func (l *loader) fetchDatafiles(ctx context.Context, paths []bundle.Path) ([]bundle.Path, error) {
	var wanted []bundle.Path
	for _, p := range paths {
		if _, known := l.datafiles[p]; !known && isSafePath(p) {
			l.datafiles[p] = nil
			wanted = append(wanted, p)
		}
	}
	if l.requestedDatafiles += len(wanted); l.requestedDatafiles > maxDatafiles {
		return nil, fmt.Errorf("%s names more than %d datafiles", l.client.server, maxDatafiles)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	got := make([]*filePair, len(wanted))
	var g errgroup.Group
	g.SetLimit(maxConnections)
	for i, p := range wanted {
		g.Go(func() error {
			var err error
			if got[i], err = l.fetchDatafile(ctx, p); err != nil {
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

// isSafePath reports whether a path gets to the server unchanged. Proxies may resolve parts
// such as ".." and drop empty parts.
func isSafePath(p bundle.Path) bool {
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

// fetchDatafile requests one datafile on both sides. It returns nil if neither side has it.
func (l *loader) fetchDatafile(ctx context.Context, p bundle.Path) (*filePair, error) {
	parts := strings.Split(string(p), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	path := l.diffPath() + "/datafile" + strings.Join(parts, "/")
	raw, err := l.client.get(ctx, path)
	var status *StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound &&
		strings.HasPrefix(status.Text, "datafile not found") {
		return nil, nil
	}
	if err != nil {
		return nil, l.explainMissingBundle(ctx, err)
	}
	var e diffEntry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, l.client.badAnswer(path, err)
	}
	if e.Old == nil && e.New == nil {
		return nil, l.client.badAnswer(path, errors.New("it has neither old nor new"))
	}
	for _, side := range []*json.RawMessage{&e.Old, &e.New} {
		if *side, err = removePath(*side); err != nil {
			return nil, l.client.badAnswer(path, err)
		}
	}
	return e.toPair(), nil
}
