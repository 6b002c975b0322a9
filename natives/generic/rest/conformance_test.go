package rest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

func TestErrorClassCases(t *testing.T) {
	type expectation struct {
		Class    Class
		Override *classes.Entry
	}
	type errorCase struct {
		Input struct {
			Status             int
			Code, Target, Type string
			Body               any
		}
		Expected any
	}
	shared.Each(t, "error_class", func(t *testing.T, c errorCase) {
		in := c.Input
		if in.Body == nil {
			in.Body = map[string]any{"error": map[string]any{"code": in.Code, "target": in.Target}}
		}
		e := readFailure(in.Status, in.Body).error(in.Type, func(s string) string { return s })
		want := expectation{}
		switch w := c.Expected.(type) {
		case string:
			want.Class = Class(w)
		case map[string]any:
			want.Class = Class(text(w["class"]))
			if o, ok := w["override"].(map[string]any); ok {
				want.Override = &classes.Entry{Type: text(o["type"]), Path: text(o["path"]), Class: text(o["class"]),
					Reason: text(o["reason"])}
			}
		}
		if e.Class != want.Class {
			t.Errorf("got %s, want %s", e.Class, want.Class)
		}
		if want.Override == nil {
			return
		}
		if len(e.Overrides) != 1 {
			t.Fatalf("got the overrides %+v, want one", e.Overrides)
		}
		got := e.Overrides[0]
		if got.Type != want.Override.Type || got.Path != want.Override.Path || got.Class != want.Override.Class ||
			got.Reason != want.Override.Reason {
			t.Errorf("got the override %+v, want %+v", got, *want.Override)
		}
	})
}

// A conflict about a name that is taken ends at once, also by a code that nobody listed. Other conflicts, and the same
// words with another status, do not.
func TestNamesThatAreTaken(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   Class
	}{
		{409, "CacheNameAlreadyExists", Fatal}, {409, "domainNameInUse", Fatal}, {409, "HandleAlreadyTaken", Fatal},
		{409, "HostNameNotAvailable", Fatal},
		{409, "AlreadyExistsElsewhere", Retry}, {409, "InUse", Retry}, {503, "ZoneNotAvailable", Retry},
		{429, "SlotNameInUse", Retry},
	} {
		body := map[string]any{"error": map[string]any{"code": "Failed", "details": []any{map[string]any{"code": c.code}}}}
		if got := readFailure(c.status, body).class(""); got != c.want {
			t.Errorf("%d %s: got %s, want %s", c.status, c.code, got, c.want)
		}
	}
}

// below reports whether a dotted path is one of some paths, or below one.
func below(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		rest, ok := strings.CutPrefix(path, p)
		return ok && (rest == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[") ||
			strings.HasPrefix(rest, "{"))
	})
}

// Each case goes through a write against a service that only takes notes: what it is sent is
// what the case expects.
func TestRequestCases(t *testing.T) {
	type requestCase struct {
		Input struct {
			PatchKind  resources.PatchKind `json:"patch_kind"`
			PatchPaths []string            `json:"patch_paths"`
			Changed    []string
			Consumes   []string
			Override   struct{ Patch string }
			Live       *bool
			Verbs      []string
			Collection []string
			PutCreates *bool  `json:"put_creates"`
			ETagHeader string `json:"etag_header"`
			ETagBody   string `json:"etag_body"`
			// NullIsValue says that null is a value of what is removed.
			NullIsValue bool `json:"null_is_value"`
			Removed     []string
		}
		Expected struct {
			Via         string
			ContentType string `json:"content_type"`
			Headers     map[string]string
		}
	}
	shared.Each(t, "request", func(t *testing.T, c requestCase) {
		in, want := c.Input, c.Expected
		a := Abilities{Verbs: in.Verbs, HasPost: slices.Contains(in.Collection, "post"),
			PutCreates: in.PutCreates == nil || *in.PutCreates,
			PatchKind:  in.PatchKind, PatchMedia: in.Consumes, PatchMerges: in.Override.Patch == "merge",
			PatchTakes: func(p string) bool {
				return below(in.PatchPaths, p)
			}, NullIsValue: func(string) bool { return in.NullIsValue }}
		if in.Verbs == nil {
			a.Verbs = []string{"get", "put", "patch", "delete"}
		}
		s := newService(t, *family.ARM)
		if in.Live == nil || *in.Live {
			live := map[string]any{"properties": map[string]any{"x": "old"}}
			if in.ETagBody != "" {
				live["etag"] = in.ETagBody
			}
			s.put(thing, live)
			s.etag = func(object) string { return in.ETagHeader }
		}
		p := &script{change: &Change{Paths: in.Changed, Removed: in.Removed, Desired: map[string]any{},
			Merge: map[string]any{}, Put: map[string]any{}}}
		if _, err := s.client().Write(t.Context(), target(a), p, &memory{}); err != nil {
			t.Fatal(err)
		}
		sent := s.writes()
		if len(sent) != 1 {
			t.Fatalf("got %d writes, want 1", len(sent))
		}
		via := sent[0].method
		switch {
		case via == http.MethodPut && (in.Live == nil || *in.Live):
			via = "GET+PUT"
		case sent[0].media == mediaApply:
			via = "APPLY"
		}
		if via != want.Via || want.ContentType != "" && sent[0].media != want.ContentType {
			t.Errorf("got %s as %s, want %s as %s", via, sent[0].media, want.Via, want.ContentType)
		}
		for name, value := range want.Headers {
			if got := sent[0].header.Get(name); got != value {
				t.Errorf("%s: got %q, want %q", name, got, value)
			}
		}
	})
}
