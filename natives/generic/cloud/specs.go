package cloud

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/natives/generic/plain"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/plan"
)

// Specs are the specifications of one API with its overrides. Several goroutines may use them.
type Specs struct {
	ID string // of the content; the same content has the same id

	listed      []string // paths of the specifications
	overridesAt string   // path of the overrides

	mu        sync.Mutex        // readers of specifications work for one goroutine at a time
	sums      map[string]string // sha256 by name; "missing" for what is not there
	refs      map[string][]string
	index     *resources.Index
	overrides []*classes.Overrides
	types     map[*resources.Type]*typed
	warnings  []error
	mistake   error                     // why nothing can be read with them
	misplaced map[*resources.Type]error // why a description says a place of creation that is none
}

// A typed is what was made of a type.
type typed struct {
	classifier *classes.Classifier
	rules      *rules.Classified
	digest     string
	err        error
	plain      *plain.Habits // of a type of the family plain
	plainErr   error         // why it cannot be managed
}

// Warnings returns what cannot be read of the specifications, sorted.
func (s *Specs) Warnings() []error { return s.warnings }

// Lock locks the specifications for who reads schemas of a type by himself, and returns what
// unlocks them.
func (s *Specs) Lock() (unlock func()) {
	s.mu.Lock()
	return s.mu.Unlock
}

// Locker returns the lock of the specifications.
func (s *Specs) Locker() sync.Locker { return &s.mu }

// Has reports whether requests take a property of a type, by its JSON pointer.
func (s *Specs) Has(t *resources.Type, pointer string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(t)
	if of.err != nil {
		return false
	}
	p, err := of.classifier.Explain(pointer)
	return err == nil && p.ReadOnly == nil
}

// Types returns all types, sorted by name and version.
func (s *Specs) Types() []*resources.Type {
	if s.index == nil {
		return nil
	}
	return s.index.Types()
}

// Find returns the types of a name, see [resources.Index.Find].
func (s *Specs) Find(name string) ([]*resources.Type, error) {
	if s.mistake != nil {
		return nil, s.mistake
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.Find(name)
}

// Classifier returns the classes of a type. Who uses it holds [Specs.Lock].
func (s *Specs) Classifier(t *resources.Type) (*classes.Classifier, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(t)
	return of.classifier, of.err
}

// Rules returns the rules of a type. They may be used without a lock.
func (s *Specs) Rules(t *resources.Type) (*rules.Classified, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(t)
	return of.rules, of.err
}

// Plain returns the habits of a type of the family plain. The error says why it cannot be managed.
func (s *Specs) Plain(t *resources.Type) (*plain.Habits, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(t)
	return of.plain, of.plainErr
}

// Digest returns the digest of the documents that a type reaches and of the overrides about it.
func (s *Specs) Digest(t *resources.Type) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(t).digest
}

func (s *Specs) of(t *resources.Type) *typed {
	of, ok := s.types[t]
	if !ok {
		of = &typed{digest: s.digest(t)}
		of.classifier, of.err = classes.New(t, s.overrides...)
		if of.err == nil {
			of.rules = rules.Of(of.classifier, &s.mu)
		}
		if of.plainErr = s.misplaced[t]; of.plainErr == nil {
			of.plainErr = of.err
		}
		if t.Family == resources.Plain && of.plainErr == nil {
			of.plain, of.plainErr = plain.Read(t, of.classifier, s.overrides...)
		}
		s.types[t] = of
	}
	return of
}

