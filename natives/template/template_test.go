package template

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func Example() {
	t, err := Read("shop.yml", []byte(`
apiVersion: template.openshift.io/v1
kind: Template
objects:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: "shop-${PLACE}"}
  spec: {replicas: "${{REPLICAS}}"}
parameters:
- name: PLACE
- name: REPLICAS
  value: 2
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	objects, err := Process(t, map[string]string{"PLACE": "harbor", "UNKNOWN": "is ignored"})
	raw, _ := json.Marshal(objects)
	fmt.Println(string(raw), err)
	// Output: [{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"shop-harbor"},"spec":{"replicas":2}}] <nil>
}

const head = "apiVersion: v1\nkind: Template\n"

func TestProcess(t *testing.T) {
	cases := []struct {
		name, in string
		values   map[string]string
		want     string // JSON of the objects, or a part of the error
	}{
		{"a required parameter without a value", "parameters: [{name: A, required: true}]", nil,
			"the parameter A has no value and is required"},
		{"a required parameter with an empty value", "parameters: [{name: A, required: true}]", map[string]string{"A": ""},
			"the parameter A has no value and is required"},
		{"a required parameter with a value", "parameters: [{name: A, required: true}]", map[string]string{"A": "x"}, "null"},
		{"a generated parameter", "parameters: [{name: A, generate: expression, from: '[a-z]{8}'}]", nil,
			"the parameter A has no value; values are not generated"},
		{"a generated parameter with a value", "parameters: [{name: A, generate: expression}]", map[string]string{"A": "x"},
			"null"},
		{"a parameter without a value is empty", "objects: [{a: 'x${A}y'}]\nparameters: [{name: A}]", nil, `[{"a":"xy"}]`},
		{"the values of several parameters are wrong", "parameters: [{name: A, required: true}, {name: B, required: true}]",
			nil, "A has no value and is required\nthe parameter B"},
		{"a default that is no text",
			"objects: [{a: '${A}${B}${C}'}]\nparameters: [{name: A, value: 8.10}, {name: B, value: yes}, {name: C, value: 0x1F}]", nil, `[{"a":"8.10yes0x1F"}]`},
		{"a default of null is none", "objects: [{a: '${A}'}]\nparameters: [{name: A, value: null}]", nil, `[{"a":""}]`},
		{"double braces within a text stay", "objects: [{a: 'x${{A}}'}]\nparameters: [{name: A, value: 1}]", nil,
			`[{"a":"x${{A}}"}]`},
		{"double braces give a list", "objects: [{a: '${{A}}'}]\nparameters: [{name: A, value: '[1, \"${A}\"]'}]", nil,
			`[{"a":[1,"${A}"]}]`},
		{"a field that becomes null is left out",
			"objects: [{a: '${{A}}', b: '${{B}}'}]\nparameters: [{name: A, value: 'null'}, {name: B, value: '[null]'}]", nil,
			`[{"b":[null]}]`},
		{"an item cannot become null", "objects: [{a: ['${{A}}']}]\nparameters: [{name: A, value: 'null'}]", nil,
			`object 1: "${{A}}" is null, which no item of a list can become`},
		{"a key that becomes a number", "objects: [{'${{A}}': 1}]\nparameters: [{name: A, value: '1'}]", nil,
			`object 1: the key "${{A}}" becomes one that is no text`},
		{"a key in double braces", "objects: [{'${{A}}': 1}]\nparameters: [{name: A, value: x}]", nil, `[{"x":1}]`},
		{"a value that is read between quotes", "objects: [{a: '${{A}}'}]\nparameters: [{name: A, value: 'x\\ty'}]", nil,
			`[{"a":"x\ty"}]`},
		{"a value that cannot stand between quotes", "objects: [{a: '${{A}}'}]\nparameters: [{name: A, value: 'x\"y'}]", nil,
			"object 1: the value of A is no JSON, and no text between quotes"},
		{"double braces with two values of JSON give the text",
			"objects: [{a: '${{A}}'}]\nparameters: [{name: A, value: 1 2}]", nil, `[{"a":"1 2"}]`},
		{"a number is one of double precision",
			"objects: [{a: ['${{A}}', '${{B}}', '${{C}}', '${{D}}']}]\nparameters: [{name: A, value: '9007199254740993'}, {name: B, value: '2.0'}, {name: C, value: '-0'}, {name: D, value: '1234567890123456789'}]", nil, `[{"a":[9007199254740992,2,-0,1234567890123456800]}]`},
		{"values that name each other",
			"objects: [{a: '${A} ${B}'}]\nparameters: [{name: A, value: '${B}'}, {name: B, value: '${A}'}]", nil,
			`[{"a":"${A} ${B}"}]`},
		{"a value that makes a reference",
			"objects: [{a: '${A}{B} ${B}'}]\nparameters: [{name: A, value: $}, {name: B, value: b}]", nil, `[{"a":"b ${B}"}]`},
		{"a value whose reference stood before",
			"objects: [{a: '${B} ${A}'}]\nparameters: [{name: A, value: '${B}'}, {name: B, value: b}]", nil, `[{"a":"b ${B}"}]`},
		{"very many references that values can make", "objects: [{a: '$" + strings.Repeat("${A}", 20000) +
			"'}]\nparameters: [{name: A, value: x}]", nil, "object 1: a text has too many references"},
		{"a value that makes a text grow", "objects: [{a: '${A}${A}'}]\nparameters: [{name: A}]",
			map[string]string{"A": strings.Repeat("$", 9<<20)}, "larger than 16 MiB"},
		{"very many references that values cannot make", "objects: [{a: '" + strings.Repeat("${A}", 200_000) +
			"'}]\nparameters: [{name: A, value: x}]", nil, `[{"a":"xxxxxxxx`},
		{"a label in double braces", "labels: {'${{A}}': '${{A}}'}\nobjects: [{}]\nparameters: [{name: A, value: '1'}]", nil,
			`[{"metadata":{"labels":{"1":"1"}}}]`},
		{"a label whose key becomes another reference",
			"labels: {'${A}': x}\nobjects: [{}]\nparameters: [{name: A, value: '${B}'}, {name: B, value: b}]", nil,
			`[{"metadata":{"labels":{"b":"x"}}}]`},
		{"labels go in place of those that are not all texts",
			"labels: {a: new}\nobjects: [{metadata: {labels: {n: 1, b: old}}}]", nil, `[{"metadata":{"labels":{"a":"new"}}}]`},
		{"metadata that cannot have labels", "labels: {a: new}\nobjects: [{metadata: [x]}, {metadata: null}]", nil,
			`[{"metadata":["x"]},{"metadata":null}]`},
		{"a list keeps its namespace", "objects: [{items: [], metadata: {namespace: x}}]", nil,
			`[{"items":[],"metadata":{"namespace":"x"}}]`},
		{"a list cannot have labels", "labels: {a: new}\nobjects: [{items: []}]", nil,
			"object 1: it has items, and a list cannot get the labels"},
		{"an object without kind", "objects: [{apiVersion: v1, kind: ''}]", nil, "object 1: it has no kind"},
		{"an apiVersion that is none", "objects: [{apiVersion: a/b/c, kind: A}]", nil,
			"object 1: it has no kind, or an apiVersion that is none"},
		{"an apiVersion that becomes none", "objects: [{apiVersion: '${A}', kind: A}]\nparameters: [{name: A, value: a/b/c}]",
			nil, `[{"apiVersion":"","kind":""}]`},
		{"a namespace beside kind", "objects: [{namespace: x}, {namespace: '${NS}'}, {namespace: x, metadata: {}}]", nil,
			`[{"namespace":""},{"namespace":"${NS}"},{"metadata":{},"namespace":"x"}]`},
		{"two keys become one", "objects: [{'${A}': 1, k: 2}]\nparameters: [{name: A, value: k}]", nil,
			`object 1: two keys become the key "k"`},
		{"two labels become one", "labels: {'${A}': x, k: z}\nparameters: [{name: A, value: k}]", nil,
			`two labels become the label "k"`},
		{"labels go over those of an object",
			"labels: {a: new}\nobjects: [{metadata: {labels: {a: old, b: old}}}, {kind: X}]", nil,
			`[{"metadata":{"labels":{"a":"new","b":"old"}}},{"kind":"X","metadata":{"labels":{"a":"new"}}}]`},
		{"labels that are no map", "labels: {a: new}\nobjects: [{metadata: {labels: [a]}}]", nil,
			`[{"metadata":{"labels":{"a":"new"}}}]`},
		{"a namespace that is no name becomes empty",
			"objects: [{metadata: {namespace: 5}}, {metadata: {namespace: ''}}, {metadata: {namespace: x}}]", nil,
			`[{"metadata":{"namespace":""}},{"metadata":{"namespace":""}},{"metadata":{}}]`},
		{"a namespace with an undeclared name stays", "objects: [{metadata: {namespace: '${NS}'}}]", nil,
			`[{"metadata":{"namespace":"${NS}"}}]`},
		{"a value in very many places", "objects: [" + strings.Repeat("{a: '${A}'}, ", 300) + "]\nparameters: [{name: A}]",
			map[string]string{"A": strings.Repeat("x", 1<<16)}, "with its values it is larger than 16 MiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := Read("t.yml", []byte(head+c.in))
			if err != nil {
				t.Fatal(err)
			}
			before, _ := json.Marshal(parsed)
			objects, err := processUntyped(parsed, c.values)
			raw, _ := json.Marshal(objects)
			if got := string(raw) + fmt.Sprint(err); !strings.Contains(got, c.want) {
				t.Errorf("got %.300s, want %s", got, c.want)
			}
			if after, _ := json.Marshal(parsed); string(before) != string(after) {
				t.Errorf("the template has changed:\n%s\n%s", before, after)
			}
		})
	}
}

func TestReadMistakes(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"nothing", "", "t.yml: it is empty"},
		{"no YAML", "a: [", "t.yml: line "},
		{"two documents", head + "---\na: 1\n", "t.yml: line 3: a second document"},
		{"a list", "[]", "t.yml: line 1: a Template must be a map"},
		{"another kind", "apiVersion: v1\nkind: List\n", `t.yml: line 2: kind is "List"; it must be Template`},
		{"another version", "kind: Template\napiVersion: v2\n",
			`t.yml: line 2: apiVersion is "v2"; it must be template.openshift.io/v1`},
		{"objects that are no list", head + "objects: {}\n", "t.yml: line 3: objects must be a list"},
		{"an object that is no map", head + "objects:\n- {}\n- 5\n", "t.yml: line 5: an object must be a map"},
		{"a parameter without a name", head + "parameters:\n- value: 1\n", "t.yml: line 4: a parameter needs a name"},
		{"a parameter with a dash", head + "parameters:\n- name: A-B\n", "t.yml: line 4: a parameter needs a name"},
		{"a value that is a map", head + "parameters:\n- name: A\n  value: {}\n",
			"t.yml: line 5: the value of the parameter A must be a text"},
		{"required that is a text", head + "parameters:\n- name: A\n  required: 'yes'\n",
			"t.yml: line 5: required of the parameter A must be true or false"},
		{"generate that is a number", head + "parameters:\n- name: A\n  generate: 1\n",
			"t.yml: line 5: generate of the parameter A must be a text"},
		{"labels that are no map", head + "labels: []\n", "t.yml: line 3: labels must be a map"},
		{"a label that is a list", head + "labels:\n  a: []\n", `t.yml: line 4: the label "a" must be a text`},
		{"a key that stands twice", head + "objects:\n- a: 1\n  a: 2\n", `t.yml: line 5: the key "a" stands here twice`},
		{"a key that is a list", head + "objects:\n- {[a]: 1}\n", "t.yml: line 4: a key must be a text"},
		{"a loop of anchors", head + "objects:\n- &a\n  b: *a\n", "t.yml: line 5: an anchor holds an alias of itself"},
		{"a loop of merges", head + "objects:\n- &a\n  <<: *a\n", "t.yml: line 5: an anchor holds an alias of itself"},
		{"aliases that double", head + bomb(40), "its aliases make the document too large"},
		{"aliases of a long text",
			head + "x: &a " + strings.Repeat("y", 1<<16) + "\nobjects: [" + strings.Repeat("{a: *a}, ", 200) + "]\n",
			"its aliases make the document too large"},
		{"huge depth", head + "objects: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
			"t.yml: line 3: it is nested deeper than 100 levels"},
		{"a merge of a text", head + "objects:\n- <<: x\n", "t.yml: line 4: only maps can be merged"},
		{"infinity", head + "objects:\n- a: .inf\n", "t.yml: line 4: .inf is no number of JSON"},
		{"binary data", head + "objects:\n- a: !!binary aGk=\n", "t.yml: line 4: "},
		{"too large", strings.Repeat("#", maxDocument+1), "t.yml: it is larger than 8 MiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read("t.yml", []byte(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v and the error %.300v, want %s", fmt.Sprint(got), err, c.want)
			}
		})
	}
}

