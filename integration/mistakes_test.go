package integration

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

// A checked native has settings, and says what is wrong with them.
type checked struct {
	plain
	check func(settings.Own) error
}

func (checked) Name() string                           { return "checked" }
func (c checked) CheckSettings(own settings.Own) error { return c.check(own) }

func TestCheckNatives(t *testing.T) {
	reads := checked{check: func(own settings.Own) error {
		var into struct{ Clusters []string }
		if err := own.Decode(&into); err != nil {
			return err
		}
		if len(into.Clusters) == 0 {
			return own.Mistake("name at least one cluster", "clusters")
		}
		return nil
	}}
	complains := checked{check: func(own settings.Own) error {
		return errors.Join(errors.New("no luck"), own.Mistake("is odd", "b", "1"))
	}}
	for _, c := range []struct {
		name, settings string
		natives        []DryRunner
		want           string // messages without the name of the file
	}{
		{"nothing to say", "a: {exec: {argv: [x]}}", nil, ""},
		{"of its own name", "plain: {deletes: {max: 1}}", []DryRunner{plain{}}, ""},
		{"bound", "a: {native: plain, adopt: [x]}", []DryRunner{plain{}}, ""},
		{"no native", "a: {native: plain, adopt: [x]}", nil,
			`3: integrations.a.native: this program has no native integration "plain"; it has none`},
		{"misspelt", "a: {native: plian}", []DryRunner{plain{}, reads},
			`3: integrations.a.native: this program has no native integration "plian" (did you mean "plain"?); it has checked, plain`},
		{"of its own name, but bound elsewhere", "plain: {native: other}", []DryRunner{plain{}},
			`3: integrations.plain.native: this program has no native integration "other"; it has plain`},
		{"not bound", "a:\n    adopt: [x]\n    settings: {b: 1}", []DryRunner{plain{}},
			`4: integrations.a.adopt: only a native integration uses this key, and "a" is none; bind it to one with the key native` + "\n" +
				`5: integrations.a.settings: only a native integration uses this key, and "a" is none; bind it to one with the key native`},
		{"no settings of its own", "a: {native: plain, settings: {b: 1}}", []DryRunner{plain{}},
			`3: integrations.a.settings: nobody reads this key: the native integration "plain" has no settings of its own`},
		{"right settings", "a: {native: checked, settings: {clusters: [x]}}", []DryRunner{reads}, ""},
		{"no settings", "a:\n    native: checked", []DryRunner{reads},
			"3: integrations.a.settings.clusters: name at least one cluster"},
		{"wrong settings", "a:\n    native: checked\n    settings:\n      clusters: [1,\n        2]\n      x: 3",
			[]DryRunner{reads},
			`6: integrations.a.settings.clusters[0]: must be a string, got the number "1"; put it in quotes` + "\n" +
				`7: integrations.a.settings.clusters[1]: must be a string, got the number "2"; put it in quotes` + "\n" +
				`8: integrations.a.settings: unknown key "x"`},
		{"queries beside a desired state", "a:\n    native: plain\n    queries: [a.graphql]", []DryRunner{full{}},
			`5: integrations.a.queries: the native integration "plain" says itself what it wants, and a skip would depend on these queries instead: leave them out`},
		{"queries for a native that says nothing", "a: {native: plain, queries: [a.graphql]}", []DryRunner{plain{}}, ""},
		{"several mistakes", "a:\n    native: checked\n    settings:\n      b:\n        - x\n        - y",
			[]DryRunner{complains},
			"6: integrations.a.settings: no luck\n8: integrations.a.settings.b[1]: is odd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckNatives(read(t, "version: 1\nintegrations:\n  "+c.settings+"\n"), c.natives)
			want := ""
			if c.want != "" {
				want = "prcheck.yaml:" + strings.ReplaceAll(c.want, "\n", "\nprcheck.yaml:")
			}
			if got := textOf(err); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// textOf returns the message of an error, "" for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The settings that a desired state gets are those of the integration that is bound.
func TestStateOfBound(t *testing.T) {
	s := read(t, "version: 1\nintegrations:\n  a: {native: plain, settings: {b: c}}\n")
	n, ok := FindNative([]DryRunner{bound{}}, s.For("a"))
	if !ok {
		t.Fatal("there is no native")
	}
	got, err := StateOf(n, s.For("a"))(t.Context(), nil)
	if want := "a: c"; err != nil || got != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
}

type bound struct{ plain }

func (bound) DesiredState(_ context.Context, _ QueryFunc, it settings.Integration) (any, error) {
	var own struct{ B string }
	err := it.Own.Decode(&own)
	return it.Name + ": " + own.B, err
}

// read returns the settings of a text.
func read(t *testing.T, text string) *settings.Settings {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
