package main

import (
	"encoding/base64"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/internal/script"
)

var genericKills = flag.Int("generic-kills", 1,
	"how many runs TestGenericKilledAtRandom kills; 200 are the judged ones, best with -parallel 8")

// The secrets of a cloudShop. No output may hold them.
const (
	cloudToken    = "cloudCanaryToken7Qx"
	cloudPassword = "cloudCanaryPassword3Zk"
)

// startcloud serves the simulated cloud for the folder cloud of a script.
func startCloud(ts *testscript.TestScript, _ bool, _ []string) {
	service, err := armtest.Example()
	ts.Check(err)
	service.Token = cloudToken
	at := httptest.NewServer(service)
	ts.Defer(at.Close)
	file := ts.MkAbs("cloud/data/cloud/api.yml")
	text := strings.ReplaceAll(ts.ReadFile("cloud/data/cloud/api.yml"), "http://127.0.0.1:8089", at.URL)
	ts.Check(os.WriteFile(file, []byte(text), 0o600))
	ts.Setenv("PRCHECK_CLOUD_EXAMPLE_TOKEN", cloudToken)
	ts.Setenv("PRCHECK_CLOUD_SESSIONS_PASSWORD", cloudPassword)
	ts.Setenv("PRCHECK_CLOUD_WEB_PASSWORD", cloudPassword)
}

// A cloudShop is examples/cloud with the simulated cloud on this machine.
type cloudShop struct {
	dir   string
	cloud *armtest.Server
	env   []string
}

func newCloudShop(t *testing.T) *cloudShop {
	t.Helper()
	s := &cloudShop{dir: t.TempDir(), cloud: armtest.New(t)}
	s.cloud.Token = cloudToken
	if err := os.CopyFS(s.dir, os.DirFS("../../examples/cloud")); err != nil {
		t.Fatal(err)
	}
	s.edit(t, "data/cloud/api.yml", "http://127.0.0.1:8089", s.cloud.URL)
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PRCHECK_CLOUD_EXAMPLE_TOKEN=" + cloudToken,
		"PRCHECK_CLOUD_SESSIONS_PASSWORD=" + cloudPassword, "PRCHECK_CLOUD_WEB_PASSWORD=" + cloudPassword,
		"GORACE=atexit_sleep_ms=0",
	}
	return s
}

// edit replaces a text in a file of the checkout.
func (s *cloudShop) edit(t *testing.T, name, from, to string) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	text := read(t, path)
	if !strings.Contains(text, from) {
		t.Fatalf("%s has no %q", name, from)
	}
	write(t, path, strings.ReplaceAll(text, from, to))
}

