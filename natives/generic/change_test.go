package generic

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/plan"
)

// told returns the codes of findings with a severity that are not old, sorted by the order of
// the report.
func (s *scene) told(of plan.Severity) string {
	var out []string
	for _, f := range s.findings {
		if f.Severity == of && f.Effect == nil && !f.Old {
			out = append(out, string(f.Code))
		}
	}
	return strings.Join(out, " ")
}

// A dry run of a change has the findings of the data alone, with the place on the line, and what
// a run would do. It only reads.
func TestDryRunOfChange(t *testing.T) {
	s := newScene(t)
	s.must()
	base := s.Clone()
	for name, c := range map[string]struct {
		edit   func()
		errors string // codes
		effect string // kind and place
		want   string // in the log
	}{
		"nothing": {func() {}, "", "", "nothing to do"},
		"a tag": {func() { s.body(cache)["tags"] = object{"team": "x"} }, "", "change /cloud/cache.yml",
			`/tags/team: "shop" -> "x" (desired)`},
		"a region":  {func() { s.body(cache)["location"] = "eastus" }, "CREATE_ONLY CREATE_ONLY", "", "West US → eastus"},
		"respelled": {func() { s.body(cache)["location"] = "westus" }, "", "", "nothing to do"},
		"misspelt": {func() {
			s.body(cache)["properties"].(object)["skuu"] = 1
		}, "VAL_UNKNOWN", "change /cloud/cache.yml", "skuu"},
		"gone":    {func() { delete(s.Data, rule) }, "", "", "ORPHAN"},
		"deleted": {func() { s.Data[rule]["delete"] = true }, "", "delete /cloud/rule.yml", "the entry says delete"},
		"with a child": {func() { s.Data[cache]["delete"] = true }, "DELETE_WITH_CHILD", "delete /cloud/cache.yml",
			"from the data alone: it is blocked"},
	} {
		s.World = base.Clone()
		for _, file := range []string{cache, rule} {
			s.Data[file] = copyOf(base.Data[file]).(object)
		}
		c.edit()
		if err := s.check(base); err != nil && c.errors == "" {
			t.Errorf("%s: %v", name, err)
		}
		effect := ""
		for _, f := range s.findings {
			if f.Effect != nil {
				effect = string(f.Effect.Kind) + " " + f.File
			}
		}
		if got := s.told(plan.SeverityError); got != c.errors || effect != c.effect ||
			!strings.Contains(s.log.String(), c.want) {
			t.Errorf("%s: got the errors %q and the effect %q, want %q and %q\n%s", name, got, effect, c.errors, c.effect,
				&s.log)
		}
		if s.writes() != "" || len(s.asked) > 0 {
			t.Errorf("%s: it writes %s, and reads the secrets %v", name, s.writes(), s.asked)
		}
	}
}

func copyOf(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for k, item := range v {
			out[k] = copyOf(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyOf(item)
		}
		return out
	}
	return v
}

// Drift fails no change, and neither does an endpoint that cannot be reached.
func TestDriftIsNoFailure(t *testing.T) {
	s := newScene(t)
	s.must()
	s.service.Edit(cacheID, func(b map[string]any) { b["location"] = "northeurope" })
	base := s.Clone()
	for name, edit := range map[string]func(){
		"untouched": func() {},
		"touched": func() {
			s.Data[cache]["body"] = copyOf(s.Data[cache]["body"])
			s.body(cache)["tags"] = object{"team": "y"}
		},
	} {
		s.World = base.Clone()
		edit()
		if err := s.check(base); err != nil || s.failures() != "" && s.told(plan.SeverityError) != "" {
			t.Errorf("%s: %v, %s", name, err, s.failures())
		}
	}
	if err := s.run(); err == nil && s.failures() == "" {
		t.Error("a run says nothing of what it cannot mend")
	}
	s.World, s.service.Token = base.Clone(), "revoked"
	s.Data[cache]["body"] = copyOf(s.Data[cache]["body"])
	s.body(cache)["tags"] = object{"team": "z"}
	env := s.environment(base)
	env.Endpoint = nil
	if err := s.native.DryRun(t.Context(), env); err != nil || s.failures() != "" {
		t.Errorf("without credentials: %v, %s", err, s.failures())
	}
	if !strings.Contains(s.log.String(), "by the data alone") {
		t.Errorf("the report does not say what was not asked:\n%s", &s.log)
	}
}

