package lines_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/report/lines"
	"github.com/app-sre/prcheck/settings"
)

// bundled makes a bundle of datafiles and resources, given as JSON and text.
func bundled(t testing.TB, data, resources map[string]string) *bundle.Bundle {
	t.Helper()
	doc := map[string]any{"graphql": []any{}, "resources": map[string]any{}, "schemas": map[string]any{}}
	files := map[string]json.RawMessage{}
	for name, text := range data {
		files[name] = json.RawMessage(text)
	}
	doc["data"] = files
	texts := map[string]any{}
	for name, text := range resources {
		texts[name] = map[string]any{"path": name, "content": text,
			"sha256sum": fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
	}
	doc["resources"] = texts
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// finder returns a finder for these files of head.
func finder(t testing.TB, rules string, files map[string]string, base, head *bundle.Bundle) *lines.Finder {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\n"+rules))
	if err != nil {
		t.Fatal(err)
	}
	in := lines.Files{Checkout: s.Checkout()}
	if len(files) > 0 {
		in.Read = func(section validator.Section, p bundle.Path) ([]byte, error) {
			if section != validator.Data {
				return nil, fs.ErrNotExist
			}
			text, ok := files[s.Checkout().Data+string(p)]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}
	}
	return lines.New(in, base, head)
}

const team = `---
$schema: /team-1.yml
name: red
members:
- $ref: /users/bob.yml
- $ref: /users/ana.yml # moved
"a/b": {x: 1}
`

func TestLines(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(team)))
	base := bundled(t, map[string]string{
		"/team.yml":  `{"$schema":"/team-1.yml","name":"red","members":[{"$ref":"/users/ana.yml"}],"motto":"x","a/b":{"x":0}}`,
		"/other.yml": `{"$schema":"/team-1.yml","name":"blue","$file_sha256sum":"1"}`,
		"/gone.yml":  `{"$schema":"/team-1.yml","name":"green"}`,
	}, map[string]string{"/r.txt": "one\ntwo\nthree\n", "/cut.txt": "one\ntwo\n", "/same.txt": "x"})
	head := bundled(t, map[string]string{
		"/team.yml": `{"$schema":"/team-1.yml","$file_sha256sum":"` + sum +
			`","name":"red","members":[{"$ref":"/users/bob.yml"},{"$ref":"/users/ana.yml"}],"a/b":{"x":1}}`,
		"/other.yml":     `{"$schema":"/team-1.yml","name":"cyan","$file_sha256sum":"` + sum + `"}`,
		"/users/ana.yml": `{"$schema":"/user-1.yml","name":"ana","org":"acme"}`,
	}, map[string]string{"/r.txt": "one\n2\nthree\n", "/cut.txt": "one\n", "/same.txt": "x", "/new.txt": "a\nb"})
	files := map[string]string{"data/team.yml": team, "data/other.yml": "---\n\n\nname: cyan\n", "resources/r.txt": "",
		"schemas/s.yml": "", "graphql-schemas/schema.yml": ""}
	for _, c := range []struct {
		name, settings string
		files          map[string]string
		none           bool // no bundles
		o              report.Origin
		want           string
	}{
		{"a field", "", files, false, report.Origin{Section: "data", Path: "/team.yml", Pointer: "/a~1b/x"},
			"data/team.yml:7"},
		{"an item that was added before it", "", files, false, report.Origin{Section: "data", Path: "/team.yml",
			Pointer: "/members/0"}, "data/team.yml:5"},
		{"gone", "", files, false, report.Origin{Section: "data", Path: "/team.yml", Pointer: "/motto"}, "data/team.yml:2"},
		{"without bundles", "", files, true, report.Origin{Section: "data", Path: "/team.yml", Pointer: "/members/1"},
			"data/team.yml:6"},
		{"a file that is not the one of head", "", files, false, report.Origin{Section: "data", Path: "/other.yml",
			Pointer: "/name"}, "data/other.yml:1"},
		{"which nothing tells without bundles", "", files, true, report.Origin{Section: "data", Path: "/other.yml",
			Pointer: "/name"}, "data/other.yml:4"},
		{"a file that is gone", "", files, false, report.Origin{Section: "data", Path: "/gone.yml"}, "data/gone.yml:1"},
		{"no checkout", "", nil, false, report.Origin{Section: "data", Path: "/team.yml", Pointer: "/a~1b/x"},
			"data/team.yml:1"},
		{"other folders", "checkout: {data: a/b, resources: c}\n", map[string]string{"a/b/team.yml": team}, false,
			report.Origin{Section: "data", Path: "/team.yml", Pointer: "/a~1b"}, "a/b/team.yml:7"},
		{"resource", "checkout: {resources: c}\n", files, false, report.Origin{Section: "resources", Path: "/r.txt"},
			"c/r.txt:2"},
		{"shorter resource", "", files, false, report.Origin{Section: "resources", Path: "/cut.txt"}, "resources/cut.txt:1"},
		{"new resource", "", files, false, report.Origin{Section: "resources", Path: "/new.txt"}, "resources/new.txt:1"},
		{"resource without bundles", "", files, true, report.Origin{Section: "resources", Path: "/r.txt"},
			"resources/r.txt:1"},
		{"schema", "", files, false, report.Origin{Section: "schemas", Path: "/s.yml"}, "schemas/s.yml:1"},
		{"types", "", files, false, report.Origin{Section: "graphql"}, "graphql-schemas/schema.yml:1"},
		{"schemas elsewhere", "checkout: {schemas: ../s, graphql: ../g.yml}\n", nil, false,
			report.Origin{Section: "schemas", Path: "/s.yml"}, ":0"},
		{"types elsewhere", "checkout: {schemas: ../s, graphql: ../g.yml}\n", nil, false, report.Origin{Section: "graphql"},
			":0"},
		{"schemas of a bundle", "checkout: {schemas: bundle.json}\n", nil, false, report.Origin{Section: "graphql"}, ":0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := base, head
			if c.none {
				a, b = nil, nil
			}
			at := finder(t, c.settings, c.files, a, b).Locate(c.o)
			if got := fmt.Sprintf("%s:%d", at.Path, at.Line); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}

	l := finder(t, "", nil, base, head)
	for _, c := range []struct {
		pointer string
		yes, no []string
	}{
		{"/a~1b/x", []string{"red"}, []string{"1", "ana", "blue"}},
		{"/members/0", []string{"red"}, []string{"ana", "acme"}}, // bob.yml is not there
		{"/members", []string{"red"}, []string{"ana"}},
		{"/motto", []string{"red"}, nil},
	} {
		o := report.Origin{Section: "data", Path: "/team.yml", Pointer: c.pointer}
		for _, name := range append(c.yes, c.no...) {
			if got, want := l.Concerns(o, name),
				len(c.yes) > 0 && strings.Contains(strings.Join(c.yes, " "), name); got != want {
				t.Errorf("%s concerns %s: got %v", c.pointer, name, got)
			}
		}
	}
}

// A place names the files that it refers to.
func TestConcernsReference(t *testing.T) {
	at := func(to string) string { return `{"$schema":"/g","account":{"$ref":"` + to + `"},"x":1}` }
	accounts := map[string]string{"/a.yml": `{"$schema":"/a","name":"prod"}`, "/b.yml": `{"$schema":"/a","name":"stage"}`}
	base, head := map[string]string{"/g.yml": at("/a.yml")}, map[string]string{"/g.yml": at("/b.yml")}
	for name, text := range accounts {
		base[name], head[name] = text, text
	}
	l := finder(t, "", nil, bundled(t, base, nil), bundled(t, head, nil))
	o := report.Origin{Section: "data", Path: "/g.yml", Pointer: "/account"}
	if l.Concerns(o, "prod") || !l.Concerns(o, "stage") {
		t.Error("want it to concern stage and not prod")
	}
}

// Whatever the text and the pointer are, the line is one of the text.
func FuzzLines(f *testing.F) {
	f.Add(team, "/members/1")
	f.Add("&a [*a]", "/0/0/0")
	f.Add("---", "~1~0//")
	f.Add("{\"a\": \"\\/\"}\r\n", "/a")
	f.Fuzz(func(t *testing.T, text, pointer string) {
		l := finder(t, "", map[string]string{"data/x.yml": text}, nil, nil)
		at := l.Locate(report.Origin{Section: "data", Path: "/x.yml", Pointer: pointer})
		breaks := 1
		for _, r := range text {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
				breaks++
			}
		}
		if at.Path != "data/x.yml" || at.Line < 1 || at.Line > breaks {
			t.Errorf("%s:%d is no line of the %d", at.Path, at.Line, breaks)
		}
	})
}