// bomb returns YAML that has 2^n texts once all aliases are followed.
func bomb(n int) string {
	var out strings.Builder
	out.WriteString("x0: &x0 [a, a]\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&out, "x%d: &x%d [*x%d, *x%d]\n", i, i, i-1, i-1)
	}
	return out.String()
}

func TestMerge(t *testing.T) {
	parsed, err := Read("t.yml",
		[]byte(head+"x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 3}\nobjects:\n- <<: [*x, *y]\n  a: own\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{"a": "own", "b": int64(2), "c": int64(3)}}
	if !reflect.DeepEqual(parsed.Objects, want) {
		t.Errorf("got %v, want %v", parsed.Objects, want)
	}
}

func TestMentions(t *testing.T) {
	doc, err := ReadDocument("t.yml",
		[]byte("a: ${A}\nb:\n- |\n  x\n  y ${B} ${C}\n- ${{D}} $HOME\n- ${{E}}\n${F}: \"x ${G}\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Mention{{"A", 1}, {"B", 5}, {"C", 5}, {"E", 7}, {"F", 8}, {"G", 8}}
	if got := doc.Mentions(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Reading foreign bytes ends with an error or with a template that is processed the same way
// twice, and that can be written as JSON.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", head, head + bomb(40),
		head + "objects: [{a: '${{A}}', <<: {b: 1}}]\nparameters: [{name: A, value: '[1]'}]\nlabels: {a: b}",
		head + "objects:\n- &a\n  b: *a\n", "{\"kind\": \"Template\"", "a: !!float x\n",
		head + "objects: [{1: .5, true: 2001-01-01, ~: 0o7}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsed, err := Read("t.yml", raw)
		if err != nil {
			return
		}
		values := map[string]string{"A": "x${A}"}
		first, err := Process(parsed, values)
		if err != nil {
			return
		}
		second, _ := Process(parsed, values)
		a, errA := json.Marshal(first)
		b, _ := json.Marshal(second)
		if errA != nil || string(a) != string(b) {
			t.Errorf("got %s and then %s, %v", a, b, errA)
		}
	})
}

// A text is filled in as by the plain rule: one reference after the other, each at the first place where it is
// by then.
func TestTextByThePlainRule(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 83))
	pieces := []string{"$", "{", "}", "A", "B", "${", "${A}", "${B}", "${NO}", "x"}
	draw := func(n int) (out string) {
		for range r.IntN(n) {
			out += pieces[r.IntN(len(pieces))]
		}
		return out
	}
	for range 200_000 {
		values, text := map[string]string{"A": draw(4), "B": draw(4)}, draw(9)
		want := text
		for _, name := range Names("-" + text) {
			if value, isKnown := values[name]; isKnown {
				want = strings.Replace(want, "${"+name+"}", value, 1)
			}
		}
		f := &filler{values: values, left: maxFilled}
		if got := f.text(text); got != want {
			t.Fatalf("%q with %q: got %q, want %q", text, values, got, want)
		}
	}
}

// A kind that moved into an API group gets the name of that group, after values are filled in.
func TestGroups(t *testing.T) {
	for text, want := range map[string]string{
		`{"apiVersion": "v1", "kind": "DeploymentConfig"}`:                      "apps.openshift.io/v1",
		`{"apiVersion": "${V}", "kind": "${K}"}`:                                "route.openshift.io/v1",
		`{"apiVersion": "apps.openshift.io/v1", "kind": "DeploymentConfig"}`:    "apps.openshift.io/v1",
		`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding"}`: "rbac.authorization.k8s.io/v1",
		`{"apiVersion": "v1", "kind": "Service"}`:                               "v1",
	} {
		read, err := Read("t",
			[]byte(`{"apiVersion": "v1", "kind": "Template", "objects": [`+text+
				`], "parameters": [{"name": "V"}, {"name": "K"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Process(read, map[string]string{"V": "v1", "K": "Route"})
		if err != nil || out[0]["apiVersion"] != want {
			t.Errorf("%s: got %v, %v, want %s", text, out, err, want)
		}
	}
}
