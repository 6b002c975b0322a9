package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

// Files of the example, and the id of a resource of it.
const (
	apiFile   = "/cloud/api.yml"
	cacheFile = "/cloud/cache.yml"
	webFile   = "/cloud/machines.yml"
	shopGroup = "/subscriptions/s1/resourceGroups/shop"
	cacheID   = shopGroup + "/providers/Example.Cache/caches/sessions"
)

// Hosts of the services of generic: that of base, and one that head names.
const (
	armHost  = "arm.example"
	evilHost = "evil.example.net"
)

var genericKind = kind{
	name: "generic", most: 6, start: startGeneric,
	services: func(*scene, *wire) natives.Services { return natives.Services{} },
	edits:    genericEdits,
}

// startGeneric returns the scene of the example of a cloud.
func startGeneric(ctx context.Context) (func() *scene, error) {
	w, err := example(ctx, "cloud")
	if err != nil {
		return nil, err
	}
	w.at(apiFile)["endpoint"] = "https://" + armHost
	return func() *scene {
		s := newScene("generic", w)
		s.own = object{"hosts": []any{armHost}}
		token := variable("cloud/example", "token")
		s.give(armHost, token)
		s.hosts[armHost] = func(value func(string) string) http.Handler {
			service, err := armtest.Example()
			if err != nil {
				panic(err) // the specifications are constants
			}
			service.Token = value(token)
			s.service = service
			return service
		}
		return s
	}, nil
}

// impatient returns natives of which the one of APIs asks again without a pause.
func impatient(list []integration.Native) []integration.Native {
	for i, n := range list {
		if n.Name() == generic.Name {
			list[i] = generic.With(generic.Options{Clock: operation.Clock{
				Sleep: func(context.Context, time.Duration) error { return nil }}})
		}
	}
	return list
}

// tokenOfHead returns the variable of the token that head names.
func (s *scene) tokenOfHead() string {
	at := s.head.at(apiFile, "token")
	return variable(at["path"].(string), at["field"].(string))
}

// secretsOf returns the secrets of a resource, to be changed.
func secretsOf(w *world, file string) []any {
	list, _ := w.Data[file]["secrets"].([]any)
	return list
}

// addSecret adds a secret to a resource of one or both sides.
func addSecret(s *scene, r *rand.Rand, file, at string) {
	sides := []*world{s.head}
	if r.IntN(2) == 0 {
		sides = s.both()
	}
	of := secret("cloud/"+word(r), "value")
	if r.IntN(4) == 0 {
		of["version"] = 1 + r.IntN(3)
	}
	for _, w := range sides {
		if f := w.Data[file]; f != nil {
			f["secrets"] = append(secretsOf(w, file), object{"at": at, "secret": of})
		}
	}
}

// word returns one of some words.
func word(r *rand.Rand) string {
	return []string{"a", "b", "c", "d", "e", "f"}[r.IntN(6)]
}

// pick returns one of some values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// drop removes a datafile of head.
func drop(file string) func(*scene, *rand.Rand) {
	return func(s *scene, _ *rand.Rand) { delete(s.head.Data, file) }
}

// sayNothingIsSecret lets the specification of machines have a secret whose name does not say so. Head edits the
// specification, or has an API of its own with another one, so that nothing is a secret, and its entry has a guess.
func sayNothingIsSecret(s *scene, isOwn bool) {
	const file, own, before = "/cloud/compute.json", "/cloud/own.json", `"overprovision": {`
	of := copyOf(s.base.Resources[file]).(object)
	of["content"] = strings.Replace(of["content"].(string), before,
		`"route": {"type": "string", "x-ms-secret": true}, `+before, 1)
	s.base.Resources[file], s.head.Resources[file] = of, of
	spec := copyOf(of).(object)
	spec["content"] = strings.ReplaceAll(spec["content"].(string), `"x-ms-secret": true`, `"x-ms-secret": false`)
	f := s.head.Data[webFile]
	delete(f, "secrets")
	s.head.at(webFile, "body", "properties")["route"] = "guess"
	if !isOwn {
		s.head.Resources[file] = spec
		return
	}
	api := copyOf(s.head.Data[apiFile]).(object)
	api["name"], api["specifications"], spec["path"] = "own", []any{own}, own
	s.head.Data["/cloud/own.yml"], s.head.Resources[own] = api, spec
	f["api"] = ref("/cloud/own.yml")
}

