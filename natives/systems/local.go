package systems

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/safepath"
)

// files is a folder with a file PATH/FIELD for each secret.
type files struct{ folder string }

func (f files) read(_ context.Context, ref integration.SecretRef) (string, error) {
	raw, err := f.content(path.Join(ref.Path, ref.Field))
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no such file")
	}
	if err != nil {
		return "", asConfig(fmt.Errorf("reading it below the folder %q: %w", f.folder, err))
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}

// content returns the content of a file below the folder.
func (f files) content(name string) ([]byte, error) {
	root, err := safepath.OpenFolder(f.folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if !safepath.IsGuarded(f.folder) {
		return readIn(root, name, (*os.Root).Open) // follows the links that stay below the folder, as Kubernetes makes them
	}
	below, err := safepath.Below(root, path.Dir(name), false)
	if err != nil {
		return nil, err
	}
	defer below.Close()
	return readIn(below, path.Base(name), safepath.OpenIn)
}

// readIn reads a file of an open folder. It waits for nobody: a pipe is an error.
func readIn(root *os.Root, name string, open func(*os.Root, string) (*os.File, error)) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := open(root, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxSecret+3)) // line breaks at the end are cut off
}

// readFile reads a short file that the settings name.
func readFile(name string) (string, error) {
	root, base, err := safepath.OpenParent(name)
	if err != nil {
		return "", err
	}
	defer root.Close()
	raw, err := readIn(root, base, safepath.OpenIn)
	return strings.TrimSpace(string(raw)), err
}

// variables are secrets in variables of the environment.
type variables struct {
	prefix string
	getenv func(string) string

	mu      sync.Mutex
	readFor map[string]integration.SecretRef // by variable; two secrets cannot have the same
}

func (v *variables) read(_ context.Context, ref integration.SecretRef) (string, error) {
	ref.Version = "" // a variable has only one
	name := variableName(v.prefix, ref)
	v.mu.Lock()
	defer v.mu.Unlock()
	other, ok := v.readFor[name]
	switch {
	case ok && other != ref:
		return "",
			asConfig(fmt.Errorf("the variable %s would be that of the secret %.200q, field %.100q, as well: rename one of them",
				name, other.Path, other.Field))
	case !ok && len(v.readFor) >= maxSecrets:
		return "", wrong(fmt.Sprintf("more than %d secrets are asked for", maxSecrets))
	}
	v.readFor[name] = ref
	value := v.getenv(name)
	if value == "" {
		return "", asConfig(fmt.Errorf("the variable %s is not set", name))
	}
	return value, nil
}

// variableName returns the name of the variable of a secret, such as APP_TEAM_CREDS_TOKEN.
func variableName(prefix string, ref integration.SecretRef) string {
	return prefix + "_" + strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			return c
		default:
			return '_'
		}
	}, ref.Path+"_"+ref.Field)
}
