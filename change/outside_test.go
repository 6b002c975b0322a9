package change

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// Who may approve a file by its content is asked of what the bundles say, and of every other changed file: also of one
// that is called like a datafile and lies elsewhere, or that the bundle of one side does not have.
func TestOutside(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	git := func(args string) {
		t.Helper()
		if raw, err := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", root}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, raw)
		}
	}
	write := func(text string, names ...string) {
		t.Helper()
		for _, name := range names {
			at := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	git("init -q")
	files := []string{"config/data/a.yml", "data/a.yml", "resources/r.txt", "resources/left.txt", "tool.sh",
		"config/data/only-base.yml", "config/data/README"}
	write("1", files...)
	git("add .")
	git("-c user.name=a -c user.email=a@b commit -q -m base")
	git("tag base")
	write("2", append(files, "new.sh")...)
	git("add .")
	git("-c user.name=a -c user.email=a@b commit -q -m head")

	open := func(data, resources string) *bundle.Bundle {
		b, err := bundle.Parse([]byte(`{"data":{`+data+`},"resources":{`+resources+`},"graphql":[]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const r = `"/r.txt":{"path":"/r.txt","content":"1","sha256sum":"1"}`
	base := open(`"/a.yml":{"$schema":"/a-1.yml"},"/only-base.yml":{"$schema":"/a-1.yml"}`, r)
	head := open(`"/a.yml":{"$schema":"/a-1.yml"}`, r)
	for name, c := range map[string]struct {
		two  Two
		want []string
		none bool
	}{
		"folders of the settings": {Two{Base: "git:base@" + root, Head: "git:HEAD@" + root, InBase: base, InHead: head,
			Checkout: settings.Checkout{Data: "config/data", Resources: "resources"}},
			[]string{"config/data/README", "config/data/only-base.yml", "data/a.yml", "new.sh", "resources/left.txt",
				"tool.sh"}, false},
		"the usual folders": {Two{Base: "git:base@" + root, Head: "dir:" + root, InBase: base, InHead: head,
			Checkout: settings.Checkout{Data: "data", Resources: "resources"}},
			[]string{"config/data/README", "config/data/a.yml", "config/data/only-base.yml", "new.sh", "resources/left.txt",
				"tool.sh"}, false},
		"data outside of the repository": {Two{Base: "git:base@" + root, Head: "git:HEAD@" + root, InBase: base,
			InHead: head, Checkout: settings.Checkout{Data: "../data", Resources: "/resources"}},
			append(slices.Clone(files), "new.sh"), false},
		"bundle files": {Two{Base: "base.json", Head: "head.json", InBase: base, InHead: head}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			all, read, err := c.two.Outside(t.Context())
			if err != nil || (read == nil) != c.none {
				t.Fatal(read == nil, err)
			}
			var got []string
			for _, o := range all {
				got = append(got, o.Path)
				if isNew := o.Path == "new.sh"; isNew != (o.Old == nil) || string(o.New) != "2" {
					t.Errorf("%s: old %q, new %q", o.Path, o.Old, o.New)
				}
			}
			slices.Sort(c.want)
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
