package layers

import (
	"go/ast"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every stop of docs/walks.md is a file that declares its name: a function, or Type.Method.
func TestWalks(t *testing.T) {
	tree := os.DirFS("../..")
	text, err := fs.ReadFile(tree, "docs/walks.md")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := parse(tree)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]source{}
	for _, s := range sources {
		files[s.name] = s
	}
	stops := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| [^|]+ \\|$").FindAllStringSubmatch(string(text), -1)
	if walks := strings.Count(string(text), "\n## "); walks != 5 || len(stops) < 5*walks {
		t.Errorf("%d walks with %d stops, want five with five or more each", walks, len(stops))
	}
	for _, stop := range stops {
		s, ok := files[stop[1]]
		if !ok || !declares(s, stop[2]) {
			t.Errorf("docs/walks.md: %s does not declare %s", stop[1], stop[2])
		}
	}
}

// declares reports whether a file declares a function, or a method of a type.
func declares(s source, name string) bool {
	of, method, isMethod := strings.Cut(name, ".")
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		switch {
		case !ok:
		case !isMethod && f.Recv == nil && f.Name.Name == name:
			return true
		case isMethod && f.Recv != nil && f.Name.Name == method && receiver(f.Recv.List[0].Type) == of:
			return true
		}
	}
	return false
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
