package generic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/plan"
)

const things = "/subscriptions/s/resourceGroups/g/providers/Acme.Out/things/"

// A givingScene is a scene with a service whose resources give values: what gives says is added to each answer.
type givingScene struct {
	*scene
	mu     sync.Mutex
	things map[string]object // by name
	gives  map[string]object // by name
	fails  []string          // names whose writes the service refuses
	asked  []string          // requests
	wrote  func(name string) // is told of each write, if it is not nil
	store  map[string]string // what was written to the store of secrets
}

// newGivingScene returns a scene whose type has the members that a schema describes.
func newGivingScene(t *testing.T, schema object) *givingScene {
	t.Helper()
	s := &givingScene{scene: newScene(t), things: map[string]object{}, gives: map[string]object{},
		store: map[string]string{}}
	s.World = cloudtest.New(endpoint)
	schema["properties"].(object)["tags"] = object{"type": "object", "additionalProperties": object{"type": "string"}}
	content := object{"content": object{"application/json": object{"schema": schema}}}
	info := object{"title": "things", "version": "1"}
	spec, err := json.Marshal(object{"openapi": "3.0.0", "info": info, "paths": object{
		"/subscriptions/{s}/resourceGroups/{g}/providers/Acme.Out/things/{name}": object{
			"get": object{"responses": object{"200": content}}, "put": object{"requestBody": content, "responses": object{}},
			"delete": object{"responses": object{}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Resources[cloudtest.Spec] = string(spec)
	s.settings = "hosts: [arm.example], outputs_below: [cloud/outputs]"
	s.reach = func(context.Context, integration.EndpointRef) (http.RoundTripper, error) { return send(s.answer), nil }
	return s
}

// answer plays the service.
func (s *givingScene) answer(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
	say := func(status int, v any) (*http.Response, error) {
		raw, err := json.Marshal(v)
		res.StatusCode, res.Body = status, io.NopCloser(strings.NewReader(string(raw)))
		return res, err
	}
	name, action, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, things), "/")
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+name+" "+action))
	is, isThere := s.things[name]
	switch {
	case r.Method == http.MethodPut && slices.Contains(s.fails, name):
		return say(http.StatusBadRequest, object{"error": object{"code": "No", "message": "it fails"}})
	case r.Method == http.MethodPut:
		is = object{}
		if err := json.NewDecoder(r.Body).Decode(&is); err != nil {
			return nil, err
		}
		if s.things[name] = is; s.wrote != nil {
			s.wrote(name)
		}
	case r.Method == http.MethodPost && action == "listKeys" && isThere:
		return say(http.StatusOK, object{"keys": []any{object{"value": "key-of-" + name}}})
	case !isThere:
		return say(http.StatusNotFound, object{"error": object{"code": "ResourceNotFound", "message": "no"}})
	}
	out, _ := body.Merge(map[string]any(maps.Clone(is)), map[string]any(s.gives[name])).(map[string]any)
	return say(http.StatusOK, out)
}

func (s *givingScene) thing(name string, entry object) {
	full := object{"type": "Acme.Out/things", "name": name, "parent": cloudtest.Group}
	maps.Copy(full, entry)
	s.Add("/cloud/"+name+".yml", full)
}

// run runs the native with a store of secrets.
func (s *givingScene) run() error {
	act := integration.Actors{State: s.state, Endpoint: s.reach,
		PutSecret: func(_ context.Context, ref integration.SecretRef, value string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.store[ref.Path+"/"+ref.Field] = value
			s.secrets[ref.Path+"/"+ref.Field] = value
			return nil
		}}
	s.asked = nil
	return s.native.Run(s.t.Context(), s.environment(nil), act)
}

// puts returns the names whose bodies were sent, in their order.
func (s *givingScene) puts() string {
	var out []string
	for _, r := range s.asked {
		if name, isPut := strings.CutPrefix(r, "PUT "); isPut {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// schemaOf returns the schema of values: what an output stands for can be anything.
func schemaOf(values ...any) object {
	out := object{}
	for _, v := range values {
		switch v := v.(type) {
		case map[string]any:
			if _, isOutput := v["$output"]; isOutput {
				continue
			}
			members, _ := out["properties"].(object)
			if members == nil {
				members = object{}
			}
			for name, item := range v {
				old, _ := members[name].(object)
				members[name] = mergeSchemas(old, schemaOf(item))
			}
			out["type"], out["properties"] = "object", members
		case []any:
			out["type"], out["items"] = "array", schemaOf(v...)
		case string:
			out["type"] = "string"
		}
	}
	return out
}

func mergeSchemas(a, b object) object {
	out, _ := body.Merge(map[string]any(a), map[string]any(b)).(map[string]any)
	return out
}

// Values of other resources are taken in the order of what gives them; a circle and a wrong place are told.
func TestOutputCases(t *testing.T) {
	type outputCase struct {
		Input struct {
			Resources map[string]struct {
				Body, Live, Applied map[string]any
				Outputs             []struct {
					At string
					To struct{ Path, Field string }
				}
			}
			Fails   []string
			Offline bool
			Places  []string
		}
		Expected struct {
			Order    [][]string
			Body     map[string]any
			Error    string
			Members  []string
			Waits    []string
			Findings []string
			Stores   map[string]string
		}
	}
	shared.Each(t, "outputs", func(t *testing.T, c outputCase) {
		var all []any
		for _, r := range c.Input.Resources {
			all = append(all, r.Body, r.Live, r.Applied)
		}
		for _, place := range c.Input.Places {
			v, err := body.Set(nil, place, "x")
			if err != nil {
				t.Fatal(err)
			}
			all = []any{v}
			for _, place := range c.Input.Places {
				if v, err = body.Set(v, place, "x"); err != nil {
					t.Fatal(err)
				}
				all[0] = v
			}
		}
		schema := schemaOf(all...)
		if schema["properties"] == nil {
			schema = object{"type": "object", "properties": object{}}
		}
		s := newGivingScene(t, schema)
		s.fails = c.Input.Fails
		for name, r := range c.Input.Resources {
			entry := object{"body": withFiles(r.Body)}
			if r.Live != nil {
				s.things[name], entry["adopt"] = r.Live, "if-exists"
			}
			var outputs []any
			for _, out := range r.Outputs {
				outputs = append(outputs, object{"at": out.At,
					"to": object{"path": "cloud/outputs/" + out.To.Path, "field": out.To.Field}})
			}
			if outputs != nil {
				entry["outputs"] = outputs
			}
			s.thing(name, entry)
		}
		if c.Input.Offline {
			base := s.Clone()
			for name := range c.Input.Resources {
				delete(base.Data, "/cloud/"+name+".yml")
			}
			_ = s.check(base) // what it finds is told
		} else {
			_ = s.run() // what is wrong is told
		}
		s.compareOutputs(c.Expected.Error, c.Expected.Members, c.Expected.Findings)
		if want := c.Expected.Order; want != nil && !reflect.DeepEqual(s.waves(), want) {
			t.Errorf("got the order %v, want %v", s.waves(), want)
		}
		for name, want := range c.Expected.Body {
			got := maps.Clone(s.things[name])
			if delete(got, "tags"); !reflect.DeepEqual(map[string]any(got), want) {
				t.Errorf("%s: got %v, want %v\n%s", name, got, want, &s.log)
			}
		}
		for _, name := range c.Expected.Waits {
			if _, isThere := s.things[name]; isThere {
				t.Errorf("%s does not wait: %v", name, s.things[name])
			}
		}
		for place, want := range c.Expected.Stores {
			if got := s.store["cloud/outputs/"+place]; got != want {
				t.Errorf("the store has %q at %s", got, place)
			}
		}
	})
}

// codes are the codes of the cases.
var codes = map[plan.FindingCode]string{"DEPENDENCY_CYCLE": "CIRCLE"}

// compareOutputs compares what is told: an error with the entries that it is about, and the codes of findings.
func (s *givingScene) compareOutputs(problem string, members, findings []string) {
	s.t.Helper()
	var got, about []string
	for _, f := range s.findings {
		code := string(f.Code)
		if word, has := codes[f.Code]; has {
			code = word
		}
		if got = append(got, code); code == problem {
			about = append(about, strings.TrimSuffix(strings.TrimPrefix(f.File, "/cloud/"), ".yml"))
		}
	}
	slices.Sort(about)
	if problem != "" && !slices.Equal(about, members) {
		s.t.Errorf("got %s about %v, want %v\n%s", problem, about, members, &s.log)
	}
	for _, want := range findings {
		if !slices.Contains(got, want) {
			s.t.Errorf("got the findings %v, want %s", got, want)
		}
	}
}

// withFiles returns a body whose outputs name datafiles.
func withFiles(v map[string]any) any {
	raw, err := json.Marshal(v)
	if v == nil || err != nil {
		return object{}
	}
	var out any
	_ = json.Unmarshal(raw, &out) // it was written just now
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if says, isOutput := v["$output"].(map[string]any); isOutput {
				says["of"] = fmt.Sprintf("/cloud/%v.yml", says["of"])
				return
			}
			for _, item := range v {
				walk(item)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(out)
	return out
}

// waves returns the names of the entries in the order in which they are worked on.
func (s *givingScene) waves() (out [][]string) {
	m, err := (&cloud.Reader{}).Read(s.t.Context(), s.Query(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	done := map[string]bool{}
	for len(done) < len(m.Resources) {
		var wave []string
		for _, r := range m.Resources {
			isReady := !done[string(r.Key)]
			for _, k := range r.Needs {
				isReady = isReady && done[string(k)]
			}
			if isReady {
				wave = append(wave, r.Name)
			}
		}
		if len(wave) == 0 {
			return nil
		}
		for _, r := range m.Resources {
			if slices.Contains(wave, r.Name) {
				done[string(r.Key)] = true
			}
		}
		out = append(out, wave)
	}
	return out
}

// thingSchema is that of things with a value that they take, one that they give, and a secret that they give.
func thingSchema() object {
	text := object{"type": "string"}
	return object{"type": "object", "properties": object{"peer": text, "size": text,
		"peers":       object{"type": "array", "items": text},
		"principalId": object{"type": "string", "readOnly": true}, "adminPassword": object{"type": "string"}}}
}

func output(name, at string) object {
	return object{"$output": object{"of": "/cloud/" + name + ".yml", "at": at}}
}

// A value reaches its users in the run that makes it, also when it changes; then all is quiet.
func TestOutputs(t *testing.T) {
	s := newGivingScene(t, thingSchema())
	s.gives["a"] = object{"principalId": "p1"}
	s.thing("a", object{"body": object{"size": "1"}})
	s.thing("b", object{"body": object{"peer": output("a", "/principalId"),
		"peers": []any{"fixed", output("a", "/principalId")}}})
	step := func(puts, peer string) {
		t.Helper()
		if err := s.run(); err != nil || s.failures() != "" {
			t.Fatalf("%v\n%s\n%s", err, s.failures(), &s.log)
		}
		if b := s.things["b"]; s.puts() != puts || b["peer"] != peer || fmt.Sprint(b["peers"]) != "[fixed "+peer+"]" {
			t.Errorf("it puts %q, want %q; b is %v\n%s", s.puts(), puts, b, &s.log)
		}
	}
	step("a b", "p1")
	step("", "p1")
	s.gives["a"] = object{"principalId": "p2"}
	step("b", "p2")
	s.body("/cloud/a.yml")["size"] = "2"
	step("a", "p2") // it could have changed the value, and did not
	step("", "p2")
	s.wrote = func(name string) {
		if name == "a" {
			s.gives["a"] = object{"principalId": "p3"}
		}
	}
	s.body("/cloud/a.yml")["size"] = "3"
	step("a b", "p3")
	step("", "p3")
}

// What a resource needs of another one that is not there, it waits for; others go on.
func TestOutputsWait(t *testing.T) {
	s := newGivingScene(t, thingSchema())
	s.fails = []string{"a"}
	s.thing("a", object{"body": object{"size": "1"}})
	s.thing("b", object{"body": object{"peer": output("a", "/principalId")}})
	s.thing("c", object{"body": object{"size": "1"}})
	_ = s.run() // a is refused
	if s.puts() != "a c" && s.puts() != "c a" || s.things["b"] != nil {
		t.Errorf("it puts %q, and b is %v", s.puts(), s.things["b"])
	}
	s.fails = nil
	if err := s.run(); err == nil || !strings.Contains(err.Error(), "it waits for") || s.things["b"] != nil {
		t.Errorf("got %v, and b is %v", err, s.things["b"])
	}
	s.gives["a"] = object{"principalId": "p"}
	if err := s.run(); err != nil || s.things["b"]["peer"] != "p" {
		t.Errorf("got %v, and b is %v", err, s.things["b"])
	}
}

// A value goes into the store of secrets if it has another one, and a secret is neither in the state nor in what is
// told.
func TestOutputsIntoStore(t *testing.T) {
	s := newGivingScene(t, thingSchema())
	const secret = "generated-secret-of-a"
	s.gives["a"] = object{"principalId": "p1", "adminPassword": secret}
	s.thing("a", object{"body": object{"size": "1"},
		"outputs": []any{object{"at": "/adminPassword", "to": object{"path": "cloud/outputs/a", "field": "password"}}}})
	s.thing("b", object{"body": object{"peer": output("a", "/adminPassword")}})
	must := func(puts, stored string) {
		t.Helper()
		s.store = map[string]string{}
		if err := s.run(); err != nil || s.failures() != "" {
			t.Fatalf("%v\n%s\n%s", err, s.failures(), &s.log)
		}
		if got := fmt.Sprint(s.store); got != stored || s.puts() != puts {
			t.Errorf("it stores %s and puts %q, want %s and %q", got, s.puts(), stored, puts)
		}
		all, err := s.state.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		told := s.log.String() + fmt.Sprint(s.findings, s.deeds)
		for _, e := range all {
			raw, err := s.state.Read(t.Context(), e.Key)
			if err != nil {
				t.Fatal(err)
			}
			told += string(raw)
		}
		if strings.Contains(told, secret) {
			t.Errorf("the secret is told or in the state: %s", told)
		}
	}
	must("a b", "map[cloud/outputs/a/password:"+secret+"]")
	must("", "map[]")
	s.secrets["cloud/outputs/a/password"] = "another one"
	must("", "map[cloud/outputs/a/password:"+secret+"]")
	must("", "map[]")
	s.body("/cloud/a.yml")["size"] = "2"
	must("a", "map[]") // another reason to write is none for the store
	s.settings = "hosts: [arm.example], outputs_below: [cloud/out, cloud/output, cloud/outputs/a/, '']"
	_ = s.run() // it is told
	if got := s.failures(); !strings.HasPrefix(got, "OUTPUT_STORE /cloud/a.yml") {
		t.Errorf("got %s", got)
	}
}

// What no GET answers comes by a declared action that only reads.
func TestOutputsOfActions(t *testing.T) {
	s := newGivingScene(t, thingSchema())
	s.Data[cloudtest.API]["readActions"] = []any{"listKeys"}
	s.thing("a", object{"body": object{"size": "1"}})
	s.thing("b", object{"body": object{"peer": object{"$output": object{"of": "/cloud/a.yml", "at": "/keys/0/value",
		"by": "listKeys"}}}})
	if err := s.run(); err != nil || s.things["b"]["peer"] != "key-of-a" {
		t.Errorf("got %v, b is %v", err, s.things["b"])
	}
	if err := s.run(); err != nil || s.puts() != "" {
		t.Errorf("got %v, and it puts %q\n%s", err, s.puts(), &s.log)
	}
}

// Before the merge a value is unknown: it is told, nothing is wrong with it, and nobody is asked for it elsewhere.
func TestOutputsBeforeMerge(t *testing.T) {
	for name, c := range map[string]struct {
		entry object
		want  string
	}{
		"good": {object{"body": object{"peer": output("a", "/principalId")}}, "note OUTPUT /cloud/b.yml/body/peer"},
		"no such place": {object{"body": object{"peer": output("a", "/principal")}},
			"error OUTPUT_PLACE /cloud/b.yml/body/peer"},
		"no such entry": {object{"body": object{"peer": output("z", "/principalId")}},
			"error VAL_REQUIRED /cloud/b.yml/body/peer"},
		"another word": {object{"body": object{"peer": object{"$output": object{"from": "x"}}}},
			"error VAL_TYPE /cloud/b.yml/body/peer"},
		"itself": {object{"body": object{"peer": output("b", "/principalId")}},
			"error DEPENDENCY_CYCLE /cloud/b.yml/body/peer"},
		"an action that nobody declares": {object{"body": object{"peer": object{"$output": object{"of": "/cloud/a.yml",
			"at": "/keys", "by": "listKeys"}}}}, "error OUTPUT_PLACE /cloud/b.yml/body/peer"},
		"stored from nowhere": {object{"outputs": []any{object{"at": "/nothing",
			"to": object{"path": "cloud/outputs/b", "field": "x"}}}}, "error OUTPUT_PLACE /cloud/b.yml/outputs/0/at"},
	} {
		s := newGivingScene(t, thingSchema())
		s.thing("a", object{"body": object{"size": "1"}})
		base := s.Clone()
		s.thing("b", c.entry)
		_ = s.check(base) // what it finds is told
		var got []string
		for _, f := range s.findings {
			if f.Effect == nil && strings.HasPrefix(f.File, "/cloud/b") {
				got = append(got, fmt.Sprintf("%s %s %s%s", f.Severity, f.Code, f.File, f.Pointer))
			}
		}
		if !slices.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if name == "good" && strings.Contains(s.failures(), "b.yml") {
			t.Errorf("got %s", s.failures())
		}
		for _, r := range s.asked {
			if !strings.HasPrefix(r, "GET ") {
				t.Errorf("%s: %s", name, r)
			}
		}
	}
}

// An id that the service gives is taken of a plain resource by a reference, which is an edge of the order.
func TestReferenceToSought(t *testing.T) {
	s := newPlainScene(t, "kanban", kanban()...)
	s.withBoard()
	s.Data["/cloud/robot.yml"]["body"] = object{"speed": object{"$ref": board}}
	s.done("POST /v1/boards, POST /v1/boards/1/cards, POST /v1/teams/red/robots")
	if got := fmt.Sprint(s.api.Items("/v1/teams/red/robots")[0]["speed"]); got != "1" {
		t.Errorf("got %s", got)
	}
	s.done("")
}

// A value goes into a Secret of Kubernetes, which is a resource of another API: it is read through its own endpoint
// after the merge, and not before.
func TestOutputsOfAnotherAPI(t *testing.T) {
	s := newGivingScene(t, thingSchema())
	s.gives["a"] = object{"principalId": "p1"}
	s.thing("a", object{"body": object{"size": "1"}})
	const other = "https://other.example"
	s.settings = "hosts: [arm.example, other.example]"
	api := maps.Clone(s.Data[cloudtest.API])
	api["name"], api["endpoint"] = "other", other
	s.Data["/cloud/other.yml"] = api
	inner := s.reach
	var endpoints []string
	s.reach = func(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
		s.mu.Lock()
		endpoints = append(endpoints, ref.URL)
		s.mu.Unlock()
		return inner(ctx, ref)
	}
	base := s.Clone()
	s.thing("b", object{"api": object{"$ref": "/cloud/other.yml"}, "body": object{"peer": output("a", "/principalId")}})
	_ = s.check(base) // what it finds is told
	if got := s.failures(); strings.Contains(got, "b.yml") || slices.Contains(s.asked, "POST") {
		t.Errorf("before the merge: %s", got)
	}
	for range 2 { // nothing orders two endpoints
		_ = s.run()
	}
	if s.things["b"]["peer"] != "p1" || !slices.Contains(endpoints, endpoint) || !slices.Contains(endpoints, other) {
		t.Errorf("b is %v, over %v\n%s", s.things["b"], endpoints, &s.log)
	}
	if err := s.run(); err != nil || s.puts() != "" {
		t.Errorf("got %v, and it puts %q", err, s.puts())
	}
}
