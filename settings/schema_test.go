package settings

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite the schema of the settings in docs")

// schemaFile is the schema as users get it.
const schemaFile = "../docs/prcheck.schema.json"

func TestSchemaFile(t *testing.T) {
	got, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/prcheck.schema.json is not what the reader of the settings wants (%v); go test ./settings -update",
			err)
	}
}

// compiled returns the schema, ready to check settings.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	raw, err := Schema()
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("prcheck.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("prcheck.json")
})

// refusal returns why the schema refuses settings, or nil. The error of YAML counts, too.
func refusal(raw []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return err
	}
	daysAsText(&doc)
	var value any
	if err := doc.Decode(&value); err != nil {
		return err
	}
	inJSON, err := json.Marshal(value)
	if err != nil {
		return err
	}
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(inJSON))
	if err != nil {
		return err
	}
	schema, err := compiled()
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// daysAsText makes texts of days without quotes, as editors do: YAML 1.2 has no times.
func daysAsText(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, below := range n.Content {
		daysAsText(below)
	}
}

func TestSchemaAcceptsExamples(t *testing.T) {
	for _, name := range []string{"testdata/prcheck.yaml", "../examples/shop/prcheck.yaml",
		"../examples/office/prcheck.yaml",
		"../examples/qontract-reconcile/prcheck.yaml", "../testdata/shop/prcheck.yaml"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := refusal(raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// onlyReader lists the mistakes that a schema cannot find, or could find only with a pattern
// that nobody understands.
var onlyReader = map[string]bool{
	// The file, and what YAML means.
	"two documents": true, "second document broken": true, "alias": true,
	// Patterns, paths and selectors.
	"a CI file elsewhere": true, "no regular expression": true, "look-ahead": true,
	"everything is transient": true, "transient of an integration": true, "bad pattern": true,
	"pattern going up": true, "costly pattern": true, "query outside": true, "resources elsewhere": true,
	"bad selector": true, "selector twice": true,
	// Addresses.
	"plain http": true, "plain http to a name": true, "a password in the address": true, "a path in the address": true,
	"mount outside": true,
	// Words in braces.
	"unknown word in a key": true, "variable in a key": true, "unknown placeholder": true, "token in an argument": true,
	"token in a variable of arguments": true, "token in a flag": true,
	"cmd inside a word": true, "config in itself": true, "cmd in env": true, "flags inside a word": true,
	"bad variable of the environment": true, "image in env": true, "unknown placeholder in a flag": true,
	// What two keys say together.
	"unknown limit": true, "config without text": true, "set and passed": true,
	"image without a usual one": true, "flags without a place": true,
	"flags without a place in an own argv": true, "config in a condition": true,
	"set and set by a condition": true, "passed by two conditions": true,
	"set here and passed in general": true, "arg missing": true, "arg unused": true,
	"static shards unused": true, "shard unused": true,
	// Effects.
	"effects: broken pattern": true, "effects: look-behind": true, "effects: a back reference": true,
	"effects: the empty line": true, "effects: every line": true, "effects: every line that has text": true,
	"effects: a huge pattern": true, "effects: unknown group": true, "effects: unknown number": true,
	"effects: a dollar": true, "effects: subject of no effect": true,
	"effects: budget of nothing": true, "effects: budget without comparison": true,
	"effects: unordered schema": true, "effects: unordered selector": true,
	// Natives.
	"alias in settings": true, "merge key in settings": true, "tag in settings": true,
	"no day of the year": true, "adopt by a bad pattern": true, "adopt by a costly pattern": true,
	"take over from itself": true, "approved twice": true,
	// Single values.
	"reuse for too long": true, "empty program": true, "NUL in argv": true,
}

// The schema finds each mistake that the reader finds, but for those of onlyReader.
func TestSchemaFindsMistakes(t *testing.T) {
	for _, m := range slices.Concat(mistakes, nativeMistakes, effectMistakesInFiles()) {
		switch err := refusal([]byte(m.text)); {
		case err == nil && !onlyReader[m.name]:
			t.Errorf("%s: the schema accepts it", m.name)
		case err != nil && onlyReader[m.name]:
			t.Errorf("%s: the schema finds it as well; take it out of onlyReader", m.name)
		}
	}
}

// effectMistakesInFiles returns the mistakes of effects as whole files.
func effectMistakesInFiles() []mistake {
	var out []mistake
	for _, m := range effectMistakes {
		out = append(out, mistake{"effects: " + m.name, "version: 1\n" + m.text + "\n", m.want})
	}
	return out
}

func TestKeyDescriptions(t *testing.T) {
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(at, item)
			}
		case map[string]any:
			keys, _ := v["properties"].(map[string]any)
			for key, value := range keys {
				text, _ := value.(map[string]any)["description"].(string)
				if text == "" {
					t.Errorf("%s.%s has no description; add it to keyDescriptions", at, key)
				}
				used[text] = true
			}
			for key, value := range v {
				if key != "properties" {
					walk(at, value)
					continue
				}
				for key, value := range keys {
					walk(strings.TrimPrefix(at+"."+key, "."), value)
				}
			}
		}
	}
	walk("", schema)
	for key, text := range keyDescriptions {
		if !used[text] {
			t.Errorf("there is no key %s any more; take it out of keyDescriptions", key)
		}
	}
}
