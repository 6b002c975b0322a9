package validator

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// DefaultLimit is the number of findings that a report keeps by default.
const DefaultLimit = 1000

// Options say what Check checks.
type Options struct {
	Base  *bundle.Bundle // the bundle before the change; required for the scope Changed
	Scope Scope
	Limit int // number of findings that the report keeps; 0 means DefaultLimit
}

// A checker holds the data that the checks of one bundle share.
type checker struct {
	head       *bundle.Bundle
	base       *bundle.Bundle // nil if it is not known
	types      *gqlTypes
	library    *library
	identities sync.Map // path of a datafile → its identity as a list item
}

// Check checks a bundle and returns all mistakes. It returns an error if the scope cannot
// be checked, or if ctx ends before the check does.
func Check(ctx context.Context, head *bundle.Bundle, o Options) (*Report, error) {
	if o.Scope == None {
		return &Report{Scope: None}, nil
	}
	if o.Scope == Changed && o.Base == nil {
		return nil, errors.New("checking what changed: the base bundle is missing; give one, or check all")
	}
	c := &checker{head: head, base: o.Base, types: readTypes(head.GraphQL()), library: newLibrary(head)}
	s := c.selectAll()
	if o.Scope == Changed {
		s = c.selectChanged(bundle.Compare(o.Base, head))
	}
	var found []Finding
	for _, f := range s.schemas {
		found = append(found, c.checkSchema(f)...)
	}
	if s.types {
		found = append(found, c.checkTypes()...)
	}
	more, err := c.checkFiles(ctx, s)
	if err != nil {
		return nil, err
	}
	found = append(found, more...)
	found = append(found, c.slowPatterns()...)
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return newReport(o.Scope, found, limit), nil
}

// checkFiles checks datafiles and resources, with one goroutine for each processor.
func (c *checker) checkFiles(ctx context.Context, s *selection) ([]Finding, error) {
	c.compileSchemasOf(s)
	walks := make([]*fileWalk, len(s.datafiles))
	err := runParallel(ctx, len(walks), func(i int) { walks[i] = c.checkDatafile(s.datafiles[i]) })
	if err != nil {
		return nil, err
	}
	var found []Finding
	var uses []uniqueValue
	checked := make(map[bundle.Path]bool, len(walks))
	for i, w := range walks {
		checked[s.datafiles[i].Path] = true
		found = append(found, w.found...)
		uses = append(uses, w.values...)
	}
	found = append(found, c.findDuplicates(uses, checked)...)
	lists := make([][]Finding, len(s.resources))
	err = runParallel(ctx, len(lists), func(i int) { lists[i] = c.checkResource(s.resources[i]) })
	for _, list := range lists {
		found = append(found, list...)
	}
	return found, err
}

// compileSchemasOf compiles the schemas of the selected files. Afterwards the library is
// only read, so several goroutines can use it.
func (c *checker) compileSchemasOf(s *selection) {
	for _, files := range [][]*bundle.File{s.datafiles, s.resources} {
		for _, f := range files {
			if p := schemaPath(string(f.Schema)); c.library.docs.has(p) {
				_, _ = c.library.compile(p, "") // checkSchema reports the error
			}
		}
	}
}

// schemaPath returns the path of the schema file that a $schema names. The slash at its
// beginning may be missing.
func schemaPath(name string) bundle.Path {
	if name != "" && name[0] != '/' {
		name = "/" + name
	}
	return bundle.Path(name)
}

// runParallel calls do with every number below n, and returns after all calls have ended.
// It starts no call after ctx has ended.
func runParallel(ctx context.Context, n int, do func(i int)) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