// answerSecret lets the service answer secrets of a machine.
func answerSecret(s *scene, r *rand.Rand) {
	s.isApplied = true
	made, name, password := s.hosts[armHost], variable("cloud/"+word(r), "live"), ""
	s.hosts[armHost] = func(value func(string) string) http.Handler {
		password = value(name)
		return made(value)
	}
	s.after = append(s.after, func() {
		s.service.Edit(shopGroup+"/providers/Example.Compute/scaleSets/web", func(body map[string]any) {
			properties, _ := body["properties"].(map[string]any)
			properties["adminPassword"], properties["route"] = password, password
		})
	})
}

// genericEdits are the ways in which merge requests of generic differ.
var genericEdits = []edit{
	{"it is a loop after the merge", func(s *scene, _ *rand.Rand) { s.isLoop = true }},
	{"a property", func(s *scene, r *rand.Rand) {
		s.head.at(cacheFile, "body", "properties", "sku")["capacity"] = 2 + r.IntN(3)
	}},
	{"a label", func(s *scene, r *rand.Rand) { s.head.at(cacheFile, "body", "tags")["team"] = word(r) }},
	{"a wrong value", func(s *scene, _ *rand.Rand) {
		s.head.at(cacheFile, "body", "properties", "sku")["capacity"] = "many"
	}},
	{"a secret of another path", func(s *scene, r *rand.Rand) {
		s.head.at(webFile, "secrets", 0)["secret"] = secret("cloud/"+word(r), "password")
	}},
	{"a secret with a version", func(s *scene, r *rand.Rand) {
		s.head.at(webFile, "secrets", 0, "secret")["version"] = 1 + r.IntN(3)
	}},
	{"the token as a secret of a body", func(s *scene, _ *rand.Rand) {
		s.head.at(webFile, "secrets", 0)["secret"] = secret("cloud/example", "token")
	}},
	{"a secret in a label", func(s *scene, r *rand.Rand) { addSecret(s, r, cacheFile, "/tags/team") }},
	{"a secret in a new label", func(s *scene, r *rand.Rand) { addSecret(s, r, webFile, "/tags/key") }},
	{"a secret as a number", func(s *scene, r *rand.Rand) { addSecret(s, r, cacheFile, "/properties/sku/capacity") }},
	{"a secret as a word of a list", func(s *scene, r *rand.Rand) {
		addSecret(s, r, cacheFile, pick(r, "/properties/sku/name", "/location"))
	}},
	{"a secret in a list", func(s *scene, r *rand.Rand) { addSecret(s, r, webFile, "/zones/0") }},
	{"a secret where nothing is", func(s *scene, r *rand.Rand) { addSecret(s, r, webFile, "/properties/nothing/here") }},
	{"a secret in an address", func(s *scene, r *rand.Rand) { addSecret(s, r, "/cloud/rule.yml", "/properties/startIP") }},
	{"a new resource with a secret", func(s *scene, r *rand.Rand) {
		f := copyOf(s.head.Data[cacheFile]).(object)
		f["name"] = "carts"
		f["secrets"] = []any{object{"at": "/properties/adminPassword", "secret": secret("cloud/"+word(r), "password")}}
		s.head.Data["/cloud/carts.yml"] = f
	}},
	{"a secret in the data", func(s *scene, _ *rand.Rand) {
		s.head.at(cacheFile, "body", "properties")["adminPassword"] = "a-password-in-the-data"
		delete(s.head.Data[cacheFile], "secrets")
	}},
	{"a secret of a label becomes a word of the data", func(s *scene, r *rand.Rand) {
		s.isApplied = true
		of := secret("cloud/"+word(r), "value")
		for _, w := range s.both() {
			w.Data[cacheFile]["secrets"] = append(secretsOf(w, cacheFile), object{"at": "/tags/zone", "secret": of})
		}
		if f := s.head.Data[cacheFile]; f != nil {
			delete(f, "secrets")
			s.head.at(cacheFile, "body", "tags")["zone"] = "guess"
		}
	}},
	{"a specification says that nothing is secret", func(s *scene, r *rand.Rand) {
		sayNothingIsSecret(s, r.IntN(2) == 0)
	}},
	{"the service answers a secret", answerSecret},
	{"a resource is deleted", func(s *scene, r *rand.Rand) {
		s.head.Data[pick(r, webFile, "/cloud/rule.yml", "/cloud/files.yml")]["delete"] = true
	}},
	{"a resource with a secret is deleted", func(s *scene, _ *rand.Rand) { s.head.Data[webFile]["delete"] = true }},
	{"a resource is removed", drop(webFile)},
	{"a file is removed", drop("/cloud/rule.yml")},
	{"another token", func(s *scene, r *rand.Rand) {
		path := "cloud/" + word(r)
		s.head.Data[apiFile]["token"] = secret(path, "token")
		s.giveMerged(armHost, variable(path, "token"))
	}},
	{"another endpoint", func(s *scene, r *rand.Rand) {
		s.head.Data[apiFile]["endpoint"] = pick(r, "https://"+evilHost, "https://"+armHost+":8443",
			"https://"+armHost+"/other")
		s.giveMerged(armHost+":8443", variable("cloud/example", "token"), s.tokenOfHead())
		s.giveMerged(evilHost, variable("cloud/example", "token"), s.tokenOfHead())
	}},
	{"a new API of another host", func(s *scene, _ *rand.Rand) {
		f := copyOf(s.head.Data[apiFile]).(object)
		f["name"], f["endpoint"] = "evil", "https://"+evilHost
		s.head.Data["/cloud/evil.yml"] = f
		of := copyOf(s.head.Data[cacheFile]).(object)
		of["api"], of["name"] = ref("/cloud/evil.yml"), "stolen"
		s.head.Data["/cloud/stolen.yml"] = of
	}},
	{"no host is named", func(s *scene, _ *rand.Rand) { s.own["hosts"] = []any{} }},
	{"it was applied", func(s *scene, _ *rand.Rand) { s.isApplied = true }},
	{"it was applied and somebody changed it", func(s *scene, r *rand.Rand) {
		s.isApplied = true
		id := pick(r, cacheID, shopGroup+"/providers/Example.Compute/scaleSets/web")
		s.after = append(s.after, func() {
			s.service.Edit(id, func(body map[string]any) { body["tags"] = object{"team": "other"} })
		})
	}},
	{"the service refuses", func(s *scene, r *rand.Rand) {
		part, status := pick(r, "/caches/", "/scaleSets/", "/"), pick(r, http.StatusForbidden, http.StatusBadRequest,
			http.StatusUnauthorized)
		s.after = append(s.after, func() {
			s.service.Fail(func(q armtest.Request) *armtest.Fault {
				if !strings.Contains(q.Path, part) {
					return nil
				}
				return &armtest.Fault{Status: status, Code: "Refused"}
			})
		})
	}},
	{"the service is away once", func(s *scene, _ *rand.Rand) { s.away[armHost] = "" }},
	{"a secret is not there", func(s *scene, _ *rand.Rand) { s.absent = true }},
	{"a secret is a word of the data", func(s *scene, _ *rand.Rand) {
		s.words = []string{"sessions", "web", "westus", "shop", "create", "office"}
	}},
}
