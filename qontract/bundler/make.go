package bundler

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// An Input names the sources of a bundle.
type Input struct {
	Data, Resources, Schemas TreePart // folders
	GraphQL                  TreePart // one file
	Commit                   string   // hash of the commit
	Timestamp                string   // time of the commit in unix seconds
}

// Options say how a bundle is made. The zero value is ready to use.
type Options struct {
	Workers int    // number of files that are read at once; 0: one per processor
	Cache   *Cache // nil: no cache
}

// A Bundled is a bundle that is ready to be written. The caller must close it.
type Bundled struct {
	in          Input
	spool       *spool
	pack        *pack // nil without a cache
	data        []record
	resources   []record
	backrefs    map[string][]byte // JSON of the backrefs of resources, by path
	listTargets map[string]bool   // paths of the datafiles to which list items refer
	definitions *definitions
	types       *node // the GraphQL section
}

// Make reads the files and makes their bundle. If files have mistakes, it returns
// all of them as problems, and no bundle. The error says why files could not be read
// at all.
func Make(ctx context.Context, in Input, opts Options) (*Bundled, []Problem, error) {
	m := maker{in: in, opts: opts, b: &Bundled{in: in, spool: &spool{}, listTargets: map[string]bool{}}}
	if m.opts.Workers <= 0 {
		m.opts.Workers = runtime.GOMAXPROCS(0)
	}
	err := m.run(ctx)
	if err != nil || len(m.found.list) > 0 {
		m.b.Close()
		return nil, m.found.sorted(), err
	}
	return m.b, nil, nil
}

// Close closes and removes temporary files.
func (b *Bundled) Close() {
	b.spool.close()
	b.pack.close()
}

// A maker makes one bundle.
type maker struct {
	in    Input
	opts  Options
	b     *Bundled
	found problems

	mu         sync.Mutex     // guards b.listTargets, identified and interned
	identified map[*node]bool // schemas that must allow an identifier
	interned   map[string]string

	definitionsKey string // hash of the definitions, for the cache
}

// run reads the definitions, the datafiles and the resources, in this order, and
// links them. Datafiles and resources are listed in the background meanwhile.
func (m *maker) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx) // an early return ends the listings
	datafiles, resources := startListing(ctx, m.in.Data, isDatafileName), startListing(ctx, m.in.Resources, anyName)
	defer datafiles.wait()
	defer resources.wait()
	defer cancel()
	if err := m.readDefinitions(ctx); err != nil || m.b.definitions == nil {
		return err
	}
	m.identified, m.interned = map[*node]bool{}, map[string]string{}
	files, err := m.awaitListing(datafiles)
	if err != nil {
		return err
	}
	if len(m.found.list) == 0 {
		m.b.pack = openPack(m.opts.Cache, m.b.definitions, m.definitionsKey)
	}
	dataStage := stage{m.in.Data.Tree, files, maxDatafile, datafileReading, m.b.pack,
		func(f sourceFile, raw, buf []byte) (record, []byte, []Problem) {
			return m.b.definitions.makeDatafile(f.path, raw, buf)
		}}
	if m.b.data, err = m.makeRecords(ctx, dataStage); err != nil {
		return err
	}
	if files, err = m.awaitListing(resources); err != nil {
		return err
	}
	resourceStage := stage{m.in.Resources.Tree, files, maxResource, resourceReading, m.b.pack, makeResource}
	if m.b.resources, err = m.makeRecords(ctx, resourceStage); err != nil {
		return err
	}
	if m.b.pack != nil {
		m.b.pack.save()
	}
	m.linkRecords()
	return nil
}

// A pendingList is the list of the files of a section while it is being made.
type pendingList struct {
	working errgroup.Group
	files   []sourceFile
	found   problems
}

// startListing starts to list a section in the background.
func startListing(ctx context.Context, s TreePart, takes func(string) bool) *pendingList {
	l := &pendingList{}
	l.working.Go(func() (err error) {
		l.files, err = s.listFiles(ctx, takes, &l.found)
		return err
	})
	return l
}

// wait waits until the list is complete.
func (l *pendingList) wait() { _ = l.working.Wait() }

// awaitListing waits for a list and returns its files. It adds the problems of the
// list to those of the bundle.
func (m *maker) awaitListing(l *pendingList) ([]sourceFile, error) {
	err := l.working.Wait()
	for _, p := range l.found.list {
		m.found.add(p.File, p)
	}
	return l.files, err
}

// collectReferences moves from a record to the maker what concerns other files:
// datafiles to which list items refer, and schemas that must allow an identifier.
func (m *maker) collectReferences(r *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range r.refs {
		m.b.listTargets[m.intern(t)] = true
	}
	for i := range r.backrefs {
		r.backrefs[i].resource = m.intern(r.backrefs[i].resource)
	}
	r.schema = m.intern(r.schema)
	for _, s := range r.itemSchemas {
		m.identified[s] = true
	}
	r.refs, r.itemSchemas = nil, nil
}

// intern returns a copy of a piece of a file, and the same copy for the same text,
// so that the memory of the file can be freed.
func (m *maker) intern(s string) string {
	k, ok := m.interned[s]
	if !ok {
		k = strings.Clone(s)
		m.interned[k] = k
	}
	return k
}

// linkRecords completes the bundle with what files say about other files: the
// backrefs of resources, and the schemas that must allow an identifier.
func (m *maker) linkRecords() {
	backrefs := map[string][]mention{}
	for _, r := range m.b.data {
		if r.ownSchema != nil && m.b.listTargets[r.path] {
			m.identified[r.ownSchema] = true
		}
		for _, b := range r.backrefs {
			backrefs[b.resource] = append(backrefs[b.resource], mention{r.path, b.jsonpath, r.schema})
		}
	}
	for s := range m.identified {
		if p := s.get("properties"); p.isTruthy() && p.kind == mapping {
			p.set(identifierKey, &node{kind: mapping, members: []member{{textNode("type"), textNode("string")}}})
		}
	}
	m.b.backrefs = make(map[string][]byte, len(backrefs))
	for _, r := range m.b.resources {
		m.b.backrefs[r.path] = appendMentions(nil, backrefs[r.path])
	}
}
