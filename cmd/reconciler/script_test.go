package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/internal/script"
	"github.com/app-sre/prcheck/qontract/bundle"
	qontract "github.com/app-sre/prcheck/qontract/server"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// Each script runs in a folder with the base bundle of the shop. The folders office, cloud and specs hold these
// examples.
func TestScripts(t *testing.T) {
	examples := func(e *testscript.Env) error {
		raw, err := os.ReadFile("../../testdata/shop/base.json")
		if err != nil {
			return err
		}
		for _, name := range []string{"office", "cloud", "specs"} {
			if err := os.CopyFS(filepath.Join(e.WorkDir, name), os.DirFS("../../examples/"+name)); err != nil {
				return err
			}
		}
		return os.WriteFile(filepath.Join(e.WorkDir, "base.json"), raw, 0o600)
	}
	script.Run(t, *update, examples, map[string]script.Command{"serve": serveShop, "port": port, "probe": probe,
		"bucket": bucket, "startcloud": startCloud})
}

// serve FILE starts a qontract-server with a bundle of the shop, and sets the variable SERVER.
func serveShop(ts *testscript.TestScript, _ bool, args []string) {
	b, err := bundle.Open(filepath.Join("../../testdata/shop", args[0]), nil)
	ts.Check(err)
	hub := qontract.NewHub(qontract.HubOptions{})
	ts.Check(hub.Add(b))
	at := httptest.NewServer(hub)
	ts.Defer(at.Close)
	ts.Setenv("SERVER", at.URL)
}

// port VARIABLE sets a variable to an address of this machine that nobody listens at.
func port(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], l.Addr().String())
}

// probe ADDRESS PATH TEXT asks a program until its answer contains a text, and prints the answer.
func probe(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		res, err := http.Get("http://" + args[0] + args[1])
		if err != nil {
			continue
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err == nil && strings.Contains(string(raw), args[2]) {
			_, err = fmt.Fprintf(ts.Stdout(), "%s\n%s", res.Status, raw)
			ts.Check(err)
			return
		}
	}
	ts.Fatalf("%s%s does not say %q", args[0], args[1], args[2])
}

// bucket FAULT starts an S3 server with the empty bucket "memory" and a fault: none, or it is down.
func bucket(ts *testscript.TestScript, _ bool, args []string) {
	fake := fakes3.New()
	if args[0] == "down" {
		fake.Fail(func(*http.Request) fakes3.Fault { return fakes3.Fault{Status: http.StatusServiceUnavailable} })
	}
	at := httptest.NewServer(fake)
	ts.Defer(at.Close)
	fake.URL = at.URL
	for name, value := range fake.Environ() {
		ts.Setenv(name, value)
	}
}
