package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A truth is how each program ends in the files of one side: "" if it passes, or else what it
// says.
type truth map[string]string

// A side is one side of a change, in a checkout that git made.
type side struct {
	dir  string
	home string
}

// layBase checks base out into a folder of its own.
func (repo *repository) layBase(home string) (side, error) {
	s := side{filepath.Join(home, "truth-base"), home}
	if err := repo.git("clone", "-q", "--shared", "--no-checkout", repo.dir, s.dir); err != nil {
		return s, err
	}
	at := &repository{dir: s.dir}
	return s, at.git("checkout", "-q", "--detach", repo.revision("main"))
}

// layHead copies the checkout with all that lies in it.
func (repo *repository) layHead(home, name string) (side, error) {
	s := side{filepath.Join(home, name), home}
	out, err := exec.Command("cp", "-a", repo.dir, s.dir).CombinedOutput()
	if err != nil {
		return s, fmt.Errorf("copying the checkout: %w: %s", err, out)
	}
	return s, nil
}

// run runs programs in the files of a side. Each starts in a copy of its own.
func (s side) run(programs []program) (truth, error) {
	out := truth{}
	for i, p := range programs {
		dir := filepath.Join(s.home, fmt.Sprintf("%s-%d", filepath.Base(s.dir), i))
		if raw, err := exec.Command("cp", "-a", s.dir, dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("copying: %w: %s", err, raw)
		}
		said, err := runProgram(p, dir, s.home)
		if err != nil {
			return nil, err
		}
		out[p.name] = strings.ReplaceAll(said, dir, "ROOT")
		_ = os.RemoveAll(dir)
	}
	return out, nil
}

// runClean runs programs in the files of a side without those that git ignores.
func (s side) runClean(programs []program) (truth, error) {
	if err := (&repository{dir: s.dir}).git("clean", "-fdXq"); err != nil {
		return nil, err
	}
	return s.run(programs)
}

// runProgram runs a program in a folder, with a server that knows the people in it.
func runProgram(p program, dir, home string) (said string, err error) {
	more := []string{"PYTHONDONTWRITEBYTECODE=1"}
	if p.asks() {
		address, stop, err := servePeople(filepath.Join(dir, "data", "people"))
		if err != nil {
			return "", err
		}
		defer stop()
		more = append(more, "GRAPHQL_SERVER="+address)
	}
	cmd := exec.Command("sh", p.path())
	cmd.Dir, cmd.Env = dir, environment(home, more...)
	raw, err := cmd.CombinedOutput()
	if err == nil {
		return "", nil
	}
	return fmt.Sprintf("%s%v", raw, err), nil
}

// servePeople serves the people of a folder to every question.
func servePeople(folder string) (address string, stop func(), err error) {
	var people []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", nil, err
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return "", nil, err
		}
		title := "null"
		for line := range strings.Lines(string(raw)) {
			if t, ok := strings.CutPrefix(line, "title: "); ok {
				title = fmt.Sprintf("%q", strings.TrimSpace(t))
			}
		}
		people = append(people, fmt.Sprintf(`{"name": "x", "title": %s}`, title))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	answer := `{"data": {"people": [` + strings.Join(people, ",") + `]}}`
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, answer) })}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String() + "/graphql", func() { _ = server.Close() }, nil
}
