package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

type common struct {
	Path string `json:"path"`
}

type namespace struct {
	common
	Name    string            `json:"name"`
	Delete  *bool             `json:"delete"`
	Owners  []string          `json:"owners"`
	Labels  map[string]string `json:"labels,omitempty"`
	Notes   []string          `json:"notes,omitzero"`
	Any     any               `json:"any"`
	Raw     json.RawMessage   `json:"raw"`
	Since   time.Time         `json:"since,omitzero"`
	Cluster *struct {
		Name string `json:"name"`
	} `json:"cluster"`
	Ignored []string `json:"-"`
}

type answer struct {
	Namespaces []namespace `json:"namespaces"`
}

// whole is an answer that is whole.
const whole = `{"namespaces":[{"path":"/n.yml","name":"n","delete":true,"owners":["o"],"labels":{"a":"b"},"notes":["x"],"any":1,"raw":{"r":[1]},` +
	`"since":"2026-01-31T00:00:00Z","cluster":{"name":"c"},"__typename":"Namespace_v1"}]}`

func TestDecodeAnswer(t *testing.T) {
	isTrue := true
	full := namespace{
		common: common{"/n.yml"}, Name: "n", Delete: &isTrue, Owners: []string{"o"}, Labels: map[string]string{"a": "b"},
		Notes: []string{"x"}, Any: 1.0, Raw: json.RawMessage(`{"r":[1]}`),
		Since: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		Cluster: &struct {
			Name string `json:"name"`
		}{"c"},
	}
	bare := namespace{common: common{"/n.yml"}, Name: "n", Owners: []string{}, Raw: json.RawMessage("null")}
	for _, c := range []struct {
		name, from, to string // what is replaced in the whole answer
		want           []namespace
		err            string
	}{
		{"whole", "", "", []namespace{full}, ""},
		{"no namespaces", whole, `{"namespaces":[]}`, []namespace{}, ""},
		{"what may be null", whole,
			`{"namespaces":[{"path":"/n.yml","name":"n","delete":null,"owners":[],"labels":null,"notes":null,"any":null,"raw":null,"since":null,"cluster":null}]}`, []namespace{bare}, ""},
		{"what may be missing", whole,
			`{"namespaces":[{"path":"/n.yml","name":"n","delete":null,"owners":[],"any":null,"raw":null,"cluster":null}]}`,
			[]namespace{bare}, ""},

		{"no answer", whole, "", nil, "decoding the data of the answer: EOF"},
		{"half an answer", whole, whole[:40], nil, "decoding the data of the answer: unexpected EOF"},
		{"more than an answer", whole, whole + "{}", nil,
			"decoding the data of the answer: invalid character '{' after top-level value"},
		{"null", whole, "null", nil, "data is null: the answer is not whole"},
		{"a list", whole, "[]", nil, "data is a list, and must be an object"},
		{"nothing in it", whole, "{}", nil, "data.namespaces is missing: the answer is not whole"},
		{"null namespaces", whole, `{"namespaces":null}`, nil, "data.namespaces is null: the answer is not whole"},
		{"namespaces twice, the last is null", whole, `{"namespaces":[],"namespaces":null}`, nil,
			"data.namespaces is null: the answer is not whole"},
		{"namespaces in another case", whole, `{"namespaces":[],"Namespaces":null}`, nil,
			`data has the key "Namespaces", which is not "namespaces"`},
		{"namespaces as object", whole, `{"namespaces":{}}`, nil, "data.namespaces is an object, and must be a list"},
		{"a null namespace", `[{`, `[null,{`, nil, "data.namespaces[0] is null: the answer is not whole"},
		{"a null name", `"name":"n"`, `"name":null`, nil, "data.namespaces[0].name is null: the answer is not whole"},
		{"a null path", `"path":"/n.yml"`, `"path":null`, nil, "data.namespaces[0].path is null: the answer is not whole"},
		{"no name", `"name":"n",`, "", nil, "data.namespaces[0].name is missing: the answer is not whole"},
		{"null owners", `["o"]`, "null", nil, "data.namespaces[0].owners is null: the answer is not whole"},
		{"a null owner", `["o"]`, `["o",null]`, nil, "data.namespaces[0].owners[1] is null: the answer is not whole"},
		{"a null label", `{"a":"b"}`, `{"c":"d","a":null}`, nil,
			"data.namespaces[0].labels.a is null: the answer is not whole"},
		{"a null note", `["x"]`, "[null]", nil, "data.namespaces[0].notes[0] is null: the answer is not whole"},
		{"an unknown delete", `"delete":true,`, "", nil, "data.namespaces[0].delete is missing: the answer is not whole"},
		{"anything, missing", `"any":1,`, "", nil, "data.namespaces[0].any is missing: the answer is not whole"},
		{"a cluster without a name", `{"name":"c"}`, "{}", nil,
			"data.namespaces[0].cluster.name is missing: the answer is not whole"},
		{"a text as cluster", `{"name":"c"}`, `"c"`, nil, "data.namespaces[0].cluster is a string, and must be an object"},
		{"a number as labels", `{"a":"b"}`, "3", nil, "data.namespaces[0].labels is a number, and must be an object"},
		{"a truth value as owners", `["o"]`, "true", nil, "data.namespaces[0].owners is a truth value, and must be a list"},
		{"a number as name", `"name":"n"`, `"name":3`, nil, "decoding the data of the answer: json: cannot unmarshal number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(whole, c.from) {
				t.Fatalf("the answer does not contain %q", c.from)
			}
			got, err := Ask[answer](t.Context(), func(context.Context, string, map[string]any) ([]byte, error) {
				return []byte(strings.Replace(whole, c.from, c.to, 1)), nil
			}, "{ namespaces }", nil)
			if text := textOf(err); !strings.HasPrefix(text, c.err) || c.err == "" && err != nil {
				t.Fatalf("got %v, want %s", err, c.err)
			}
			if isNotWhole := strings.HasSuffix(c.err, ErrNotWhole.Error()); errors.Is(err, ErrNotWhole) != isNotWhole {
				t.Errorf("%v is ErrNotWhole: want %t", err, isNotWhole)
			}
			if err == nil && !reflect.DeepEqual(got.Namespaces, c.want) {
				t.Errorf("got  %+v\nwant %+v", got.Namespaces, c.want)
			}
		})
	}
}

