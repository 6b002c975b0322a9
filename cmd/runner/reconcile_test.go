package main

import (
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

	"github.com/app-sre/prcheck/qontract/bundle"
	qontract "github.com/app-sre/prcheck/qontract/server"
)

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

// removeLeases removes the leases of a killed run: that of the run, and those of the parts that it
// wrote.
func removeLeases(t *testing.T, state string) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(state, "native", "*", "leases"))
	if err != nil {
		t.Error(err)
	}
	for _, folder := range append(folders, filepath.Join(state, "leases")) {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	}
}
