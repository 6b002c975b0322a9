package deploy

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// Several runs of one cell at once, from processes with their own memory of what is there: nothing
// goes that the data name, each object is there once, and the next run is quiet.
func TestRunsAtOnce(t *testing.T) {
	s := newScene(t)
	want := map[string]string{"s-0": "80", "s-1": "81", "s-2": "82"}
	s.push("/openshift/template.yml", templateOf(map[string]string{"s-0": "80", "s-1": "81"}))
	s.mustRun(t, "shop/stage")
	s.push("/openshift/template.yml", templateOf(want))
	s.cluster.Forget()
	env, act := s.env(t, "shop/stage", nil), s.actors()
	errs := make([]error, 4)
	var together sync.WaitGroup
	for i := range errs {
		together.Go(func() { errs[i] = s.native().Run(t.Context(), env, act) })
	}
	together.Wait()
	if !slices.ContainsFunc(errs, func(err error) bool { return err == nil }) {
		t.Errorf("no run succeeded: %v", errors.Join(errs...))
	}
	if got := s.services(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	made := map[string]int{}
	for _, w := range s.cluster.Writes() {
		if w.Verb == "delete" {
			t.Errorf("a run deleted %s", w.Path)
		}
		if w.Verb == "create" && w.Code < http.StatusMultipleChoices {
			made[w.Path]++
		}
	}
	if n := made["/api/v1/namespaces/shop-stage/services"]; n > 1 {
		t.Errorf("the new Service was made %d times", n)
	}
	if writes := s.mustRun(t, "shop/stage"); len(writes) > 0 {
		t.Errorf("a quiet run wrote %q", writes)
	}
}

// Templates that grow without end, or are larger than any template, are refused in good time, and
// what is there stays.
func TestTemplateBombs(t *testing.T) {
	anchors := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		anchors += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10),
			", "))
	}
	const head = "apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n"
	object := func(i int) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Service, metadata: {name: s-%d}}\n", i)
	}
	many := head
	for i := range 2500 {
		many += object(i)
	}
	uses := strings.Repeat("${B}", 4000)
	for name, text := range map[string]string{
		"names for other parts": head + object(1) + anchors,
		"depth": head + "- {apiVersion: v1, kind: Service, metadata: {name: a}, spec: " +
			strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}\n",
		"many objects": many,
		"bytes":        head + object(1) + "# " + strings.Repeat("x", 9<<20) + "\n",
		"parameters": head + "- {apiVersion: v1, kind: Service, metadata: {name: a, annotations: {x: '" +
			strings.Repeat("${A}", 4000) + "'}}}\nparameters: [{name: A, value: '" + uses + "'}, {name: B, value: x}]\n",
		"no text":     "\x00\x01\xff",
		"no template": "[]",
		"a circle":    "&a [*a]\n",
	} {
		s := newScene(t)
		s.mustRun(t, "shop/stage")
		before := s.cluster.Paths()
		s.Data[saastest.StageEnv]["parameters"] = map[string]any{"B": strings.Repeat("y", 10_000)}
		s.push("/openshift/template.yml", text)
		start := time.Now()
		writes, err := s.run(t, "shop/stage")
		if name == "parameters" && !s.fails(err) { // a parameter of the template is filled in once
			t.Errorf("%s: nothing is told", name)
		}
		if !s.fails(err) || len(writes) > 0 || !slices.Equal(before, s.cluster.Paths()) {
			t.Errorf("%s: got %v, %.300q, %.300s", name, err, writes, strings.Join(s.said, "\n"))
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		for _, line := range append(s.said, fmt.Sprint(err)) {
			if len(line) > 4000 || strings.ContainsAny(line, "\x00\x1b") {
				t.Errorf("%s: a finding has %d bytes: %.100q", name, len(line), line)
			}
		}
	}
}

// Names of objects, kinds and places that are meant to lead elsewhere lead nowhere: no request leaves
// the namespace of the target, and nothing that is shown has control characters.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{"../../../kube-system/secrets/token", "..", "a/b", "a%2fb", "a?dryRun=All", "a#b",
		"\x1b[2Jgone", "A_B", strings.Repeat("n", 5000), "a\nb", "https://evil.example.com", "ü"} {
		for _, text := range []string{
			"- {apiVersion: v1, kind: Service, metadata: {name: %s}}\n",
			"- {apiVersion: v1, kind: %s, metadata: {name: x}}\n",
			"- {apiVersion: %s, kind: Service, metadata: {name: x}}\n",
			"- {apiVersion: v1, kind: Service, metadata: {name: x, namespace: '${N}'}}\n#%s\nparameters: [{name: N, value: %[1]s}]\n",
		} {
			s := newScene(t)
			s.Set(saastest.File, []any{"Service", name}, "managedResourceTypes")
			s.push("/openshift/template.yml", "apiVersion: template.openshift.io/v1\nkind: Template\nobjects:\n"+
				fmt.Sprintf(text, fmt.Sprintf("%q", name)))
			_, err := s.run(t, "shop/stage")
			if !s.fails(err) && name != "A_B" {
				t.Errorf("%.40q in %q: nothing is told", name, text)
			}
			for _, r := range s.cluster.Requests() {
				isOurs := strings.HasPrefix(r.Path, "/api/v1/namespaces/shop-stage") ||
					strings.HasPrefix(r.Path, "/apis/apps/v1/namespaces/shop-stage/") ||
					strings.Trim(r.Path, "/") == "api" || strings.Trim(r.Path, "/") == "apis" ||
					strings.Count(r.Path, "/") <= 3 && r.Verb != "create"
				if !isOurs || r.Verb == "create" && r.Path != "/api/v1/namespaces/shop-stage/services" {
					t.Errorf("%.40q in %q: the request %s", name, text, r)
				}
			}
			for _, line := range append(s.said, s.log.String()) {
				if strings.ContainsAny(line, "\x1b\x00") {
					t.Errorf("%.40q in %q: it shows %.200q", name, text, line)
				}
			}
		}
	}
}

// Documents of the state and records that are damaged, or of a newer version, are never taken for
// what they are not: a gate stays closed, and no object goes.
func TestDamagedDocuments(t *testing.T) {
	for _, damage := range []string{"", "{", "null", `{"version": 999}`, "\x00\xff", `[]`,
		`{"version":1,"things":{"x":5}}`} {
		s := newScene(t)
		s.forge.heads[shopURL]["main"] = old // which production follows
		s.mustRun(t, "shop/stage")
		s.mustRun(t, production)
		before := s.services()
		entries, err := s.state.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := s.state.Write(t.Context(), e.Key, []byte(damage)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.run(t, "shop/stage"); !maps.Equal(before, s.services()) {
			t.Errorf("%q: got %v, %v", damage, s.services(), err)
		}
		for key := range s.bucket.objects {
			if strings.HasPrefix(key, promotion.Root) {
				s.bucket.objects[key] = damage
			}
		}
		s.Target(saastest.File, 0, 1)["parameters"] = map[string]any{"REPLICAS": 9}
		writes, err := s.run(t, production)
		if !s.fails(err) || len(writes) > 0 {
			t.Errorf("%q as a record: got %v, %q, %s", damage, err, writes, strings.Join(s.said, "\n"))
		}
	}
}
