package manager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

func TestEarlyExitCases(t *testing.T) {
	shared.Each(t, "early_exit", func(t *testing.T, c struct {
		Input    struct{ Change string }
		Expected json.RawMessage
	}) {
		base, head := early(t), early(t)
		if !earlyEdit(t, head, c.Input.Change) {
			t.Skip("about another integration")
		}
		var expected struct {
			Decision string
			Keys     []string
		}
		shared.Words(t, c.Expected, &expected)
		before, err := bundle.Parse(textOfData(t, base), nil)
		if err != nil {
			t.Fatal(err)
		}
		after, err := bundle.Parse(textOfData(t, head), before)
		if err != nil {
			t.Fatal(err)
		}
		made, err := planner.Make(t.Context(), planner.Input{Base: before, Head: after, BaseRef: "base", HeadRef: "head",
			Settings: &settings.Settings{}, Natives: []integration.DryRunner{New()}})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(made.Integrations, func(d plan.Decision) bool { return d.Name == Name })
		var shards, want []string
		for _, task := range made.Tasks {
			shards = append(shards, task.Shard)
		}
		for _, words := range expected.Keys {
			want = append(want, earlyShards(t, words, c.Input.Change)...)
		}
		slices.Sort(shards)
		got := made.Integrations[i]
		isSkip, wantsSkip := got.Decision == plan.Skip, map[string]bool{"skip": true, "shards": false}
		skips, known := wantsSkip[expected.Decision]
		if !known {
			t.Fatalf("the decision %q is not known", expected.Decision)
		}
		if isSkip != skips || skips != (len(shards) == 0) || expected.Keys != nil && !slices.Equal(shards, want) {
			t.Errorf("got %s at %s (%s) with %q, want %q", got.Decision, got.Rung, got.Reason, shards, want)
		}
	})
}

// earlyShards returns the shards that the words of a case mean.
func earlyShards(t *testing.T, words, change string) []string {
	t.Helper()
	switch words {
	case "the namespaces of those integrations":
		return []string{exampleShard}
	case "all namespaces of that environment":
		return []string{"reconcile-01/stage-a", "reconcile-01/stage-b"}
	case "that namespace":
		return []string{"reconcile-01/stage-b"}
	case "cluster/namespace of that entry":
		if strings.HasPrefix(change, "/managed/1/") {
			return []string{"reconcile-01/stage-b"}
		}
		return []string{"reconcile-01/stage-a"}
	}
	t.Fatalf("the words %q are not known", words)
	return nil
}

// earlyFiles are the datafiles that cases change, by the schema that they name.
var earlyFiles = map[string]string{
	"/aws/account-1.yml": "/accounts/staging.yml", "/openshift/cluster-1.yml": clusterFile,
	"/openshift/namespace-1.yml": "/namespaces/stage-a.yml",
	"/app-sre/environment-1.yml": "/environments/stage.yml", "/app-sre/integration-1.yml": "/integrations/c.yml",
}

// earlyEdit changes data as the words of a case say. It returns false if they are about another
// integration.
func earlyEdit(t *testing.T, d *testData, change string) bool {
	t.Helper()
	word, pointer, isTwo := strings.Cut(change, " ")
	switch {
	case change == "managed entry removed":
		d.Data["/integrations/c.yml"]["managed"] = d.Data["/integrations/c.yml"]["managed"].([]any)[:1]
	case change == "new /aws/account-1.yml":
		d.Data["/accounts/new.yml"] = object{"$schema": "/aws/account-1.yml", "name": "new"}
	case isTwo && earlyFiles[word] != "" && strings.HasPrefix(pointer, "/"):
		changeAt(t, d, earlyFiles[word], pointer)
	case change == "/disable/integrations":
		d.Data[clusterFile]["disable"] = object{"integrations": []any{Name}}
	case change == "/description":
		d.Data[terraformFile]["description"] = "Another text."
	case strings.HasPrefix(change, "/managed/"):
		changeAt(t, d, "/integrations/c.yml", change)
	default:
		return false
	}
	return true
}

// changeAt changes the value at a JSON pointer of a datafile: a number in a text grows, another text
// becomes longer, a truth value the other one. A value that is not there becomes a text.
func changeAt(t *testing.T, d *testData, file, pointer string) {
	t.Helper()
	parts := jsonpointer.Split(pointer)
	var at any = d.Data[file]
	for _, part := range parts[:len(parts)-1] {
		switch in := at.(type) {
		case object:
			if in[part] == nil {
				in[part] = object{}
			}
			at = in[part]
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n >= len(in) {
				t.Fatalf("%s: there is no %s in %s", pointer, part, file)
			}
			at = in[n]
		}
	}
	of, ok := at.(object)
	if !ok {
		t.Fatalf("%s leads to no object in %s", pointer, file)
	}
	last := parts[len(parts)-1]
	switch is := of[last].(type) {
	case nil:
		of[last] = "new"
	case bool:
		of[last] = !is
	case string:
		digits := strings.IndexFunc(is, func(r rune) bool { return r < '0' || r > '9' })
		if n, err := strconv.Atoi(is[:max(digits, 0)]); err == nil {
			of[last] = fmt.Sprint(n+1) + is[digits:]
		} else {
			of[last] = is + "-changed"
		}
	default:
		t.Fatalf("%s: a value of type %T cannot be changed", pointer, is)
	}
}

// early returns data with one integration by account in the first namespace, and another one in
// two namespaces of another environment.
func early(t *testing.T) *testData {
	d := example(t)
	d.copyOf(environmentFile, "/environments/stage.yml", object{"name": "stage"})
	var managed []any
	for _, name := range []string{"stage-a", "stage-b"} {
		d.copyOf(namespaceFile, "/namespaces/"+name+".yml",
			object{"name": name, "environment": ref("/environments/stage.yml")})
		spec := d.copyOf(managerFile, "/integrations/c.yml", nil)["managed"].([]any)[0].(object)["spec"]
		managed = append(managed, object{"namespace": ref("/namespaces/" + name + ".yml"), "spec": spec})
	}
	d.copyOf(terraformFile, "/integrations/c.yml", object{"name": "c", "managed": managed})
	return d
}

func textOfData(t *testing.T, d *testData) []byte {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
