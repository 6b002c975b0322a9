package validator

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/app-sre/prcheck/bundle"
)

// DefaultLimit is the number of findings that a report keeps.
const DefaultLimit = 1000

// Options say what is checked.
type Options struct {
	Base  *bundle.Bundle // before the change; needed for the scope Changed
	Scope Scope
	Limit int // findings to keep; 0 means DefaultLimit
}

// A checker holds what the checks of one bundle share.
type checker struct {
	head       *bundle.Bundle
	base       *bundle.Bundle // nil when it is not known
	types      *gqlTypes
	library    *library
	identities sync.Map // of datafiles as list items, by path
}

// Check checks a bundle and returns all mistakes. The error is for a scope that
// cannot be checked, and for ctx when it ends before the check does.
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

// checkFiles checks datafiles and resources, as many at once as there are
// processors.
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

// compileFor compiles the schemas of what is selected; from then on the library
// is only read.
func (c *checker) compileSchemasOf(s *selection) {
	for _, files := range [][]*bundle.File{s.datafiles, s.resources} {
		for _, f := range files {
			if p := schemaPath(string(f.Schema)); c.library.docs[p] != nil {
				_, _ = c.library.compile(p, "") // what is wrong is told with the schema
			}
		}
	}
}

// schemaPath is the path of the schema file that a $schema names: the slash in
// front may be missing.
func schemaPath(name string) bundle.Path {
	if name != "" && name[0] != '/' {
		name = "/" + name
	}
	return bundle.Path(name)
}

// parallel calls do with every number below n, and returns when all calls have
// ended. No call begins once ctx is done.
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
