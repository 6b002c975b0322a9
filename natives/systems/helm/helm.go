package helm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/rlimit"
)

// A Program is the program helm.
type Program struct {
	path    string
	timeout time.Duration
}

// Find returns the program of this machine, false if there is none.
func Find() (*Program, bool) {
	path, err := exec.LookPath("helm")
	if err != nil {
		return nil, false
	}
	return &Program{path: path, timeout: time.Minute}, true
}

// The bounds of a chart and of what it becomes.
const (
	maxChart  = 8 << 20
	maxOutput = 8 << 20
	maxError  = 4 << 10
	maxMemory = 2 << 30
)

// nameForm matches names of releases and namespaces.
var nameForm = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Template returns the YAML documents that a chart, given as its files by path, becomes with
// values. An error of the class transient is none of the chart. The words of other errors are
// those of the program, so they may have values.
func (p *Program) Template(ctx context.Context, chart map[string][]byte, values map[string]any,
	name, namespace string) (out []byte, err error) {
	if !nameForm.MatchString(name) || len(name) > 53 || !nameForm.MatchString(namespace) {
		return nil, fmt.Errorf("%.80q in %.80q is no name of a release", name, namespace)
	}
	folder, err := os.MkdirTemp("", "prcheck-helm-")
	if err != nil {
		return nil, lost("making a folder for the chart: %w", err)
	}
	defer func() {
		if failed := os.RemoveAll(folder); failed != nil && err == nil {
			out, err = nil, lost("removing the folder of the chart: %w", failed)
		}
	}()
	if err := write(folder, chart, values); err != nil {
		return nil, err
	}
	return p.run(ctx, folder, "template", name, "chart", "--namespace="+namespace, "--values=values.json")
}

// write writes the files of a chart and the values into a folder.
func write(folder string, chart map[string][]byte, values map[string]any) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return lost("opening the folder of the chart: %w", err)
	}
	defer root.Close()
	size := 0
	for _, name := range slices.Sorted(maps.Keys(chart)) {
		if !filepath.IsLocal(name) || path.Clean(name) != name || strings.Contains(name, `\`) {
			return fmt.Errorf("the chart has a file whose name %.200q leads out of its folder", name)
		}
		if size += len(chart[name]); size > maxChart {
			return fmt.Errorf("the chart is larger than %d MiB", maxChart>>20)
		}
		at := filepath.Join("chart", filepath.FromSlash(name))
		if err := root.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return fmt.Errorf("the chart has a file and a folder of one name %.200q", name)
		}
		if err := root.WriteFile(at, chart[name], 0o600); err != nil {
			return lost("writing a file of the chart: %w", err)
		}
	}
	raw, err := json.Marshal(values)
	if err == nil {
		err = root.WriteFile("values.json", raw, 0o600)
	}
	if err != nil {
		return lost("writing the values: %w", err)
	}
	return nil
}

// run runs the program in a folder.
func (p *Program) run(ctx context.Context, folder string, args ...string) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd := exec.CommandContext(bounded, p.path, args...)
	cmd.Dir = folder
	cmd.Env = []string{"HOME=" + folder, "HELM_CACHE_HOME=" + folder + "/.cache",
		"HELM_CONFIG_HOME=" + folder + "/.config", "HELM_DATA_HOME=" + folder + "/.data",
		"KUBECONFIG=" + folder + "/.none", "HELM_KUBEAPISERVER=https://127.0.0.1:1", "LC_ALL=C"}
	cmd.Env = append(cmd.Env, outward.Offline()...)
	out, printed := &limited{left: maxOutput}, &limited{left: maxError, cuts: true}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, printed, time.Second
	err := rlimit.Limits{Data: maxMemory, File: maxOutput}.Run(cmd)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case bounded.Err() != nil:
		return nil, fmt.Errorf("helm took longer than %s", p.timeout)
	case out.isFull:
		return nil, fmt.Errorf("the chart becomes more than %d MiB", maxOutput>>20)
	case err == nil:
		return out.kept.Bytes(), nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() < 0 {
		return nil, lost("running helm: %w", err)
	}
	text := strings.ReplaceAll(printed.kept.String(), folder+"/", "")
	text, _, _ = strings.Cut(text, "\nUse --debug")
	return nil, fmt.Errorf("helm: %s", strings.Join(strings.Fields(text), " "))
}

// lost returns an error of the class transient.
func lost(format string, args ...any) error {
	return integration.Failure(integration.FailureTransient, fmt.Errorf(format, args...))
}

// A limited buffer keeps a number of bytes. It refuses more, or cuts them off.
type limited struct {
	kept         bytes.Buffer // not embedded: its ReadFrom would go around Write
	left         int
	cuts, isFull bool
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.kept.Write(p[:n])
	if n < len(p) && !l.cuts {
		l.isFull = true
		return n, errors.New("it is too long")
	}
	return len(p), nil
}
