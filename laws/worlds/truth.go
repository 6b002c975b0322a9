//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/server"
)

// An outcome is how a program ended in the files of a side.
type outcome struct {
	Code  int    `json:"code"`
	Lines string `json:"lines,omitempty"` // without addresses and folders
}

// A truth holds the outcomes of all programs on a side, and what the programs see there.
type truth struct {
	outcomes map[string]outcome
	seen     map[string]string
}

// openWorld runs a function with the address of a server over the data of a folder.
func openWorld(ctx context.Context, dir string, use func(address string) error) error {
	folder := bundler.Folder(dir)
	made, problems, err := bundler.Make(ctx, bundler.Input{
		Data:      bundler.TreePart{Tree: folder, Dir: "data", Shown: "data"},
		Resources: bundler.TreePart{Tree: folder, Dir: "resources", Shown: "resources", Optional: true},
		Schemas:   bundler.TreePart{Tree: folder, Dir: "schemas", Shown: "schemas"},
		GraphQL:   bundler.TreePart{Tree: folder, Dir: "graphql-schemas/schema.yml", Shown: "types"},
	}, bundler.Options{Workers: 1})
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("the data of the pair are wrong: %w", problems[0])
	}
	defer made.Close()
	var raw bytes.Buffer
	if _, err := made.WriteTo(&raw); err != nil {
		return err
	}
	b, err := bundle.Parse(raw.Bytes(), nil)
	if err != nil {
		return err
	}
	hub := server.NewHub(server.HubOptions{})
	if err := hub.Add(b); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- hub.Serve(ctx, listener) }()
	err = use("http://" + listener.Addr().String() + "/graphql")
	stop()
	return errors.Join(err, <-done)
}

// truthOf runs the programs of a pair in a checkout of a side. t is the tree of the side.
func truthOf(ctx context.Context, p pair, in place, dir, home, commit string, t tree) (truth, error) {
	out := truth{map[string]outcome{}, map[string]string{}}
	err := openWorld(ctx, dir, func(address string) error {
		answers := map[string]string{}
		answer := func(query string) string {
			if _, ok := answers[query]; !ok {
				answers[query] = ask(address, query)
			}
			return answers[query]
		}
		env := []string{"PATH=" + searchPath, "HOME=" + home, "GRAPHQL_SERVER=" + address, "PYTHONDONTWRITEBYTECODE=1"}
		if in == job {
			env = append(env, "CI_PROJECT_DIR="+dir)
		}
		for _, prog := range p.Programs {
			got, err := run(ctx, dir, env, prog.argv())
			if err != nil {
				return err
			}
			got.Lines = strings.NewReplacer(dir, "DIR", address, "URL").Replace(got.Lines)
			out.outcomes[prog.Name] = got
			out.seen[prog.Name] = prog.seen(t, p.Pool, answer, commit)
		}
		return nil
	})
	return out, err
}

// seen returns all that decides what the program does on a side, and what prcheck has to compare
// by its documents even if it does not matter to the program.
func (p program) seen(t, pool tree, answer func(string) string, commit string) string {
	parts := []string{fmt.Sprint(t["prcheck.yaml"]), fmt.Sprint(t["data/integrations/"+p.Name+".yml"])}
	if p.Language == python { // it lists the folder of its script when it looks for modules
		script := t.resolve(p.Start)
		parts = append(parts, fmt.Sprint(t[p.shadow()]), fmt.Sprint(t.entries(path.Dir(script))))
	}
	if p.Uses == "patterns" {
		for _, name := range t.matching(p.patterns(pool)) {
			parts = append(parts, fmt.Sprint(name, t[name]))
		}
	}
	for at := p.Start; at != ""; {
		parts = append(parts, fmt.Sprint(t[at]))
		next, ok := t.step(at)
		if !ok {
			break
		}
		parts, at = append(parts, next), next
	}
	for _, name := range p.queries() {
		parts = append(parts, fmt.Sprint(t[name]))
	}
	for _, b := range p.Blocks {
		parts = append(parts, b.seen(t, answer, commit))
	}
	return strings.Join(parts, "\x00")
}

// run runs a program to its end. A program that cannot be started has the code 126.
func run(ctx context.Context, dir string, env, argv []string) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // also on a busy machine
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the law made the program
	cmd.Dir, cmd.Env = dir, env
	apart(cmd)
	if !strings.Contains(argv[0], "/") { // the search path of programs, not that of the law
		cmd.Path, cmd.Err = found(argv[0])
	}
	raw, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return outcome{}, ctx.Err()
	case errors.As(err, &exit):
		return outcome{exit.ExitCode(), string(raw)}, nil
	case err != nil:
		return outcome{126, "cannot be started"}, nil
	}
	return outcome{0, string(raw)}, nil
}

// found returns the file of a command on the search path of programs.
func found(name string) (string, error) {
	for _, dir := range filepath.SplitList(searchPath) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name), nil
		}
	}
	return "", exec.ErrNotFound
}

// ask returns the answer of a server to a query, or what is wrong.
func ask(address, query string) string {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return err.Error()
	}
	resp, err := http.Post(address, "application/json", bytes.NewReader(body)) //nolint:gosec,noctx // the law's own server
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return fmt.Sprint(string(raw), err)
}