// A host that the settings do not name is not asked.
func TestHosts(t *testing.T) {
	s := newScene(t)
	for settings, isAsked := range map[string]bool{"": false, "hosts: [other.example]": false,
		"hosts: ['*.example']": true, "hosts: ['*.arm.example']": false} {
		s.settings = settings
		err := s.check(nil)
		if got := len(s.service.Requests()) > 0; got != isAsked || err != nil {
			t.Errorf("%s: asked %t, want %t; %v", settings, got, isAsked, err)
		}
		if !isAsked && !strings.Contains(s.log.String(), "do not name the host arm.example") {
			t.Errorf("%s: the report does not say why:\n%s", settings, &s.log)
		}
	}
}

// A change that alters how an endpoint is reached sends nothing there before the merge. It says so
// once, however many resources fall out.
func TestNewEndpointIsNotAsked(t *testing.T) {
	for name, edit := range map[string]func(api object){
		"token":    func(api object) { api["token"] = object{"path": "other/secret", "field": "token"} },
		"endpoint": func(api object) { api["endpoint"] = "https://evil.arm.example" },
		"insecure": func(api object) { api["insecure"] = true },
	} {
		s := newScene(t)
		s.settings = "hosts: [arm.example, '*.arm.example']"
		base := s.Clone()
		edit(s.Data[cloudtest.API])
		if err := s.check(base); err != nil || len(s.service.Requests()) > 0 ||
			!strings.Contains(s.log.String(), "NEW_TARGET") {
			t.Errorf("%s: %v, requests %v\n%s", name, err, s.service.Requests(), &s.log)
		}
		var clear []string
		for _, f := range s.findings {
			if f.Severity == plan.SeverityWarning && strings.Contains(f.Message, "checks them by the data alone") {
				clear = append(clear, f.File+" "+f.Message)
			}
		}
		if len(clear) != 1 || !strings.HasPrefix(clear[0], cloudtest.API+" ") {
			t.Errorf("%s: the warnings are %q, want one about %s", name, clear, cloudtest.API)
		}
	}
}

// A change of the read actions is asked with those of base, and fails nothing that base has.
func TestReadActionsOfBase(t *testing.T) {
	s := newScene(t)
	s.must()
	s.Data[cloudtest.API]["readActions"] = []any{"listKeys"}
	// base is wrong already
	s.service.Edit(cacheID, func(b map[string]any) { b["tags"].(map[string]any)["qontract-caller"] = "other" })
	base := s.Clone()
	s.Data[cloudtest.API]["readActions"] = []any{"listKeys", "purge"}
	var asked []integration.EndpointRef
	env := s.environment(base)
	open := env.Endpoint
	env.Endpoint = func(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
		asked = append(asked, ref)
		return open(ctx, ref)
	}
	if err := s.native.DryRun(t.Context(), env); err != nil {
		t.Error(err)
	}
	if len(asked) != 1 || !slices.Equal(asked[0].Reads, []string{"listKeys"}) || len(s.service.Requests()) == 0 {
		t.Errorf("the endpoint is reached as %+v, with %d requests", asked, len(s.service.Requests()))
	}
	if got := s.told(plan.SeverityError); got != "" || strings.Contains(s.log.String(), "NEW_TARGET") ||
		!strings.Contains(s.log.String(), "OWNED_BY_OTHER") {
		t.Errorf("got the errors %q\n%s", got, &s.log)
	}
	if got := s.told(plan.SeverityNote); got != "RULES_CHANGED TRIED" {
		t.Errorf("got the notes %q\n%s", got, &s.log)
	}
}

