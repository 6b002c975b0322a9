package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"
)

// A judge is a test that holds an engine to the recorded answers of another program.
type judge struct {
	name   string
	engine string   // the folder of the engine
	files  []string // patterns of the names of its files; nil is all
	within string   // the folder of the test
	test   string
}

// judges are the judges of all engines.
var judges = []judge{
	{"graphql-filters", "qontract/gql", []string{"execute_filter.go"}, "conformance/peers", "TestGraphQLFilters"},
	{"graphql-documents", "qontract/gql", nil, "conformance/peers", "TestGraphQLDocuments"},
	{"schema-numbers", "qontract/validator", []string{"number.go"}, "conformance/peers", "TestSchemaNumbers"},
	{"yaml", "qontract/bundler", []string{"quick*.go", "scalar.go", "yaml*.go"}, "qontract/bundler", "TestYAMLAnswers"},
	{"jsonpath", "qontract/jsonpath", nil, "conformance/peers", "TestJSONPath"},
	{"schedules", "natives/saas/schedule", nil, "conformance/peers", "TestSchedules"},
	{"templates", "natives/template", nil, "conformance/peers", "TestTemplates"},
	// This one holds a rule and not a program: what becomes of commits stands in timelines that others wrote.
	{"ledger", "natives/saas/ledger", nil, "natives/saas/promotions", "TestLedgerCases"},
}

// A broken engine is a change of an engine that a judge must notice. The text stands in the file once.
type broken struct {
	Judge string `json:"judge"`
	File  string `json:"file"`
	// Before and After are the rest of the line around the change, so that the place is found in another version.
	Before  string `json:"before"`
	Was     string `json:"was"`
	After   string `json:"after"`
	Instead string `json:"instead"`
}

//go:embed engines.json
var engines []byte

// errUnnoticed is the result when a judge does not notice a broken engine.
var errUnnoticed = errors.New("a judge does not notice that its engine is broken")

// judgeTime is how long a judge may take; an engine that does not end is broken.
const judgeTime = 3 * time.Minute

// holdEngines breaks all engines as listed and asks their judges. It prints a line for each engine that no judge
// notices, and for each judge.
func holdEngines(ctx context.Context, out io.Writer) error {
	var all []broken
	if err := json.Unmarshal(engines, &all); err != nil {
		return fmt.Errorf("engines.json: %w", err)
	}
	weak := false
	for _, j := range judges {
		b, err := j.bench(ctx)
		if err != nil {
			return err
		}
		listed, red := 0, 0
		for _, e := range all {
			if e.Judge != j.name {
				continue
			}
			listed++
			s, err := e.site()
			if err != nil {
				return err
			}
			v, err := b.try(ctx, s)
			switch {
			case err != nil:
				return err
			case v == noticed:
				red++
			default:
				_, _ = fmt.Fprintf(out, "green  %s  %s:%d  %s  ->  %s\n", j.name, s.file, s.line, shorten(s.was),
					shorten(s.instead))
			}
		}
		_, _ = fmt.Fprintf(out, "broken engines %s: %d listed, %d turn the judge red\n", j.name, listed, red)
		weak = weak || listed == 0 || red < listed
	}
	if weak {
		return errUnnoticed
	}
	return nil
}

// drawEngines draws changes of each engine and prints those that its judge notices, in the form of the list.
func drawEngines(ctx context.Context, out io.Writer, o options) error {
	var all []broken
	for _, j := range judges {
		b, err := j.bench(ctx)
		if err != nil {
			return err
		}
		next, err := draw(j.engine, o.seed)
		if err != nil {
			return err
		}
		for found := 0; found < o.changes; {
			s, ok := next()
			if !ok {
				break
			}
			if !j.has(path.Base(s.file)) {
				continue
			}
			v, err := b.try(ctx, s)
			if err != nil {
				return err
			}
			if v == noticed {
				e, err := s.broken(j.name)
				if err != nil {
					return err
				}
				if _, err := e.site(); err == nil { // its line stands once in the file
					all, found = append(all, e), found+1
				}
			}
		}
	}
	raw, err := json.MarshalIndent(all, "", "\t")
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", raw)
	}
	return err
}

// has reports whether a file belongs to the engine.
func (j judge) has(file string) bool {
	return j.files == nil || slices.ContainsFunc(j.files, func(pattern string) bool {
		ok, err := path.Match(pattern, file)
		return ok && err == nil
	})
}

// bench returns the bench on which changes of the engine are tried. Its judge must run and be green.
func (j judge) bench(ctx context.Context) (bench, error) {
	b := bench{path: "./" + j.within, only: j.test, timeout: judgeTime}
	raw, err := output(ctx, "go", "test", "-v", "-count=1", "-run", "^"+j.test+"$", b.path)
	if err != nil || !bytes.Contains(raw, []byte("judge "+j.name+":")) {
		return b, fmt.Errorf("the judge %s does not run, or is red without a change: %w\n%s", j.name, errors.Join(err), raw)
	}
	return b, nil
}

// site returns where an engine is to be broken.
func (e broken) site() (site, error) {
	source, err := os.ReadFile(e.File)
	if err != nil {
		return site{}, err
	}
	line := []byte(e.Before + e.Was + e.After + "\n")
	at := bytes.Index(source, line)
	if at < 0 || bytes.Contains(source[at+1:], line) || at > 0 && source[at-1] != '\n' {
		return site{}, fmt.Errorf("engines.json: %s does not have this line once: %s", e.File, line)
	}
	start := at + len(e.Before)
	return site{e.File, 1 + bytes.Count(source[:at], []byte("\n")), start, start + len(e.Was), e.Was, e.Instead}, nil
}

// broken returns a change in the form of the list. A change whose line stands twice in its file is not found again.
func (s site) broken(by string) (broken, error) {
	source, err := os.ReadFile(s.file)
	if err != nil {
		return broken{}, err
	}
	begin := bytes.LastIndexByte(source[:s.start], '\n') + 1
	end := s.end + bytes.IndexByte(source[s.end:], '\n')
	return broken{by, s.file, string(source[begin:s.start]), s.was, string(source[s.end:end]), s.instead}, nil
}
