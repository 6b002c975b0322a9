package saas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/plan"
)

// A hashCase is a case of the area config_hash.
type hashCase struct {
	Input struct {
		StateContent json.RawMessage `json:"state_content"`
	}
	Expected struct{ Hash, Not string }
}

func TestConfigHashCases(t *testing.T) {
	shared.Each(t, "config_hash", func(t *testing.T, c hashCase) {
		content, err := pyjson.Read(string(c.Input.StateContent))
		if err != nil {
			t.Fatal(err)
		}
		got := ConfigHash(content)
		if got != c.Expected.Hash || got == c.Expected.Not {
			t.Errorf("got %s, want %s", got, c.Expected.Hash)
		}
	})
}

// A keyCase is a case of the area state_key.
type keyCase struct {
	Input struct {
		Type, Saas, RT, Cluster, Namespace, Env, Ref, Instance, Job string
		Channel, UID, Sha                                           string  // of a record, see package promotion
		TargetName                                                  *string `json:"target_name"`
		Image                                                       string
		Images                                                      []string
	}
	Expected struct{ Key, Object string }
}

func TestStateKeyCases(t *testing.T) {
	signals := map[string]Signal{"config": SignalConfig, "commit": SignalCommit, "moving commit": SignalCommit,
		"upstream": SignalUpstream, "upstream job": SignalUpstream, "image": SignalImages, "container image": SignalImages}
	shared.Each(t, "state_key", func(t *testing.T, c keyCase) {
		in := c.Input
		if in.Type == "promotion" {
			t.Skip("about a record of promotions; package promotion has it")
		}
		target := Target{Name: in.TargetName, Ref: in.Ref, Template: &Template{Name: in.RT, File: &File{Name: in.Saas}},
			Namespace: Namespace{Name: in.Namespace, Cluster: &Cluster{Name: in.Cluster},
				Environment: &Environment{Name: in.Env}}}
		if in.Job != "" {
			target.Upstream = &Upstream{Instance: in.Instance, Job: in.Job}
		}
		if in.Image != "" {
			in.Images = append(in.Images, in.Image)
		}
		for _, address := range in.Images {
			parts := append([]string{"", ""}, strings.SplitN(address, "/", 3)...)
			parts = parts[len(parts)-3:]
			target.Images = append(target.Images, Image{Registry: parts[0], Org: parts[1], Name: parts[2]})
		}
		words := strings.NewReplacer("-", " ", "_", " ").Replace(in.Type) // moving-commit, container_images
		signal, known := signals[strings.TrimSuffix(words, "s")]
		if !known {
			t.Fatalf("no signal for %q", in.Type)
		}
		got := target.StateKey(signal)
		if got != c.Expected.Key {
			t.Errorf("got %q, want %q", got, c.Expected.Key)
		}
		if c.Expected.Object != "" && signal.Folder()+"/"+got != c.Expected.Object {
			t.Errorf("got the object %q, want %q", signal.Folder()+"/"+got, c.Expected.Object)
		}
	})
}

// selectorWorld returns a world with the namespaces that the peer's tests choose from.
func selectorWorld(include, exclude []string) *saastest.World {
	w := saastest.New()
	for _, path := range []string{saastest.Stage, saastest.Production} {
		w.Data[path]["name"] = "other-" + w.Data[path]["name"].(string)
	}
	w.Data[saastest.StageEnv]["name"], w.Data[saastest.ProductionEnv]["name"] = "stage", "production"
	apps := map[string]string{"example": "", "app-interface": "", "app-interface-test-service": ""}
	for app := range apps {
		w.Data["/apps/"+app+".yml"] = object{"$schema": "/app-sre/app-1.yml", "name": app,
			"serviceOwners": []any{object{"name": "o", "email": "o@x"}}}
	}
	for _, cluster := range []string{"appint-ex-01", "app-interface-infra"} {
		of := w.Clone().Data[saastest.Cluster]
		of["name"] = cluster
		w.Data["/clusters/"+cluster+".yml"] = of
	}
	add := func(name, app, env, cluster string, skupper any) {
		n := object{"$schema": "/openshift/namespace-1.yml", "name": name, "app": saastest.Ref("/apps/" + app + ".yml"),
			"environment": saastest.Ref("/environments/" + env + ".yml"),
			"cluster":     saastest.Ref("/clusters/" + cluster + ".yml")}
		if skupper != nil {
			n["skupperSite"] = skupper
		}
		w.Data["/namespaces/"+name+".yml"] = n
	}
	add("example-01", "example", "production", "appint-ex-01", nil)
	add("example-02", "example", "stage", "appint-ex-01", nil)
	add("app-interface-integration", "app-interface", "production", "app-interface-infra", nil)
	add("app-interface-test-service-prod", "app-interface-test-service", "stage", "appint-ex-01", object{"delete": false})
	add("app-interface-test-service-pipelines", "app-interface-test-service", "production", "appint-ex-01", object{"x": 1})
	add("app-interface-test-service-stage", "app-interface-test-service", "stage", "appint-ex-01", object{"delete": true})
	of := w.Target(saastest.File, 0, 0)
	delete(of, "namespace")
	delete(of, "promotion")
	w.Target(saastest.File, 0, 1)["disable"] = true
	delete(w.Target(saastest.File, 0, 1), "promotion")
	selectors := object{"include": include}
	if exclude != nil {
		selectors["exclude"] = exclude
	}
	of["provider"], of["namespaceSelector"] = "dynamic", object{"jsonPathSelectors": selectors}
	return w
}