// digest returns the digest of what a type is read with.
func (s *Specs) digest(t *resources.Type) string {
	hash := sha256.New()
	for _, name := range s.reached(t.Document.Name) {
		_, _ = fmt.Fprintf(hash, "%d:%s %s\n", len(name), name, s.sums[name]) // a hash takes everything
	}
	for _, file := range s.overrides {
		if file.Name == classes.ShippedName {
			continue // it is a part of the program
		}
		for _, e := range file.Entries {
			if e.IsAbout(t) {
				raw, err := json.Marshal(e)
				_, _ = fmt.Fprintf(hash, "%s %v\n", raw, err)
			}
		}
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// reached returns the names of a document and of all documents that it leads to, sorted.
func (s *Specs) reached(name string) []string {
	out := []string{name}
	for i := 0; i < len(out); i++ { // out grows
		for _, next := range s.refs[out[i]] {
			if !slices.Contains(out, next) {
				out = append(out, next)
			}
		}
	}
	slices.Sort(out)
	return out
}

// missing stands for the sha256 of a document that is not there.
const missing = "missing"

// maxDocuments is how many documents one API may have.
const maxDocuments = 5000

// load reads the specifications of an API. An error means that the data cannot be asked.
func load(ctx context.Context, a *API, content contentFunc) (*Specs, error) {
	s := &Specs{listed: a.Specifications, overridesAt: a.Overrides, sums: map[string]string{}, refs: map[string][]string{},
		types: map[*resources.Type]*typed{}}
	var failed error // to ask for a resource
	set := openapi.NewSet(func(name string, limit int64) ([]byte, error) {
		text, isThere, err := content(ctx, "/"+name)
		switch {
		case err != nil:
			failed = err
			return nil, err
		case !isThere:
			s.sums[name] = missing
			return nil, fs.ErrNotExist
		}
		sum := sha256.Sum256([]byte(text))
		s.sums[name] = hex.EncodeToString(sum[:])
		return []byte(text[:min(len(text), int(limit)+1)]), nil
	}, openapi.Limits{})
	var documents []*openapi.Document
	open := []string{}
	for _, path := range a.Specifications {
		open = append(open, strings.TrimPrefix(path, "/"))
	}
	listed := len(open)
	for i := 0; i < len(open) && failed == nil; i++ { // open grows
		if i == maxDocuments {
			s.mistake = fmt.Errorf("the specifications have more than %d documents", maxDocuments)
			break
		}
		d, err := set.Document(open[i])
		if err != nil {
			s.warnings = append(s.warnings, err)
			continue
		}
		if i < listed {
			documents = append(documents, d)
		}
		s.refs[open[i]] = d.References()
		for _, next := range d.References() {
			if !slices.Contains(open, next) {
				open = append(open, next)
			}
		}
	}
	if failed != nil {
		return nil, failed
	}
	s.index = resources.NewIndex(documents)
	s.warnings = append(s.warnings, s.index.Mistakes()...)
	if err := s.readOverrides(ctx, a, content); err != nil {
		return nil, err
	}
	s.ID = s.id(a)
	return s, nil
}

// id returns the digest of all that was read.
func (s *Specs) id(a *API) string {
	hash := sha256.New()
	for _, name := range sortedKeys(s.sums) {
		_, _ = fmt.Fprintf(hash, "%d:%s %s\n", len(name), name, s.sums[name]) // a hash takes everything
	}
	_, _ = fmt.Fprintf(hash, "%q %q", a.Specifications, a.Overrides)
	return hex.EncodeToString(hash.Sum(nil))
}

// readOverrides reads the overrides of an API, which are laid over those of the program.
func (s *Specs) readOverrides(ctx context.Context, a *API, content contentFunc) error {
	shipped, err := classes.Shipped()
	if err != nil {
		return err
	}
	s.overrides = []*classes.Overrides{shipped}
	if a.Overrides == "" {
		return nil
	}
	text, isThere, err := content(ctx, a.Overrides)
	switch {
	case err != nil:
		return err
	case !isThere:
		s.mistake = fmt.Errorf("there is no resource %.200q with overrides", a.Overrides)
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	s.sums[a.Overrides] = hex.EncodeToString(sum[:])
	own, err := classes.ReadOverrides(a.Overrides, []byte(text))
	if err != nil {
		s.mistake = err
		return nil
	}
	s.overrides = []*classes.Overrides{shipped, own} // a later file replaces what an earlier one says
	s.describe(own)
	s.checkOverrides(own)
	return nil
}

// describe gives types the addresses at which descriptions create them.
func (s *Specs) describe(own *classes.Overrides) {
	s.misplaced = map[*resources.Type]error{}
	for _, t := range s.index.Types() {
		d, err := classes.Describe(t, own)
		if err == nil && d.Create != "" {
			var elsewhere *resources.Type
			if elsewhere, err = t.CreatedAt(d.CreatePath()); err == nil {
				*t = *elsewhere
			}
		}
		if err != nil {
			s.misplaced[t] = &openapi.Error{Code: string(plain.CodeDescription), Place: t.ID(), Message: openapi.MessageOf(err)}
		}
	}
}

// checkOverrides notes the entries that correct nothing.
func (s *Specs) checkOverrides(own *classes.Overrides) {
	for _, t := range s.index.Types() {
		if slices.ContainsFunc(own.Entries, func(e *classes.Entry) bool { return e.IsAbout(t) }) {
			if of := s.of(t); of.err != nil {
				s.warnings = append(s.warnings, of.err)
			} else if isDescribed(own, t) && of.plainErr != nil {
				s.warnings = append(s.warnings, of.plainErr)
			}
		}
	}
	s.warnings = append(s.warnings, own.Unused(true)...)
}

// isDescribed reports whether a file says something of the habits of a type.
func isDescribed(own *classes.Overrides, t *resources.Type) bool {
	return slices.ContainsFunc(own.Entries, func(e *classes.Entry) bool { return e.IsAbout(t) && e.Describes() })
}

// codeOf returns the code of an error of a specification.
func codeOf(err error) plan.FindingCode {
	var wrong *openapi.Error
	if errors.As(err, &wrong) {
		return plan.FindingCode(wrong.Code)
	}
	return openapi.CodeLoad
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

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
