package natives_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Somebody follows docs/natives.md in an empty folder outside of this repository: the programs that are built there
// plan, prove, dry-run and reconcile with a native that prcheck does not know.
func TestRepositoryOfYourOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/natives.md")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	service := newService(t)
	r := repository{dir: t.TempDir(), environ: append(os.Environ(), "SHELVES="+service.url, "GOFLAGS=-mod=mod",
		"GOWORK=off",
		"GOCACHE="+strings.TrimSpace(string(cache)), "XDG_CACHE_HOME="+t.TempDir())}
	code := regexp.MustCompile("(?s)```go\n(.*?)```\n").FindAllStringSubmatch(string(page), -1)
	settings := regexp.MustCompile("(?s)```yaml\n(version: 1.*?)```\n").FindStringSubmatch(string(page))
	blocks := regexp.MustCompile("(?s)<!-- not run: the test of natives runs it, [^\n]*-->\n```sh\n(.*?)```\n").
		FindAllStringSubmatch(string(page), -1)
	if len(code) < 4 || len(settings) == 0 || len(blocks) != 2 {
		t.Fatalf("docs/natives.md has %d blocks of Go, %d of settings and %d of commands for this test", len(code),
			len(settings), len(blocks))
	}
	r.write(t, "shelves/shelves.go", code[0][1])
	for _, block := range code[1:4] {
		name, rest, _ := strings.Cut(strings.TrimPrefix(block[1], "// "), "\n")
		r.write(t, name, rest)
	}
	r.write(t, "prcheck.yaml", settings[1])
	for _, name := range []string{"base.json", "head.json"} {
		r.write(t, name, r.read(t, filepath.Join(checkout, "examples", "shop", name)))
	}
	for _, line := range strings.Split(strings.TrimSpace(blocks[0][1]), "\n") {
		if strings.HasPrefix(line, "go get") || line == "go mod tidy" { // this checkout, and what it is built with
			r.use(t, checkout)
			continue
		}
		r.run(t, line)
	}
	said := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(blocks[1][1]), "\n") {
		said[strings.Join(strings.Fields(line)[:2], " ")] = r.run(t, line)
	}
	for command, want := range map[string]string{
		"bin/planner verify":  "0 refuted",
		"bin/runner precheck": "harbor",
		"bin/reconciler run":  "done",
	} {
		if !strings.Contains(said[command], want) {
			t.Errorf("%s lacks %q:\n%s", command, want, said[command])
		}
	}
	if got := service.names(); len(got) != 3 {
		t.Errorf("the service has %q, want the three warehouses of head", got)
	}
	if got := r.run(t, "bin/planner explain --plan plan.json warehouse-stock"); !strings.Contains(got,
		`its desired state differs for shard "all" only`) {
		t.Errorf("explain: %s", got)
	}
	if got := r.run(t, "bin/runner precheck --base head.json --head head.json --config prcheck.yaml"); strings.Contains(
		got, "warehouse-stock/") {
		t.Errorf("it runs although nothing changed: %s", got)
	}
	r.checkout(t, filepath.Join(checkout, "examples", "office"),
		"version: 1\nexec: {argv: [echo, '{name}']}\nintegrations: {mailing-list: {native: warehouse-shelves}}\n")
	if got := r.run(t, "bin/planner doctor"); !strings.Contains(got, "ok    settings") ||
		!strings.Contains(got, "ok    programs") {
		t.Errorf("doctor: %s", got)
	}
}

// A repository is the folder of somebody else.
type repository struct {
	dir     string
	environ []string
}

func (r repository) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (repository) read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// use makes a checkout the version of prcheck, with the versions of libraries that it has.
func (r repository) use(t *testing.T, checkout string) {
	t.Helper()
	const module = "github.com/app-sre/prcheck"
	r.run(t, "go mod edit -require "+module+"@v0.0.0 -replace "+module+"="+checkout)
	r.write(t, "go.sum", r.read(t, filepath.Join(checkout, "go.sum")))
}

// checkout puts an example into the folder, with other settings, and commits it.
func (r repository) checkout(t *testing.T, example, settings string) {
	t.Helper()
	for _, dir := range []string{"data", "schemas", "graphql-schemas"} {
		if err := os.CopyFS(filepath.Join(r.dir, dir), os.DirFS(filepath.Join(example, dir))); err != nil {
			t.Fatal(err)
		}
	}
	r.write(t, "prcheck.yaml", settings)
	for _, line := range []string{
		"git init --quiet --initial-branch main", "git add data schemas graphql-schemas prcheck.yaml",
		"git -c user.name=Ana -c user.email=ana@example.org commit --quiet --message office",
	} {
		r.run(t, line)
	}
}

func (r repository) run(t *testing.T, line string) string {
	t.Helper()
	var out, told bytes.Buffer
	words := strings.Fields(line)
	name := words[0]
	if strings.HasPrefix(name, "bin/") {
		name = filepath.Join(r.dir, filepath.FromSlash(name))
	}
	cmd := exec.CommandContext(t.Context(), name, words[1:]...) //nolint:gosec // commands of a page of this repository
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, r.environ, &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, &out, &told)
	}
	return out.String() + told.String()
}

// A service keeps warehouses, as the integration of the page wants it.
type service struct {
	url   string
	mu    sync.Mutex
	there map[string]map[string]any
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{there: map[string]map[string]any{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/warehouses"
	return s
}

func (s *service) names() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.there {
		out = append(out, name)
	}
	return out
}

// ServeHTTP implements [http.Handler]: a list, and single warehouses with a version as the precondition.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/warehouses"), "/")
	var answer any = s.there[name]
	switch version := "1"; {
	case name == "":
		list := []any{}
		for _, is := range s.there {
			list = append(list, is)
		}
		answer = list
	case r.Method == http.MethodGet && s.there[name] == nil:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method == http.MethodPut:
		if s.there[name] == nil {
			version = "none"
		}
		var to map[string]any
		if err := json.NewDecoder(r.Body).Decode(&to); err != nil || r.Header.Get("If-Match") != version {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		to["version"] = "1"
		s.there[name] = to
	}
	_ = json.NewEncoder(w).Encode(answer) // the client sees a cut answer
}