// A selectorCase is a case of the area namespace_selector.
type selectorCase struct {
	Input    struct{ Include, Exclude []string }
	Expected struct {
		Namespaces []string
		Error      any
	}
}

func TestNamespaceSelectorCases(t *testing.T) {
	shared.Each(t, "namespace_selector", func(t *testing.T, c selectorCase) {
		m := read(t, selectorWorld(c.Input.Include, c.Input.Exclude))
		if isBroken := m.Files[0].Broken != ""; isBroken != (c.Expected.Error != nil) {
			t.Fatalf("got the mistake %q, want %v", m.Files[0].Broken, c.Expected.Error)
		}
		var got []string
		for _, target := range m.Files[0].Templates[0].Targets {
			if target.Selected {
				got = append(got, target.Namespace.Name)
			}
		}
		slices.Sort(got)
		slices.Sort(c.Expected.Namespaces)
		if !slices.Equal(got, c.Expected.Namespaces) {
			t.Errorf("got %q, want %q", got, c.Expected.Namespaces)
		}
	})
}

// A validateCase is a case of the area saas_validate: what is unusual about a target.
type validateCase struct {
	Input struct {
		Auto, Upstream             bool
		Ref                        string
		Images, Subscribe, Publish []string
		PromotionData              []string `json:"promotion_data"`
		PublisherURL               string   `json:"publisher_url"`
		SubscriberURL              string   `json:"subscriber_url"`
		SoakDays                   any      `json:"soak_days"`
		Schedule                   any
		Parameters                 object
		Saas                       string    // the name of the file
		Envs                       []string  // the names of the environments of its targets
		Jobs                       *[]string // all jobs of the build server; the target waits for another one
	}
	Expected struct {
		Valid bool
	}
}

// world returns a world with the target of a case: it stands in place of the one of production.
func (c validateCase) world() *saastest.World {
	w := saastest.New()
	in, of := c.Input, w.Target(saastest.File, 0, 1)
	promotion := object{}
	if in.Ref != "" {
		of["ref"] = in.Ref
	}
	if in.Auto {
		promotion["auto"] = true
	}
	for _, channel := range append(slices.Clone(in.Subscribe), in.PromotionData...) {
		publish := w.Target(saastest.File, 0, 0)["promotion"].(object)
		publish["publish"] = append(publish["publish"].([]any), channel)
	}
	if in.Subscribe != nil {
		promotion["subscribe"] = in.Subscribe
	}
	if in.Publish != nil {
		promotion["publish"] = in.Publish
	}
	var data []any
	for _, channel := range in.PromotionData {
		data = append(data, object{"channel": channel})
	}
	if data != nil {
		promotion["promotion_data"] = data
	}
	if in.SoakDays != nil {
		promotion["soakDays"] = in.SoakDays
	}
	if in.Schedule != nil {
		promotion["schedule"] = in.Schedule
	}
	if in.Upstream {
		of["upstream"] = object{"instance": saastest.Ref(saastest.Jenkins), "name": "job"}
	}
	for _, name := range in.Images {
		images, _ := of["images"].([]any)
		of["images"] = append(images, object{"org": saastest.Ref(saastest.QuayOrg), "name": name})
	}
	if in.Parameters != nil {
		of["parameters"] = in.Parameters
	}
	of["promotion"] = promotion
	if in.Jobs != nil {
		withJobs(w, "other-build-main")
		list := []any{}
		for _, name := range *in.Jobs {
			list = append(list, object{"job": object{"name": name, "scm": []any{}}})
		}
		w.Data["/jobs/jobs.yml"]["config"] = list
	}
	if in.Saas != "" {
		w.Set(saastest.File, in.Saas, "name")
	}
	for i, name := range in.Envs {
		w.Set([]string{saastest.StageEnv, saastest.ProductionEnv}[i], name, "name")
	}
	if in.PublisherURL != "" {
		file := w.Clone().Data[saastest.File]
		templates := file["resourceTemplates"].([]any)
		file["name"], templates[0].(object)["url"] = "publisher", in.PublisherURL
		templates[0].(object)["targets"] = templates[0].(object)["targets"].([]any)[:1]
		w.Data["/publisher.yml"] = file
		w.Set(saastest.File, in.SubscriberURL, "resourceTemplates", 0, "url")
		w.Set(saastest.File, []any{of}, "resourceTemplates", 0, "targets")
		promotion["subscribe"] = []any{"shop-stage"}
		w.Set(saastest.App, []any{object{"name": "a", "resource": "upstream", "url": in.PublisherURL},
			object{"name": "b", "resource": "upstream", "url": in.SubscriberURL}}, "codeComponents")
	}
	return w
}

func TestSaasValidateCases(t *testing.T) {
	shared.Each(t, "saas_validate", func(t *testing.T, c validateCase) {
		w := c.world()
		m := read(t, w)
		if err := m.ReadJobs(t.Context(), w.Query(t)); err != nil {
			t.Fatal(err)
		}
		findings := Validate(m)
		isError := func(f plan.Finding) bool { return f.Severity == plan.SeverityError }
		if got := !slices.ContainsFunc(findings, isError); got != c.Expected.Valid {
			t.Errorf("got %v, want %v: %s", got, c.Expected.Valid, fmt.Sprint(lines(findings)))
		}
	})
}
