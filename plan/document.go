package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxBytes bounds a document that is read.
const maxBytes = 64 << 20

// Seal fills in Version and Digest, and makes the lists that are always present
// non-nil. It is called last; a sealed plan must not change. Seal returns an error
// for a plan that [Read] would refuse.
func (p *Plan) Seal() error {
	p.Version = Version
	p.fillLists()
	if err := p.check(); err != nil {
		return fmt.Errorf("sealing the plan: %w", err)
	}
	digest, err := p.computeDigest()
	if err != nil {
		return fmt.Errorf("sealing the plan: %w", err)
	}
	p.Digest = digest
	return nil
}

// Write writes a sealed plan as indented JSON. It returns an error if the plan was
// changed after it was sealed.
func Write(w io.Writer, p *Plan) error {
	digest, err := p.computeDigest()
	if err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	if p.Version != Version || p.Digest != digest {
		return errors.New("writing the plan: it was changed since it was sealed, or it holds fields of a later prcheck; " +
			"seal it first")
	}
	return writeJSON(w, p)
}

// Read reads a plan and checks its digest and the rules of the package comment. It reads at most 64 MiB and never
// panics.
func Read(r io.Reader) (*Plan, error) {
	p, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	return p, nil
}

func read(r io.Reader) (*Plan, error) {
	var p Plan
	doc, err := readJSON(r, &p)
	if err != nil {
		return nil, err
	}
	if p.Digest == "" {
		return nil, errors.New(`there is no "digest"; make the plan with "planner plan"`)
	}
	if digest := digestOf(doc); p.Digest != digest {
		return nil, fmt.Errorf("the digest is %q but the contents give %s: the file was changed or damaged; make the "+
			"plan again", p.Digest, digest)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return &p, nil
}

// computeDigest returns the digest of the plan.
func (p *Plan) computeDigest() (string, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	doc, err := decode(raw)
	if err != nil {
		return "", err
	}
	return digestOf(doc), nil
}

// fillLists makes the lists that are always present non-nil. It copies the slices
// whose elements it changes, since these may be shared.
func (p *Plan) fillLists() {
	fill(&p.Changes.Datafiles)
	fill(&p.Changes.Resources)
	fill(&p.Changes.Schemas)
	fill(&p.Changes.GraphQL)
	fill(&p.Warnings)
	p.Integrations = slices.Clone(p.Integrations)
	fill(&p.Integrations)
	for i := range p.Integrations {
		fill(&p.Integrations[i].Tasks)
	}
	p.Tasks = slices.Clone(p.Tasks)
	fill(&p.Tasks)
	for i := range p.Tasks {
		fill(&p.Tasks[i].Argv)
	}
}

func fill[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// readJSON reads one document of limited size and of this version into out. It also
// returns the document in generic form.
func readJSON(r io.Reader, out any) (object, error) {
	raw, err := readAll(r, maxBytes)
	if err != nil {
		return nil, err
	}
	doc, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if version, _ := doc["version"].(string); version != Version {
		return nil, fmt.Errorf("the version is %q, this prcheck reads %q; use the same prcheck to write and to read", version,
			Version)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, err
	}
	return doc, nil
}

// readAll reads at most limit bytes. It returns an error if there are more.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(raw)) > limit {
		return nil, fmt.Errorf("it is larger than %d bytes; is it the right file?", limit)
	}
	return raw, err
}

// writeJSON writes a document as indented JSON.
func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
