package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var platforms = flag.String("platforms", "",
	"platforms such as darwin/amd64,linux/arm64 for which TestPlatforms checks the code")

// TestPlatforms checks that all code, tests included, has the right types on other
// platforms: that no test for all systems names syscall.Kill, for instance, which Windows
// lacks. go vet for a platform finds the same, but compiles each library for it first, which
// takes minutes. This test reads the libraries, without the bodies of their functions.
func TestPlatforms(t *testing.T) {
	if *platforms == "" {
		t.Skip("-platforms names no platform")
	}
	code := sourceFiles{set: token.NewFileSet(), files: map[string]*ast.File{}}
	for platform := range strings.SplitSeq(*platforms, ",") {
		for _, mistake := range code.check(t, platform, "./...") {
			t.Errorf("%s: %v", platform, mistake)
		}
	}
}

// The check must be able to fail.
func TestPlatformsFail(t *testing.T) {
	if *platforms == "" {
		t.Skip("-platforms names no platform")
	}
	code := sourceFiles{set: token.NewFileSet(), files: map[string]*ast.File{}}
	if got := code.check(t, "linux/amd64", "./internal/layers/testdata/platforms"); len(got) != 0 {
		t.Errorf("linux: got %v", got)
	}
	got := code.check(t, "windows/amd64", "./internal/layers/testdata/platforms")
	if len(got) != 1 || !strings.Contains(got[0].Error(), "undefined: syscall.Kill") {
		t.Errorf("windows: got %v", got)
	}
}

// A goPackage is what go list says of a package. A package with tests is goPackage again with the
// files of its tests, as "path [path.test]".
type goPackage struct {
	ImportPath, Dir   string
	GoFiles           []string
	ImportMap         map[string]string
	Standard, DepOnly bool
}

// SourceFiles are the files that were read, for all platforms.
type sourceFiles struct {
	set   *token.FileSet
	files map[string]*ast.File
}

// check returns the mistakes of our code on a platform.
func (s sourceFiles) check(t *testing.T, platform, patterns string) []error {
	t.Helper()
	system, processor, _ := strings.Cut(platform, "/")
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	var mistakes []error
	for _, p := range list(t, system, processor, patterns) {
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the second is generated
			continue
		}
		ours := strings.HasPrefix(p.ImportPath, module)
		config := types.Config{
			IgnoreFuncBodies: !ours, FakeImportC: true,
			Sizes: types.SizesFor("gc", processor),
			Importer: importer(func(path string) (*types.Package, error) {
				if to, ok := p.ImportMap[path]; ok {
					path = to
				}
				if known := checked[path]; known != nil {
					return known, nil
				}
				return nil, errors.New("go list does not name " + path)
			}),
			Error: func(err error) {
				if ours {
					mistakes = append(mistakes, err)
				}
			},
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		checked[p.ImportPath], _ = config.Check(path, s.set, s.parse(t, p), nil) // the errors are in mistakes
	}
	return mistakes
}

// An importer finds the package of an import.
type importer func(path string) (*types.Package, error)

// Import calls the function.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }

// list returns the packages that match, with all that they import first, and their tests.
func list(t *testing.T, system, processor, patterns string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard,DepOnly",
		patterns)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// parse reads the files of a package, each once.
func (s sourceFiles) parse(t *testing.T, p goPackage) []*ast.File {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f := s.files[name]
		if f == nil {
			var err error
			if f, err = parser.ParseFile(s.set, name, nil, parser.SkipObjectResolution); err != nil {
				t.Fatal(err)
			}
			s.files[name] = f
		}
		files = append(files, f)
	}
	return files
}