// A randomDoc is a value with the text that it has in YAML and in a bundle.
type randomDoc struct {
	*rand.Rand
	next int
}

// value makes a mapping of values, mappings and lists of mappings.
func (d *randomDoc) value(depth int) map[string]any {
	out := map[string]any{}
	for i := range 1 + d.IntN(4) {
		d.next++
		key := fmt.Sprintf("k%d/~%d", i, d.next)
		switch d.IntN(3 + min(depth, 1)*2) {
		case 3:
			out[key] = d.value(depth - 1)
		case 4:
			var list []any
			for range 1 + d.IntN(4) {
				d.next++
				item := d.value(depth - 1)
				item["__identifier"] = fmt.Sprint("id", d.next)
				list = append(list, item)
			}
			out[key] = list
		default:
			out[key] = fmt.Sprintf("v%d", d.next)
		}
	}
	return out
}

// change returns a copy with other values, items gone, new and in another place.
func (d *randomDoc) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "__identifier" {
				out[key] = v[key]
			} else if d.IntN(8) > 0 {
				out[key] = d.change(v[key])
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			if d.IntN(5) > 0 {
				out = append(out, d.change(item))
			}
			if d.IntN(5) == 0 {
				d.next++
				out = append(out, map[string]any{"__identifier": fmt.Sprint("id", d.next), "new": fmt.Sprintf("v%d", d.next)})
			}
		}
		d.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	if d.IntN(4) == 0 {
		d.next++
		return fmt.Sprintf("v%d", d.next)
	}
	return v
}

