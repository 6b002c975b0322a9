package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/statetest"
)

const host = "arm.example"

// A scene is the native over all types of a folder.
type scene struct {
	world    *cloudtest.World
	service  *service
	native   integration.Native
	store    *statetest.Memory
	secrets  map[string]string
	canaries []string

	mu  sync.Mutex
	now time.Time
	log bytes.Buffer
	red map[string]string // why a resource is not done, by its file or by its id in lower case
	err error
}

func newScene(b *book, kinds []*kind, seed uint64) (*scene, error) {
	s := &scene{world: cloudtest.New("https://" + host), secrets: map[string]string{},
		now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	s.store = statetest.NewMemory()
	s.world.Resources = map[string]string{}
	used := map[string]bool{}
	for _, k := range kinds {
		used[k.file] = true
	}
	for _, name := range b.names() {
		raw, err := os.ReadFile(filepath.Join(b.dir, name)) //nolint:gosec // a document that was asked for
		if err != nil {
			return nil, err
		}
		s.world.Resources["/"+name] = strings.TrimPrefix(string(raw), "\ufeff")
	}
	var listed []any
	for _, name := range slices.Sorted(maps.Keys(used)) {
		listed = append(listed, "/"+name)
	}
	s.world.Data[cloudtest.API]["specifications"] = listed
	s.service = newService(kinds, s.time, seed)
	arm := *family.ARM
	arm.Limits = nil // its clock is the real one
	s.native = generic.With(generic.Options{Families: func(string) *family.Family {
		return &arm
	}, Clock: operation.Clock{Now: s.time, Sleep: s.sleep}})
	return s, nil
}

func (s *scene) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *scene) sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	return context.Cause(ctx)
}

// fileOf returns the datafile of a kind.
func fileOf(i int) string { return fmt.Sprintf("/r/%04d.yml", i) }

// put writes the entry of a kind.
func (s *scene) put(i int, k *kind, body object, secrets map[string]string, mayReplace bool) {
	entry := object{"type": k.name, "resourceId": k.id, "body": body, "allowReplace": mayReplace}
	var all []any
	for n, at := range slices.Sorted(maps.Keys(secrets)) {
		field := fmt.Sprintf("f%d", n)
		s.secrets[fileOf(i)+"/"+field] = secrets[at]
		all = append(all, object{"at": at, "secret": object{"path": fileOf(i), "field": field}})
	}
	if all != nil {
		entry["secrets"] = all
	}
	s.world.Add(fileOf(i), entry)
}

type sender struct{ *service }

// run runs the native once, and notes what is not done.
func (s *scene) run(ctx context.Context) error {
	s.service.mu.Lock()
	s.service.writes = nil
	s.service.mu.Unlock()
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\nintegrations:\n  generic:\n    settings: {hosts: ["+host+"]}\n"))
	if err != nil {
		return err
	}
	query, err := s.world.Open()
	if err != nil {
		return err
	}
	s.red = map[string]string{}
	reach := func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
		return sender{s.service}, nil
	}
	env := integration.Environment{
		Integration: generic.Name, Settings: rules.For(generic.Name), Query: query, State: state.ReadOnly(s.store),
		Log: &s.log,
		Now: s.time, Endpoint: reach, Workers: 4, Secret: s.secret,
		Report: func(f integration.Remark) {
			s.note(f.File, f.Severity == plan.SeverityError, string(f.Code)+": "+f.Message)
		},
	}
	act := integration.Actors{State: s.store, Endpoint: reach, Did: func(d integration.Deed) {
		s.note(d.Key, d.Status != "done", fmt.Sprintf("%s %s: %s", d.Action, d.Status, d.Error))
	}}
	s.err = s.native.Run(ctx, env, act)
	return ctx.Err()
}

func (s *scene) note(at string, isRed bool, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(&s.log, "%s %s\n", at, why) // a buffer takes everything
	if isRed && s.red[at] == "" {
		s.red[at] = why
	}
}

func (s *scene) secret(_ context.Context, ref integration.SecretRef) (string, error) {
	v, ok := s.secrets[ref.Path+"/"+ref.Field]
	if !ok {
		return "", fmt.Errorf("there is no secret %s %s", ref.Path, ref.Field)
	}
	return v, nil
}

// why returns why a resource is not done, "" if it is.
func (s *scene) why(i int, k *kind) string {
	if why := s.red[fileOf(i)]; why != "" {
		return why
	}
	return s.red[strings.ToLower(k.id)]
}

// wrote returns the requests that wrote a resource.
func (s *scene) wrote(k *kind) string {
	var out []string
	for _, w := range s.service.writes {
		if method, id, _ := strings.Cut(w, " "); id == strings.ToLower(k.id) {
			out = append(out, method)
		}
	}
	return strings.Join(out, " ")
}