func TestAskFails(t *testing.T) {
	fault := errors.New("status 503")
	_, err := Ask[answer](t.Context(), func(context.Context, string, map[string]any) ([]byte, error) {
		return []byte(whole), fault
	}, "", nil)
	if !errors.Is(err, fault) {
		t.Errorf("got %v, want %v", err, fault)
	}
	for name, into := range map[string]any{"nil": nil, "no pointer": answer{}, "nil pointer": (*answer)(nil)} {
		if err := DecodeAnswer([]byte(whole), into); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// No namespaces and null namespaces differ.
func ExampleDecodeAnswer() {
	var data struct {
		Namespaces []struct {
			Name string `json:"name"`
		} `json:"namespaces"`
	}
	for _, raw := range []string{`{"namespaces": []}`, `{"namespaces": null}`} {
		fmt.Println(DecodeAnswer([]byte(raw), &data))
	}
	// Output:
	// <nil>
	// data.namespaces is null: the answer is not whole
}

// Whatever the answer is: an answer that is taken has no null where the type wants a list.
func FuzzDecodeAnswer(f *testing.F) {
	for _, seed := range []string{whole, "null", "{}", `{"namespaces":null}`, `{"namespaces":[{"name":null}]}`,
		`{"Namespaces":[]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got answer
		if DecodeAnswer(raw, &got) != nil {
			return
		}
		if got.Namespaces == nil {
			t.Errorf("%q: the list is nil", raw)
		}
		for _, n := range got.Namespaces {
			if n.Owners == nil {
				t.Errorf("%q: the owners are nil", raw)
			}
		}
	})
}
