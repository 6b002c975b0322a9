package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/examples/cloud"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/statetest"
)

const (
	endpoint = "https://arm.example"
	group    = "/subscriptions/s1/resourceGroups/shop"
)

// A cloudScene is resources at the simulated service of the example, which has what a run of base makes.
type cloudScene struct {
	base, head *cloudtest.World
	service    *armtest.Server
	native     integration.Native
	store      *statetest.Memory

	mu  sync.Mutex
	now time.Time
}

func newCloud(ctx context.Context, r *rand.Rand) (scene, error) {
	s := &cloudScene{base: cloudtest.New(endpoint), store: statetest.NewMemory(),
		now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	var err error
	if s.service, err = armtest.Example(); err != nil {
		return nil, err
	}
	s.service.Now = s.time
	all, err := cloud.Specifications()
	if err != nil {
		return nil, err
	}
	var names []any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.base.Resources["/cloud/"+name] = string(all[name])
		if name != "common.json" {
			names = append(names, "/cloud/"+name)
		}
	}
	s.base.Data[cloudtest.API]["specifications"] = names
	s.native = generic.With(generic.Options{Clock: operation.Clock{Now: s.time, Sleep: s.sleep}})
	for file, e := range entries(r) {
		s.base.Add(file, e)
	}
	s.head = s.base
	return s, s.settle(ctx, true)
}

func (s *cloudScene) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *cloudScene) sleep(_ context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	return nil
}

// entries are those of a new scene.
func entries(r *rand.Rand) map[string]object {
	return map[string]object{
		"/cloud/cache.yml": {"type": "Example.Cache/caches", "name": "sessions", "parent": group,
			"allowReplace": r.IntN(2) == 0,
			"body": object{"location": "West US", "tags": object{"team": "shop"},
				"properties": object{"sku": object{"name": "Standard", "capacity": 1},
					"configuration": object{"maxmemory-policy": "allkeys-lru"}}},
			"secrets": []any{object{"at": "/properties/adminPassword",
				"secret": object{"path": "cloud/sessions", "field": "password", "version": 1}}}},
		"/cloud/rule.yml": rule("office", "sessions", 1),
		"/cloud/files.yml": {"type": "Example.Storage/accounts", "name": "shopfiles", "parent": group,
			"body": object{"location": "westus", "kind": "Storage", "sku": object{"name": "Standard_LRS"},
				"properties": object{"retention": "PT24H", "networkAcls": object{"defaultAction": "Deny",
					"ipRules": []any{object{"value": "192.0.2.0/28", "action": "Allow"}}}}}},
		"/cloud/machines.yml": {"type": "Example.Compute/scaleSets", "name": "web", "parent": group,
			"ignore": []any{"/sku/capacity"}, "allowReplace": r.IntN(2) == 0,
			"body": object{"location": "westus", "zones": []any{"1", "2"},
				"sku":        object{"name": "Standard_D2", "capacity": 3},
				"properties": object{"computerNamePrefix": "web", "image": object{"publisher": "example", "version": "12.1"}}},
			"secrets": []any{object{"at": "/properties/adminPassword",
				"secret": object{"path": "cloud/web", "field": "password", "version": 1}}}},
		"/cloud/network.yml": {"type": "Example.Network/networks", "name": "shop", "parent": group,
			"body": object{"location": "westus", "tags": object{"team": "shop"},
				"properties": object{"addressSpace": object{"addressPrefixes": []any{"10.0.0.0/16"}}}}},
	}
}

// rule returns an entry of a rule of a cache.
func rule(name, parent string, last int) object {
	return object{"type": "Example.Cache/caches/firewallRules", "name": name, "parent": parent,
		"body": object{"properties": object{"startIP": fmt.Sprintf("192.0.2.%d", last), "endIP": "192.0.2.200"}}}
}

// An edit changes the data of head. Each says what it does.
type edit struct {
	file string
	do   func(e object, r *rand.Rand) string
}

// at returns an object in an object.
func at(of object, names ...string) object {
	for _, name := range names {
		next, _ := of[name].(object)
		if next == nil {
			next = object{}
			of[name] = next
		}
		of = next
	}
	return of
}

// set returns an edit that sets a value of a body to one of some, or removes it (nil).
func set(file string, values []any, names ...string) edit {
	return edit{file, func(e object, r *rand.Rand) string {
		last := len(names) - 1
		of, v := at(e, append([]string{"body"}, names[:last]...)...), values[r.IntN(len(values))]
		if v == nil {
			delete(of, names[last])
		} else {
			of[names[last]] = v
		}
		return fmt.Sprintf("%s %v = %v", file, names, v)
	}}
}

// version is an edit of the version of a secret.
func version(file string) edit {
	return edit{file, func(e object, r *rand.Rand) string {
		all, _ := e["secrets"].([]any)
		of, _ := all[0].(object)
		v := 1 + r.IntN(3)
		at(of, "secret")["version"] = v
		return fmt.Sprintf("%s secret version %d", file, v)
	}}
}

