package reconcile_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

func TestAnnotations(t *testing.T) {
	for name, c := range map[string]struct {
		mark        reconcile.Mark
		annotations map[string]string
		labels      map[string]string
	}{
		"no mark": {reconcile.Mark{}, map[string]string{}, map[string]string{}},
		"all parts": {
			reconcile.Mark{Integration: "openshift-namespaces", Version: "1", Caller: "app sre/prod"},
			map[string]string{"qontract.integration": "openshift-namespaces", "qontract.integration_version": "1",
				"qontract.caller_name": "app sre/prod"},
			map[string]string{"qontract.integration": "openshift-namespaces"},
		},
		"no version": {
			reconcile.Mark{Integration: "a", Caller: "b"},
			map[string]string{"qontract.integration": "a", "qontract.caller_name": "b"},
			map[string]string{"qontract.integration": "a"},
		},
		"no label value": {
			reconcile.Mark{Integration: "a b"},
			map[string]string{"qontract.integration": "a b"},
			map[string]string{"qontract.integration": "a-b-zbuhucfklvxnebcdfd5gu2l2xd"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.mark.Annotations(); !maps.Equal(got, c.annotations) {
				t.Errorf("got annotations %q, want %q", got, c.annotations)
			}
			if got := c.mark.Labels(); !maps.Equal(got, c.labels) {
				t.Errorf("got labels %q, want %q", got, c.labels)
			}
			if got, want := c.mark.Selector(), "qontract.integration="+c.labels["qontract.integration"]; got != want {
				t.Errorf("got selector %q, want %q", got, want)
			}
		})
	}
}

func TestTags(t *testing.T) {
	for name, c := range map[string]struct {
		mark reconcile.Mark
		tags map[string]string
		want string // the error
	}{
		"no mark": {reconcile.Mark{}, map[string]string{}, ""},
		"all parts": {reconcile.Mark{Integration: "aws-iam", Version: "2", Caller: "team a/b"},
			map[string]string{"qontract-integration": "aws-iam", "qontract-integration-version": "2",
				"qontract-caller": "team a/b"}, ""},
		"escapes": {reconcile.Mark{Integration: "a", Caller: " x=\n<é "}, map[string]string{"qontract-integration": "a",
			"qontract-caller": "=20x=3D=0A=3C=C3=A9=20"}, ""},
		"longest": {reconcile.Mark{Integration: strings.Repeat("a", 256)},
			map[string]string{"qontract-integration": strings.Repeat("a", 256)}, ""},
		"too long": {reconcile.Mark{Integration: "a", Caller: strings.Repeat("c", 257)}, nil,
			`the tag qontract-caller of "cccccccccccccccccccccccccccccccccccccccc" would have 257 characters, and 256 are allowed`},
		"too long when it is escaped": {reconcile.Mark{Integration: strings.Repeat("ü", 43)}, nil,
			`the tag qontract-integration of "üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü" would have 258 characters, and 256 are allowed`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.mark.Tags()
			if !maps.Equal(got, c.tags) || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("got %q, %v, want %q, %s", got, err, c.tags, c.want)
			}
			if err != nil && reconcile.ClassOf(err) != reconcile.ClassConfig {
				t.Errorf("the class is %q", reconcile.ClassOf(err))
			}
		})
	}
}

func TestMarkOfTags(t *testing.T) {
	for name, c := range map[string]struct {
		tags map[string]string
		want reconcile.Mark
	}{
		"none":      {nil, reconcile.Mark{}},
		"of others": {map[string]string{"Name": "x", "qontract_integration": "y"}, reconcile.Mark{}},
		"of terraform": {map[string]string{"managed_by_integration": "terraform_resources"},
			reconcile.Mark{Integration: "terraform_resources"}},
		"ours counts": {map[string]string{"managed_by_integration": "terraform_resources",
			"qontract-integration": "aws-iam", "qontract-caller": "a"}, reconcile.Mark{Integration: "aws-iam", Caller: "a"}},
		"half a mark": {map[string]string{"managed_by_integration": "terraform_resources", "qontract-caller": "a"},
			reconcile.Mark{Caller: "a"}},
		"no escape": {map[string]string{"qontract-integration": "a=b", "qontract-caller": "=3d=3"},
			reconcile.Mark{Integration: "a=b", Caller: "=3d=3"}},
		"escaped twice":  {map[string]string{"qontract-integration": "=3D41"}, reconcile.Mark{Integration: "=41"}},
		"an empty value": {map[string]string{"qontract-integration": ""}, reconcile.Mark{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reconcile.MarkOfTags(c.tags); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// A mark that is written can be read, whatever its texts are; and what is written is accepted
// where it is written to.
func TestMarksAreKept(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"", "a", "B", "-", " ", "=", "=41", "%20", "/", "\"", "\n", "\x00", "ü", "\xff", "日本", "0.1.0",
		strings.Repeat("x", 50)}
	text := func() string {
		out := ""
		for range random.IntN(5) {
			out += pieces[random.IntN(len(pieces))]
		}
		return out
	}
	tag := regexp.MustCompile(`^[A-Za-z0-9_.:/+@=-]([A-Za-z0-9_.:/+@= -]*[A-Za-z0-9_.:/+@=-])?$`)
	for range 20_000 {
		m := reconcile.Mark{Integration: text(), Version: text(), Caller: text()}
		if got := reconcile.MarkOfAnnotations(m.Annotations()); got != m {
			t.Fatalf("annotations of %+q: got %+q", m, got)
		}
		tags, err := m.Tags()
		if err != nil {
			continue // too long
		}
		if got := reconcile.MarkOfTags(tags); got != m {
			t.Fatalf("tags of %+q: got %+q", m, got)
		}
		for _, value := range tags {
			if !tag.MatchString(value) || len(value) > 256 {
				t.Fatalf("%+q has the tag %q", m, value)
			}
		}
	}
}

// Annotations are sent as JSON.
func TestAnnotationsAsJSON(t *testing.T) {
	m := reconcile.Mark{Integration: "a", Caller: "\x00\n\"ü \u2028 " + strings.Repeat("c", 5000)}
	raw, err := json.Marshal(m.Annotations())
	var back map[string]string
	if err = errors.Join(err, json.Unmarshal(raw, &back)); err != nil || reconcile.MarkOfAnnotations(back) != m {
		t.Errorf("got %.80q, %v", back, err)
	}
}