// write appends the value as YAML, with comments between.
func (d *randomDoc) write(out *strings.Builder, v any, indent string) {
	if d.IntN(4) == 0 {
		out.WriteString("\n" + indent + "# a comment")
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "__identifier" {
				fmt.Fprintf(out, "\n%s%q:", indent, key)
				d.write(out, v[key], indent+"  ")
			}
		}
	case []any:
		for _, item := range v {
			out.WriteString("\n" + indent + "-")
			d.write(out, item, indent+"  ")
		}
	default:
		fmt.Fprintf(out, "\n%s%v", indent, v)
	}
}

// The line of a field with a new value is the one above that value, whatever
// happened around it.
func TestLinesOfRandomChanges(t *testing.T) {
	found := 0
	for seed := range uint64(150) {
		d := &randomDoc{Rand: rand.New(rand.NewPCG(seed, 1))}
		old := d.value(3)
		now, _ := d.change(old).(map[string]any)
		for _, v := range []map[string]any{old, now} {
			v["$schema"] = "/s.yml"
		}
		var text strings.Builder
		text.WriteString("---")
		d.write(&text, now, "")
		docs := make([]string, 2)
		for i, v := range []map[string]any{old, now} {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			docs[i] = string(raw)
		}
		base, head := bundled(t, map[string]string{"/x.yml": docs[0]}, nil), bundled(t, map[string]string{"/x.yml": docs[1]},
			nil)
		l := finder(t, "", map[string]string{"data/x.yml": text.String()}, base, head)
		rows := strings.Split(text.String(), "\n")
		for _, change := range bundle.Compare(base, head).Datafiles {
			for _, f := range change.FieldDiffs(1000) {
				var value string
				if f.Kind != bundle.Modified || json.Unmarshal([]byte(f.New), &value) != nil {
					continue
				}
				at := l.Locate(report.Origin{Section: "data", Path: "/x.yml", Pointer: f.Pointer})
				after := strings.Join(rows[at.Line:min(at.Line+3, len(rows))], "\n")
				if key := rows[at.Line-1]; !strings.HasSuffix(key, ":") || !strings.Contains(after+"\n", value+"\n") {
					t.Errorf("seed %d: %s became %s, got line %d, %q", seed, f.Pointer, value, at.Line, key)
				}
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d fields were looked at", found)
	}
}

// A finding is at its place in head, whatever the change does to the file.
func TestFind(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(team)))
	base := bundled(t, map[string]string{"/team.yml": `{"$schema":"/t.yml","name":"red"}`,
		"/gone.yml": `{"$schema":"/t.yml","name":"green"}`}, map[string]string{"/old.txt": "x"})
	head := bundled(t, map[string]string{
		"/team.yml": `{"$schema":"/t.yml","$file_sha256sum":"` + sum +
			`","name":"red","members":[{"$ref":"/users/bob.yml"},{"$ref":"/users/ana.yml"}],"a/b":{"x":1}}`,
		"/other.yml": `{"$schema":"/t.yml","$file_sha256sum":"1","name":"cyan"}`,
		"/both":      `{"$schema":"/t.yml","name":"cyan"}`,
	}, map[string]string{"/r.txt": "one\ntwo", "/both": "x"})
	files := map[string]string{"data/team.yml": team, "data/other.yml": "---\nname: cyan\n",
		"data/both": "\n\nname: cyan\n"}
	for _, c := range []struct {
		name, settings string
		files          map[string]string
		none           bool // no bundles
		file, pointer  string
		want           string
	}{
		{"a field", "", files, false, "/team.yml", "/a~1b/x", "data/team.yml:7"},
		{"an item", "", files, false, "/team.yml", "/members/1", "data/team.yml:6"},
		{"an item that is gone", "", files, false, "/team.yml", "/members/7", "data/team.yml:4"},
		{"the file", "", files, false, "/team.yml", "", "data/team.yml:2"},
		{"without bundles", "", files, true, "/team.yml", "/members/1", "data/team.yml:6"},
		{"a file that is not the one of head", "", files, false, "/other.yml", "/name", "data/other.yml:1"},
		{"a file that is gone", "", files, false, "/gone.yml", "/name", "data/gone.yml:1"},
		{"a resource", "checkout: {resources: c}\n", files, false, "/r.txt", "", "c/r.txt:1"},
		{"a resource that is gone", "", files, false, "/old.txt", "", "resources/old.txt:1"},
		{"a datafile and a resource", "", files, false, "/both", "/name", "data/both:3"},
		{"no checkout", "", nil, false, "/team.yml", "/a~1b/x", "data/team.yml:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := base, head
			if c.none {
				a, b = nil, nil
			}
			at := finder(t, c.settings, c.files, a, b).Find(c.file, c.pointer)
			if got := fmt.Sprintf("%s:%d", at.Path, at.Line); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
