package bundle

import (
	"crypto/sha256"
	"fmt"
	"hash"
)

// Contents returns the sha256 of all that the bundle holds, in its order, as 64 hex
// digits. Bundles with the same one differ in nothing but their commit.
func (b *Bundle) Contents() string {
	s := summary{sha256.New()}
	s.texts(b.graphql)
	s.files(&b.schemas, &b.datafiles, &b.resources)
	return s.String()
}

// Types returns the sha256 of the bundle's GraphQL types and JSON schemas, likewise.
func (b *Bundle) Types() string {
	s := summary{sha256.New()}
	s.texts(b.graphql)
	s.files(&b.schemas)
	return s.String()
}

// A summary digests texts and sections; different ones never look alike.
type summary struct{ hash.Hash }

func (s summary) texts(list ...[]byte) {
	for _, t := range list {
		_, _ = fmt.Fprintf(s, "%d:", len(t)) // a hash never fails
		_, _ = s.Write(t)
	}
}

func (s summary) files(sections ...*section) {
	for _, list := range sections {
		_, _ = fmt.Fprintf(s, "%d files:", len(list.files))
		for _, f := range list.files {
			s.texts([]byte(f.Path), f.raw)
		}
	}
}

func (s summary) String() string { return fmt.Sprintf("%x", s.Sum(nil)) }
