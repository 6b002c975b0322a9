package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// maxDifference is up to how many files a difference has.
const maxDifference = 2000

// A writtenDifference is what [Bundle.Difference] writes: the JSON texts of files by their path, nil
// for files that head does not have.
type writtenDifference struct {
	SHA256, Commit, Timestamp     string
	Datafiles, Resources, Schemas map[Path]*string
}

// Difference writes down how head differs from a bundle, so that [Bundle.WithDifference]
// makes head of it. It is not ok when the GraphQL types differ, or too many files do.
func (b *Bundle) Difference(head *Bundle) (raw []byte, ok bool) {
	d := writtenDifference{
		SHA256: head.SHA256(), Commit: head.commit, Timestamp: head.timestamp,
		Datafiles: head.datafiles.differenceFrom(&b.datafiles),
		Resources: head.resources.differenceFrom(&b.resources),
		Schemas:   head.schemas.differenceFrom(&b.schemas),
	}
	if !b.HasSameGraphQL(head) || len(d.Datafiles)+len(d.Resources)+len(d.Schemas) > maxDifference {
		return nil, false
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, false
	}
	again, err := b.WithDifference(raw)
	return raw, err == nil && again.hasFilesOf(head)
}

// differenceFrom returns the texts of the files that differ from those of base.
func (s *section) differenceFrom(base *section) map[Path]*string {
	out := map[Path]*string{}
	for _, c := range differingFiles(base, s) {
		out[c.Path] = nil
		if c.New != nil {
			text := string(c.New.text())
			out[c.Path] = &text
		}
	}
	return out
}

// hasFilesOf reports whether two bundles have the same files in the same order.
func (b *Bundle) hasFilesOf(other *Bundle) bool {
	same := func(x, y *File) bool {
		return x == y || x.Path == y.Path && x.Schema == y.Schema && bytes.Equal(x.text(), y.text())
	}
	return b.hasPathWithoutSlash == other.hasPathWithoutSlash && slices.EqualFunc(b.datafiles.files, other.datafiles.files,
		same) &&
		slices.EqualFunc(b.resources.files, other.resources.files, same) &&
		slices.EqualFunc(b.schemas.files, other.schemas.files, same)
}

// WithDifference returns the bundle whose [Bundle.Difference] from this one was written down.
// It shares all files that both have.
func (b *Bundle) WithDifference(raw []byte) (*Bundle, error) {
	var d writtenDifference
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	if d.SHA256 == "" {
		return nil, errors.New("not a difference of bundles")
	}
	out, err := b.Patched(Patch{Datafiles: textsOf(d.Datafiles), Resources: textsOf(d.Resources),
		Schemas: textsOf(d.Schemas)})
	if err != nil {
		return nil, err
	}
	out.sha256, out.commit, out.timestamp = known(d.SHA256), d.Commit, d.Timestamp
	return out, nil
}

// textsOf returns the texts of files as a patch has them.
func textsOf(files map[Path]*string) map[Path][]byte {
	out := make(map[Path][]byte, len(files))
	for p, text := range files {
		out[p] = nil
		if text != nil {
			out[p] = []byte(*text)
		}
	}
	return out
}
