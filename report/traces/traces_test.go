package traces_test

import (
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/report/traces"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/trace"
)

func of(shard string, fields map[bundle.SchemaPath][]string) *trace.Trace {
	t := &trace.Trace{TaskKey: trace.TaskKey{Integration: "dns", Shard: shard}, Recorded: time.Unix(0, 0).UTC()}
	for s := range fields {
		t.Schemas = append(t.Schemas, s)
	}
	t.Fields = fields
	return t
}

func TestSuggest(t *testing.T) {
	b, err := bundle.Parse(
		[]byte(
			`{"data": {"/dns.yml": {"$schema": "/app-sre/integration-1.yml", "name": "dns", "schemas": ["/a.yml", "/b.yml"],
		"pr_check": {"cmd": "dns"}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := integration.List(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		traces []*trace.Trace
		want   []string
		not    string
	}{
		{"one run", []*trace.Trace{of("", map[bundle.SchemaPath][]string{"/a.yml": {"x", "name"}})},
			[]string{"# dns: what was read in 1 remembered run\n", "# never read: /b.yml\n", "# read of /a.yml: name, x\n",
				"- /a.yml\n"}, "single shards"},
		{"shards", []*trace.Trace{of("s", map[bundle.SchemaPath][]string{"/a.yml": {"x"}}),
			of("t", map[bundle.SchemaPath][]string{"/a.yml": {"y"}, "/b.yml": nil})},
			[]string{"in 2 remembered runs\n# of single shards only; other shards may need more\n", "# read of /a.yml: x, y\n",
				"# read of /b.yml: \n", "- /b.yml\n"}, "never read"},
		{"one shard and the whole", []*trace.Trace{of("s", nil), of("", nil)},
			[]string{"# never read: /a.yml\n# never read: /b.yml\n"}, "single shards"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := traces.Suggest(list[0], c.traces)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got\n%s\nwant %q", got, want)
				}
			}
			if strings.Contains(got, c.not) {
				t.Errorf("got\n%s\nwith %q", got, c.not)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	var out strings.Builder
	tr := of("s", nil)
	tr.Requests = []trace.RecordedRequest{{Side: trace.Head, Query: "{ x }"}}
	if err := traces.Write(&out, tr, time.Unix(90, 0)); err != nil {
		t.Fatal(err)
	}
	if want := "\nTrace of shard \"s\", recorded 1970-01-01T00:00:00Z (1m30s ago), 1 requests\n  head    "; !strings.HasPrefix(out.String(), want) {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// Each name is told with how it was used; names do not leave their line.
func TestWriteFiles(t *testing.T) {
	read := files.List{
		{Path: ".git", Found: "commit 1"}, {Path: "conf", Lists: true, Found: "folder 2"}, {Path: "data", Found: "folder"},
		{Path: "no\nne", Found: "missing"}, {Path: "run.sh", Found: "100755 3"},
	}
	for _, c := range []struct {
		id   files.ID
		read files.List
		why  string
		want string
	}{
		{read.ID(), read, "",
			"It used 5 names of the repository:\n  git     .git\n  list    conf\n  folder  data\n  vain    no ne\n  file    run.sh\n"},
		{read.ID(), nil, "it is gone", "The list of the files that it read cannot be shown: it is gone\n"},
		{files.All("x"), nil, "", "All files of the repository count, since nobody recorded which of them it read\n"},
		{files.Declared, nil, "", "The files count that the settings declare\n"},
		{"", nil, "", ""},
	} {
		var got strings.Builder
		if err := traces.WriteFiles(&got, c.id, c.read, c.why); err != nil || got.String() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s%v", c.id, got.String(), c.want, err)
		}
	}
}