// edits are those of entries that are there.
var edits = []edit{
	set("/cloud/cache.yml", []any{"shop", "till", nil}, "tags", "team"),
	set("/cloud/cache.yml", []any{"a", "b", nil}, "tags", "more/x~y"),
	set("/cloud/cache.yml", []any{1, 2, 3}, "properties", "sku", "capacity"),
	set("/cloud/cache.yml", []any{"Standard", "Premium"}, "properties", "sku", "name"),
	set("/cloud/cache.yml", []any{"allkeys-lru", "noeviction", nil}, "properties", "configuration", "maxmemory-policy"),
	set("/cloud/cache.yml", []any{"1.0", nil}, "properties", "minimumTlsVersion"),
	set("/cloud/cache.yml", []any{"West US", "westus", "eastus"}, "location"),
	version("/cloud/cache.yml"),
	set("/cloud/rule.yml", []any{"192.0.2.1", "192.0.2.2"}, "properties", "startIP"),
	set("/cloud/rule.yml", []any{"192.0.2.200", "192.0.2.201"}, "properties", "endIP"),
	set("/cloud/files.yml", []any{"PT24H", "P1D", "PT48H"}, "properties", "retention"),
	set("/cloud/files.yml", []any{[]any{object{"value": "192.0.2.0/28", "action": "Allow"}},
		[]any{object{"value": "192.0.2.0/28", "action": "Allow"}, object{"value": "198.51.100.0/28", "action": "Allow"}},
		[]any{object{"value": "198.51.100.0/28", "action": "Allow"}}}, "properties", "networkAcls", "ipRules"),
	set("/cloud/machines.yml", []any{"12.1", "12.2"}, "properties", "image", "version"),
	set("/cloud/machines.yml", []any{2, 3, 4}, "sku", "capacity"),
	version("/cloud/machines.yml"),
	set("/cloud/network.yml", []any{[]any{"10.0.0.0/16"}, []any{"10.0.0.0/16", "10.1.0.0/16"}},
		"properties", "addressSpace", "addressPrefixes"),
	set("/cloud/network.yml", []any{"shop", "till", nil}, "tags", "team"),
}

// change implements [scene].
func (s *cloudScene) change(r *rand.Rand) (told []string) {
	s.head = s.base.Clone()
	for file, e := range s.head.Data {
		if file != cloudtest.API {
			s.head.Data[file] = copyOf(e)
		}
	}
	for range 1 + r.IntN(4) {
		told = append(told, s.edit(r))
	}
	return told
}

// edit makes one edit, and says what it does.
func (s *cloudScene) edit(r *rand.Rand) string {
	file := fmt.Sprintf("/cloud/rule-%d.yml", r.IntN(3))
	e := s.head.Data[file]
	if s.head.Data["/cloud/cache.yml"] == nil || r.IntN(3) > 0 {
		one := edits[r.IntN(len(edits))]
		if of := s.head.Data[one.file]; of != nil && of["delete"] != true {
			return one.do(of, r)
		}
		return "nothing"
	}
	switch {
	case e == nil:
		s.head.Add(file, rule(file[len("/cloud/"):len(file)-len(".yml")], "sessions", 1+r.IntN(9)))
		return "add " + file
	case s.base.Data[file] == nil, s.base.Data[file]["delete"] == true: // nothing is there
		delete(s.head.Data, file)
		return "remove " + file
	}
	e["delete"] = true
	return "delete " + file
}

// copyOf returns a copy that shares nothing. Values of datafiles are JSON.
func copyOf(e object) object {
	raw, err := json.Marshal(e)
	if err != nil {
		return e
	}
	var out object
	if json.Unmarshal(raw, &out) != nil {
		return e
	}
	return out
}

// environment returns what the native gets.
func (s *cloudScene) environment(isOff bool, report func(integration.Remark)) (integration.Environment, error) {
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  generic:\n    deletes: "+
		"{max: 100, percent: 100, floor: 100}\n    settings: {hosts: [arm.example]}\n"))
	if err != nil {
		return integration.Environment{}, err
	}
	of, err := s.head.Open()
	return integration.Environment{
		Integration: generic.Name, Settings: rules.For(generic.Name), Query: of, State: state.ReadOnly(s.store), Now: s.time,
		Workers: 2, Report: report, Endpoint: s.reach(isOff),
		Secret: func(_ context.Context, ref integration.SecretRef) (string, error) {
			return "value of " + ref.Path + ref.Version, nil
		},
	}, err
}

// sender sends requests to the service.
type sender struct{ *armtest.Server }

// RoundTrip implements [http.RoundTripper].
func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+s.Token)
	return s.Transport().RoundTrip(r)
}

func (s *cloudScene) reach(isOff bool) func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return func(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
		if isOff {
			return nil, errors.New("nobody answers")
		}
		return sender{s.service}, nil
	}
}

// check implements [scene].
func (s *cloudScene) check(ctx context.Context, how way, report func(integration.Remark)) error {
	env, err := s.environment(how != asked, report)
	if err != nil {
		return err
	}
	if env.Base, err = s.base.Open(); err != nil {
		return err
	}
	if how == dataAlone {
		return tell(ctx, s.native, env)
	}
	return s.native.DryRun(ctx, env)
}

// settle implements [scene].
func (s *cloudScene) settle(ctx context.Context, isGood bool) error {
	if !isGood {
		return nil
	}
	var wrong error
	env, err := s.environment(false, func(r integration.Remark) {
		if r.Effect == nil && r.Unlooked == nil && r.Fails() {
			wrong = fmt.Errorf("a run of the data fails: %s %s", r.Code, r.Message)
		}
	})
	if err != nil {
		return err
	}
	s.base = s.head
	return errors.Join(s.native.Run(ctx, env, integration.Actors{State: s.store, Endpoint: s.reach(false)}), wrong)
}