// An edit of what the entry ignores is told on the line of the value, and changes nothing.
func TestIgnoredEditIsTold(t *testing.T) {
	s := newScene(t)
	s.Data[cache]["ignore"] = []any{"/tags/team"}
	s.must()
	base := s.Clone()
	s.Data[cache] = copyOf(s.Data[cache]).(object)
	s.body(cache)["tags"] = object{"team": "x"}
	if err := s.check(base); err != nil || s.told(plan.SeverityNote) != "IGNORED TRIED" ||
		!strings.Contains(s.log.String(), "nothing to do") {
		t.Errorf("%v\n%s", err, &s.log)
	}
	for _, f := range s.findings {
		if f.Code == "IGNORED" && (f.File != cache || f.Pointer != "/body/tags/team") {
			t.Errorf("it is told at %s%s", f.File, f.Pointer)
		}
	}
}

// A specification in YAML describes the same as in JSON, and an edit of it is seen.
func TestYAMLSpecification(t *testing.T) {
	s := newScene(t)
	s.must()
	base := s.Clone()
	var names []any
	for _, name := range s.Data[cloudtest.API]["specifications"].([]any) {
		other := strings.TrimSuffix(name.(string), ".json") + ".yaml"
		s.Resources[other] = "# a comment, which JSON has not\n" + s.Resources[name.(string)]
		names = append(names, other)
	}
	s.Data[cloudtest.API]["specifications"] = names
	s.service.Forget()
	s.must()
	if writes := s.service.Writes(); len(writes) > 0 {
		t.Errorf("the same specification in YAML leads to writes: %v", writes)
	}
	s.body(cache)["location"] = "eastus"
	if err := s.check(base); err != nil || !strings.Contains(s.told(plan.SeverityError), "CREATE_ONLY") {
		t.Errorf("got %v, %s", err, s.told(plan.SeverityError))
	}
	for _, name := range names {
		s.Resources[name.(string)] += "x: [\n"
	}
	if err := s.check(base); err != nil || !strings.Contains(s.told(plan.SeverityError), "SPEC_LOAD") {
		t.Errorf("a broken specification: got %v, %s", err, s.told(plan.SeverityError))
	}
}

// Without a state nobody is asked. A create-only change with allowReplace is a deletion then, and so is what
// base did not allow.
func TestReplacementByTheData(t *testing.T) {
	for name, c := range map[string]struct {
		allowedByBase, allowed bool
		edit                   func(s *scene)
		want                   plan.EffectKind
	}{
		"a region": {true, true, func(s *scene) { s.body(cache)["location"] = "eastus" }, plan.EffectDelete},
		"a tag": {true, true, func(s *scene) { s.body(cache)["tags"] = object{"team": "x"} },
			plan.EffectChange},
		"a tag, not allowed": {false, false, func(s *scene) { s.body(cache)["tags"] = object{"team": "x"} },
			plan.EffectChange},
		"a tag, allowed by head": {false, true, func(s *scene) { s.body(cache)["tags"] = object{"team": "x"} },
			plan.EffectDelete},
	} {
		s := newScene(t)
		s.Data[cache]["allowReplace"] = c.allowedByBase
		base := s.Clone()
		s.World = base.Clone()
		s.Data[cache] = copyOf(base.Data[cache]).(object)
		s.Data[cache]["allowReplace"] = c.allowed
		c.edit(s)
		env := s.environment(base)
		env.State = nil
		if err := s.native.DryRun(t.Context(), env); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []plan.EffectKind
		for _, f := range s.findings {
			if f.Effect != nil {
				got = append(got, f.Effect.Kind)
			}
		}
		if !slices.Equal(got, []plan.EffectKind{c.want}) {
			t.Errorf("%s: got %q, want %q\n%s", name, got, c.want, &s.log)
		}
	}
}

// The hosts of endpoints are told, and those that the settings name for nothing.
func TestUsesHosts(t *testing.T) {
	for settings, want := range map[string]string{
		"hosts: [arm.example, old.example]": `[{arm.example endpoints } {old.example  }]`,
		"hosts: ['*.example']":              `[{arm.example endpoints }]`,
		"":                                  `[{arm.example endpoints its resources are left out}]`,
	} {
		s := newScene(t)
		s.settings = settings
		env := s.environment(nil)
		user, ok := s.native.(integration.HostUser)
		if !ok {
			t.Fatal("it tells no hosts")
		}
		got, err := user.UsesHosts(t.Context(), env.Query, env.Settings)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, %v, want %s", settings, got, err, want)
		}
	}
}
