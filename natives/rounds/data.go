package rounds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/runner/launch"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// A Source opens the data of rounds.
type Source interface {
	// Open returns the newest data.
	Open(ctx context.Context, rules *settings.Settings) (*Data, error)
}

// Data are what one round reads.
type Data struct {
	Bundle BundleName
	// Query returns the function that answers the queries of an integration until it is
	// ended. Ending returns an error if the integration read what it may not read.
	Query func(ctx context.Context, name string) (query integration.QueryFunc, end func() error, err error)
	// Where returns the file and the line of a place for people, such as data/a.yml:3.
	Where func(ctx context.Context, file, pointer string) string
}

// An unknownError says that the data do not define an integration.
type unknownError struct{ name, near string }

// Error returns the message.
func (e *unknownError) Error() string {
	text := fmt.Sprintf("the data define no integration %q", e.name)
	if e.near != "" {
		text += fmt.Sprintf(", did you mean %q?", e.near)
	}
	return text
}

// maxEdits is how many characters of a misspelt name may be wrong.
const maxEdits = 2

// newUnknownError returns the error for a name that is not among the known ones.
func newUnknownError(name string, known []string) error {
	return &unknownError{name, strings.Join(suggest.Words(name, known, min(maxEdits, len(name)/2)), `" or "`)}
}

// Files is the source of a bundle file, of an object in a bucket or of a checkout. Data that did
// not change since the last round are not parsed again.
type Files struct {
	Opener source.Opener
	Ref    string // as [source.Opener.Bundle] takes it

	last     *bundle.Bundle
	settings *settings.Settings // those that last was opened with
	queries  *launch.Queries
}

// Open implements [Source].
func (f *Files) Open(ctx context.Context, rules *settings.Settings) (*Data, error) {
	f.Opener.Settings = rules
	raw, err := f.Opener.Bytes(ctx, f.Ref)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	if f.last == nil || f.last.SHA256() != hex.EncodeToString(sum[:]) || f.settings != rules {
		if err := f.parse(raw, rules); err != nil {
			return nil, fmt.Errorf("reading bundle %q: %w", f.Ref, err)
		}
	}
	where := placesOf(f.Opener, f.Ref, rules, f.last)
	return &Data{Bundle: BundleName{SHA256: f.last.SHA256(), Commit: f.last.Commit(), Timestamp: f.last.Timestamp()},
		Query: f.query, Where: where}, nil
}

// parse opens the bytes of a bundle.
func (f *Files) parse(raw []byte, rules *settings.Settings) error {
	b, err := bundle.Parse(raw, f.last)
	if err != nil {
		return err
	}
	queries, err := launch.Equipment{Head: b, Settings: rules}.Queries()
	if err != nil {
		return err
	}
	f.last, f.settings, f.queries = b, rules, queries
	return nil
}

// query opens the queries of an integration that the data define.
func (f *Files) query(ctx context.Context, name string) (integration.QueryFunc, func() error, error) {
	definitions, err := integration.List(f.last, f.settings)
	if err != nil {
		return nil, nil, err
	}
	var known []string
	for _, d := range definitions {
		if d.Name == name {
			return f.queries.Open(ctx, name)
		}
		known = append(known, d.Name)
	}
	return nil, nil, newUnknownError(name, known)
}

// NewSource returns the source of a reference: what [source.Opener.Bundle] takes, or the address
// of a server, http(s)://SERVER/graphql for its newest bundle.
func NewSource(open source.Opener, ref string) (Source, error) {
	switch {
	case ref == "":
		return nil, cli.Usage(errors.New("--bundle is required: the data that are to become true"))
	case source.IsLive(ref):
		return newServer(open, ref)
	}
	return &Files{Opener: open, Ref: ref}, nil
}

// placesOf returns a function that finds the file of a place in the checkout and its line, or the
// path of the datafile if there is no checkout. It opens the files when it is called first.
func placesOf(open source.Opener, ref string, rules *settings.Settings, b *bundle.Bundle) func(ctx context.Context,
	file, pointer string) string {
	var finder *lines.Finder
	return func(ctx context.Context, file, pointer string) string {
		if _, ok := b.Datafile(bundle.Path(file)); !ok || !source.IsCheckout(ref) {
			return file
		}
		if finder == nil {
			texts, err := open.Texts(ctx, ref)
			if err != nil {
				texts = source.Texts{} // the first line of each file then
			}
			finder = lines.New(lines.Files{Checkout: rules.Checkout(), Read: texts.Read}, nil, b)
		}
		at := finder.Find(file, pointer)
		if at.Path == "" {
			return file
		}
		return fmt.Sprintf("%s:%d", at.Path, at.Line)
	}
}