// command returns a run of the integration.
func (s *cloudShop) command(t *testing.T, flags ...string) *exec.Cmd {
	t.Helper()
	args := []string{"run", "generic", "--bundle", "dir:.", "--config", "prcheck.yaml", "--state", "state", "--no-cache"}
	cmd := exec.CommandContext(t.Context(), script.Program(t, "reconciler"), append(args, flags...)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// run runs the integration, and returns exit code and all output. It holds the output to have no
// secrets.
func (s *cloudShop) run(t *testing.T, flags ...string) (int, string) {
	t.Helper()
	code, text := script.Output(t, s.command(t, flags...))
	s.checkSecrets(t, text)
	return code, text
}

// checkSecrets holds a text, and all files that a run has written, to have no secrets.
func (s *cloudShop) checkSecrets(t *testing.T, text string) {
	t.Helper()
	texts := map[string]string{"the output": text}
	for _, part := range []string{"state", "metrics", "report", "journal"} {
		err := filepath.WalkDir(filepath.Join(s.dir, part), func(path string, d os.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			texts[path] = string(raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		for _, secret := range []string{cloudToken, cloudPassword} {
			if how := script.Holds(text, secret); how != "" {
				t.Errorf("%s holds %q, %s:\n%s", name, secret, how, text)
			}
		}
	}
}

// The example is tried out by the program: a plan, a run, a quiet second run, a change that cannot
// be made in place, and a resource that goes.
func TestReconcileGeneric(t *testing.T) {
	s := newCloudShop(t)
	code, text := s.run(t, "--dry-run")
	if code != 0 ||
		!strings.Contains(text, "create /subscriptions/s1/resourcegroups/shop/providers/example.cache/caches/sessions") ||
		len(s.cloud.Writes()) > 0 {
		t.Fatalf("the dry run: %d %v\n%s", code, s.cloud.Writes(), text)
	}
	if code, text = s.run(t, "--no-dry-run"); code != 0 || len(s.cloud.IDs()) != 7 {
		t.Fatalf("the run: %d %q\n%s", code, s.cloud.IDs(), text)
	}
	const cache = "/subscriptions/s1/resourceGroups/shop/providers/Example.Cache/caches/sessions"
	properties, _ := s.cloud.Object(cache)["properties"].(map[string]any)
	if properties["adminPassword"] != cloudPassword || !strings.HasSuffix(strings.ToLower(properties["subnetId"].(string)),
		"/networks/shop/subnets/data") {
		t.Errorf("the cache has %v", properties)
	}
	s.cloud.Forget()
	if code, text = s.run(t, "--no-dry-run"); code != 0 || len(s.cloud.Writes()) > 0 {
		t.Errorf("the second run: %d %v\n%s", code, s.cloud.Writes(), text)
	}
	s.edit(t, "data/cloud/cache.yml", "West US", "East US")
	s.cloud.Forget()
	if code, text = s.run(t, "--no-dry-run"); code != 1 || !strings.Contains(text, "CREATE_ONLY") ||
		len(s.cloud.Writes()) > 0 {
		t.Errorf("another location: %d %v\n%s", code, s.cloud.Writes(), text)
	}
	s.edit(t, "data/cloud/cache.yml", "East US", "westus")
	s.edit(t, "data/cloud/rule.yml", "name: office", "name: office\ndelete: true")
	if code, text = s.run(t, "--no-dry-run"); code != 0 || len(s.cloud.IDs()) != 6 {
		t.Errorf("a rule goes: %d %q\n%s", code, s.cloud.IDs(), text)
	}
}

// A cloudStep is a change of the data of a cloudShop, with how many resources are there after it.
type cloudStep struct {
	file, from, to string
	want           int
}

// cloudSteps make, update, delete and make again.
var cloudSteps = []cloudStep{
	{"data/cloud/cache.yml", "capacity: 1", "capacity: 1", 7},
	{"data/cloud/cache.yml", "capacity: 1", "capacity: 2", 7},
	{"data/cloud/network.yml", "team: shop", "team: web", 7},
	{"data/cloud/rule.yml", "name: office", "name: office\ndelete: true", 6},
	{"data/cloud/rule.yml", "\ndelete: true", "", 7},
	{"data/cloud/machines.yml", `version: "12.1"`, `version: "12.2"`, 7},
}

// A run that is killed at any moment is followed by one that puts everything right: nothing is
// there twice or without an owner, and no operation is started while one is running.
func TestGenericKilledAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	var killed atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for range *genericKills {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				if killed.Load() >= int64(*genericKills) {
					return
				}
				s := newCloudShop(t)
				s.cloud.Slow(time.Second, time.Second)
				for _, step := range cloudSteps {
					if killed.Load() < int64(*genericKills) {
						s.edit(t, step.file, step.from, step.to)
						killed.Add(s.kill(t))
						s.converge(t, step.want)
					}
				}
			})
		}
	})
	t.Logf("%d runs were killed", killed.Load())
}

// kill starts up to three runs, one after the other, and kills each at a random moment. It returns
// how many died; a run that ends by itself leaves nothing to do.
func (s *cloudShop) kill(t *testing.T) (died int64) {
	t.Helper()
	for died < 3 {
		run := s.command(t, "--no-dry-run")
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(2 * time.Second))
		_ = run.Process.Kill()
		_ = run.Wait()
		removeLeases(t, filepath.Join(s.dir, "state")) // or the next run waits for a minute
		if run.ProcessState.Exited() {
			break
		}
		died++
	}
	return died
}

// converge runs the integration until it has nothing left to do, and holds so many resources to be
// there, none of them made twice and none written while an operation was running at it.
func (s *cloudShop) converge(t *testing.T, want int) {
	t.Helper()
	for range 3 {
		if code, _ := s.run(t, "--no-dry-run"); code == 0 {
			break
		}
	}
	s.cloud.Forget()
	if code, text := s.run(t, "--no-dry-run"); code != 0 || len(s.cloud.Writes()) > 0 || len(s.cloud.IDs()) != want {
		t.Fatalf("it does not end: %d %v %q\n%s", code, s.cloud.Writes(), s.cloud.IDs(), text)
	}
	if overlaps := s.cloud.Overlaps(); len(overlaps) > 0 {
		t.Errorf("writes while an operation was running: %v", overlaps)
	}
	var made []string
	for _, op := range s.cloud.Operations() {
		if op.Verb == "POST" {
			made = append(made, op.ID)
		}
	}
	if slices.Sort(made); len(made) != len(slices.Compact(slices.Clone(made))) {
		t.Errorf("made twice: %q", made)
	}
}

// The encodings in which a secret is looked for are found.
func TestCloudCanary(t *testing.T) {
	for _, text := range []string{cloudToken, base64.StdEncoding.EncodeToString([]byte("Bearer " + cloudToken)),
		hex.EncodeToString([]byte(cloudToken))} {
		if script.Holds(text, cloudToken) == "" {
			t.Errorf("nothing is found in %s", text)
		}
	}
}
