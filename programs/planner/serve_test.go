package planner

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/app-sre/prcheck/internal/cli"
)

// served is a bundle in which a user has a name.
func served(name string) string {
	return `{"data":{"/u.yml":{"$schema":"/u-1.yml","name":"` + name + `"}},"resources":{},"git_commit":"` + name +
		`","graphql":{"confs":[` +
		`{"name":"User_v1","fields":[{"name":"name","type":"string"}]},` +
		`{"name":"Query","fields":[{"name":"users","type":"User_v1","isList":true,"datafileSchema":"/u-1.yml"}]}]}}`
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A running is a server that was started as a command.
type running struct {
	url  string
	stop func() int // by the context; returns the exit code
}

// start runs planner serve at a free port until it says where.
func start(t *testing.T, env map[string]string, args ...string) running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, "planner", cli.Env{
			Args: append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), Stdin: strings.NewReader(""),
			Stdout: io.Discard, Stderr: write,
			Getenv: func(name string) string { return env[name] },
		}, runAll)
		write.Close()
	}()
	lines := bufio.NewReader(read)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(line, "planner: serving at ")
	if !ok {
		t.Fatalf("it says %q", line)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // or it could not say more
	return running{strings.TrimSuffix(strings.TrimSpace(url), "/graphql"), func() int {
		cancel()
		return <-code
	}}
}

func fetch(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// latest is the commit of the latest bundle.
func latest(t *testing.T, url string) string {
	t.Helper()
	_, commit := fetch(t, http.MethodGet, url+"/git-commit", "")
	return commit
}

func TestServeFiles(t *testing.T) {
	dir := t.TempDir()
	one, two := write(t, filepath.Join(dir, "one.json"), served("one")),
		write(t, filepath.Join(dir, "two.json"), served("two"))
	r := start(t, nil, "--bundle", one, "--bundle", two)
	status, body := fetch(t, http.MethodPost, r.url+"/graphql", `{"query":"{ users { name } }"}`)
	if want := `{"data":{"users":[{"name":"two"}]},"extensions":{"schemas":["/u-1.yml"]}}` + "\n"; status != 200 ||
		body != want {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
	write(t, two, served("three"))
	if status, _ := fetch(t, http.MethodPost, r.url+"/reload", ""); status != 200 || latest(t, r.url) != "three" {
		t.Errorf("reload: got %d, and %s is the latest", status, latest(t, r.url))
	}
	write(t, two, "{")
	if status, body := fetch(t, http.MethodPost, r.url+"/reload", ""); status != 503 || latest(t, r.url) != "three" {
		t.Errorf("broken reload: got %d %s", status, body)
	}
	if code := r.stop(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// The variables of qontract-server.
func TestServeEnvironment(t *testing.T) {
	dir := t.TempDir()
	one, two := write(t, filepath.Join(dir, "one.json"), served("one")),
		write(t, filepath.Join(dir, "two.json"), served("two"))
	for _, tt := range []struct {
		name            string
		env             map[string]string
		first, reloaded string
	}{
		{"load method", map[string]string{"LOAD_METHOD": "fs", "DATAFILES_FILE": one}, "one", "one"},
		{"initial bundles", map[string]string{"INIT_BUNDLES": "fs://" + one + ",fs://" + two, "BUNDLE_SHA_TTL": "1000"},
			"two", ""},
		{"both", map[string]string{"INIT_BUNDLES": "fs://" + two, "LOAD_METHOD": "fs", "DATAFILES_FILE": one}, "two", "one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, tt.env)
			if got := latest(t, r.url); got != tt.first {
				t.Errorf("got %s, want %s", got, tt.first)
			}
			status, _ := fetch(t, http.MethodPost, r.url+"/reload", "")
			if got := latest(t, r.url); status == 200 && got != tt.reloaded || status != 200 && tt.reloaded != "" {
				t.Errorf("reload: %d, got %s, want %q", status, got, tt.reloaded)
			}
			if code := r.stop(); code != cli.ExitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestServeS3(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("bundles"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(s.Close)
	for name, v := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
		"AWS_SECRET_ACCESS_KEY": "sesame",
		"AWS_CONFIG_FILE":       filepath.Join(t.TempDir(), "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(),
			"none"),
	} {
		t.Setenv(name, v)
	}
	put := func(key, name string) {
		text := served(name)
		if _, err := backend.PutObject("bundles", key, nil, strings.NewReader(text), int64(len(text)), nil); err != nil {
			t.Fatal(err)
		}
	}
	put("base.json", "one")
	put("head.json", "two")
	r := start(t, map[string]string{"INIT_BUNDLES": "s3://base.json,s3://head.json", "LOAD_METHOD": "s3",
		"AWS_S3_BUCKET": "bundles", "AWS_S3_KEY": "head.json"})
	if got := latest(t, r.url); got != "two" {
		t.Errorf("got %s, want two", got)
	}
	put("head.json", "three")
	if status, _ := fetch(t, http.MethodPost, r.url+"/reload", ""); status != 200 || latest(t, r.url) != "three" {
		t.Errorf("reload: got %d, and %s is the latest", status, latest(t, r.url))
	}
	if code := r.stop(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
	r = start(t, nil, "--bundle", "s3://bundles/base.json")
	if got := latest(t, r.url); got != "one" {
		t.Errorf("got %s, want one", got)
	}
	if code := r.stop(); code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

// The process ends well when it is asked to.
func TestServeSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process of Windows gets SIGTERM")
	}
	bundle := write(t, filepath.Join(t.TempDir(), "b.json"), served("one"))
	code := make(chan int, 1)
	read, write := io.Pipe()
	go func() {
		code <- cli.Main("planner", func(ctx context.Context, env cli.Env) error {
			env.Args, env.Stderr = []string{"serve", "--listen", "127.0.0.1:0", "--bundle", bundle}, write
			env.Getenv = func(string) string { return "" }
			return runAll(ctx, env)
		})
		write.Close()
	}()
	lines := bufio.NewScanner(read)
	if !lines.Scan() {
		t.Fatal("it says nothing")
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if got := <-code; got != cli.ExitOK {
		t.Errorf("exit code %d", got)
	}
}
