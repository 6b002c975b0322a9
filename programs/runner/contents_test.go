package runner

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A secret that somebody wrote into the data is in no diff: not when it is added, changed or taken
// out, and not in a file that is new or goes.
func TestContentsHideSecrets(t *testing.T) {
	entry := func(password any) cloudtest.Fields {
		properties := cloudtest.Fields{"size": 4711}
		if password != nil {
			properties["password"] = password
		}
		return cloudtest.Fields{"type": cloudtest.Store, "name": "x", "parent": cloudtest.Group,
			"body": cloudtest.Fields{"location": "west", "properties": properties}}
	}
	for name, c := range map[string]struct {
		base, head cloudtest.Fields
		want       string // what is shown
	}{
		"added":     {entry(nil), entry("canary1"), `"(secret 1)"`},
		"changed":   {entry("canary1"), entry("canary2"), `"(secret 2)"`},
		"taken out": {entry("canary1"), entry(nil), `"(secret 1)"`},
		"a number":  {entry(11223344), entry(11223345), `"(secret 2)"`},
		"new":       {nil, entry("canary1"), "4711"},
		"gone":      {entry("canary1"), nil, "4711"},
	} {
		var sides [2]*bundle.Bundle
		for i, of := range []cloudtest.Fields{c.base, c.head} {
			w := cloudtest.New("https://arm.example")
			if of != nil {
				w.Add("/r/x.yml", of)
			}
			var err error
			if sides[i], err = bundle.Parse(w.Bundle(t), nil); err != nil {
				t.Fatal(err)
			}
		}
		got, err := change.Contents(t.Context(), all(), sides[0], sides[1])
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(got.Datafiles)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(raw), `\"`, `"`)
		if !strings.Contains(text, c.want) || strings.Contains(text, "canary") || strings.Contains(text, "1122334") {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
		for _, broken := range []integration.DryRunner{hiding{err: errors.New("no")}, hiding{}} {
			if got, err := change.Contents(t.Context(), []integration.DryRunner{broken}, sides[0],
				sides[1]); err == nil || got != nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: what to hide is not known, got %v, %v", name, got, err)
			}
		}
	}
}

// A hiding is a native that does not know what to hide.
type hiding struct {
	integration.Native
	err error
}

func (hiding) Name() string { return "hiding" }

func (h hiding) Hidden(context.Context, integration.QueryFunc, []string) (map[string][]string, error) {
	if h.err == nil {
		panic("canary")
	}
	return nil, h.err
}
