package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A source is one file of a package.
type source struct {
	pkg  string // its folder below the module's root
	name string // its path below the module's root
	set  *token.FileSet
	file *ast.File
	text []byte
}

// check reads all Go files of a module and returns a line for each broken rule, in the order
// of the files.
func check(tree fs.FS) ([]string, error) {
	sources, err := parse(tree)
	if err != nil {
		return nil, err
	}
	var broken []string
	documented := map[string]bool{}
	for _, s := range sources {
		documented[s.pkg] = documented[s.pkg] || path.Base(s.name) == "doc.go" && s.file.Doc != nil
	}
	told := map[string]bool{}
	for _, s := range sources {
		if !told[s.pkg] {
			told[s.pkg] = true
			broken = append(broken, packageRules(s, documented[s.pkg])...)
		}
		broken = append(broken, fileRules(s)...)
	}
	return broken, nil
}

// parse reads the files that are built. It leaves out tests, testdata and hidden folders.
func parse(tree fs.FS) ([]source, error) { return parseFiles(tree, false) }

// parseFiles reads the files that are built, or those of tests.
func parseFiles(tree fs.FS, areTests bool) ([]source, error) {
	var sources []source
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") ||
			strings.HasPrefix(base, "_")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") != areTests:
			return nil
		}
		raw, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, raw, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parsing: %w", err)
		}
		sources = append(sources, source{path.Dir(name), name, set, file, raw})
		return nil
	})
	return sources, err
}

func packageRules(s source, documented bool) []string {
	if at, _ := floor(s.pkg); at < 0 && !isSide(s.pkg) && !isProgram(s.pkg) && !isDouble(s.pkg) {
		return []string{s.pkg + ": stands on no floor; add its line to the table of internal/layers"}
	}
	if !documented && !isProgram(s.pkg) && s.file.Name.Name != "main" {
		return []string{s.pkg + ": has no doc.go that says what it does"}
	}
	return nil
}

func fileRules(s source) []string {
	rules := []func(source) []string{sizes, imports, hostLists}
	if !isProgram(s.pkg) {
		rules = append(rules, statements, uses)
	}
	var broken []string
	for _, rule := range rules {
		broken = append(broken, rule(s)...)
	}
	return broken
}

// imports checks what a file imports: floors, owners of libraries, and purity.
func imports(s source) []string {
	var broken []string
	for _, spec := range s.file.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		why := ""
		if to == module || strings.HasPrefix(to, module+"/") {
			why = wrongOurs(s.pkg, strings.TrimPrefix(strings.TrimPrefix(to, module), "/"))
		} else {
			why = wrongOutside(s.pkg, to)
		}
		if why != "" {
			broken = append(broken, s.at(spec)+": imports "+to+": "+why)
		}
	}
	return broken
}

// wrongOurs returns why one of our packages may not import another, or "".
func wrongOurs(from, to string) string {
	if more, _ := listed(shownTo, from); isProgram(from) && !isProgram(to) && !isDouble(to) && !slices.Contains(more, to) {
		return "examples stand alone"
	}
	if isProgram(from) || isSide(to) || isDouble(from) && isDouble(to) {
		return ""
	}
	if isDouble(to) {
		return "only tests have doubles"
	}
	if strings.HasPrefix(to, "cmd/") && !strings.HasPrefix(from, "cmd/") {
		return "nobody outside of cmd imports a package of cmd"
	}
	if isSide(from) || isDouble(from) {
		return "a package beside the houses imports none of them"
	}
	if integrationOf(from) != "" && integrationOf(from) == integrationOf(to) {
		return ""
	}
	if allowed, ok := listed(only, from); ok && !slices.Contains(allowed, to) {
		return "it may import only " + strings.Join(allowed, ", ")
	}
	if slices.Contains(never[from], to) {
		return "deciding and doing are apart"
	}
	return wrongHouse(from, to)
}

// wrongHouse returns why a package of a house may not import one of a house, or "".
func wrongHouse(from, to string) string {
	above, own := floor(from)
	below, other := floor(to)
	if own.name == other.name {
		if below < 0 || below >= above {
			return "not on a lower floor"
		}
		return ""
	}
	isOpen := func(name string) bool { return name == "*" || covers(name, to) }
	if slices.ContainsFunc(own.doors, isOpen) || slices.ContainsFunc(alsoOpens[from].to, isOpen) {
		return ""
	}
	return "the house " + own.name + " has no door to it"
}

// wrongOutside returns why a package may not import an outside package, or "".
func wrongOutside(from, to string) string {
	if slices.Contains(pure, from) && slices.Contains(impure, to) {
		return "a deciding package touches nothing outside"
	}
	if slices.Contains(impure, to) && to != "net/http" && integrationOf(from) != "" {
		return "a native integration reaches the world through its environment"
	}
	if to == "net" && isLeaver(from) {
		return "what natives send leaves through " + way
	}
	for library, who := range owners {
		if to == library || strings.HasPrefix(to, library+"/") {
			if slices.Contains(who, from) {
				return ""
			}
			return "the library belongs to " + strings.Join(append(who, "tests"), ", ")
		}
	}
	if first, _, _ := strings.Cut(to, "/"); !strings.Contains(first, ".") {
		return "" // the rest of the standard library is everybody's
	}
	return "the library has no owner; name one in the table of internal/layers"
}

// statements checks that a file has no init function, and no go statement unless its
// package may start goroutines.
func statements(s source) []string {
	var broken []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				broken = append(broken, s.at(n)+": has an init function")
			}
		case *ast.GoStmt:
			if !slices.Contains(starters, s.pkg) {
				broken = append(broken, s.at(n)+": starts a goroutine")
			}
		}
		return true
	})
	return broken
}

// uses checks which names of other packages a file uses.
func uses(s source) []string {
	var broken []string
	s.eachUse(func(n ast.Node, name string, isMain bool) {
		if why := wrongUse(s.pkg, name, isMain); why != "" {
			broken = append(broken, s.at(n)+": "+why)
		}
	})
	return broken
}

// usedNames returns the names of other packages that a file uses.
func usedNames(s source) (names []string) {
	s.eachUse(func(_ ast.Node, name string, _ bool) { names = append(names, name) })
	return names
}

// eachUse calls do for each name of another package that a file uses. IsMain tells whether main uses it.
func (s source) eachUse(do func(n ast.Node, name string, isMain bool)) {
	local := map[string]string{}
	for _, spec := range s.file.Imports {
		to, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(to)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		local[name] = to
	}
	for _, decl := range s.file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		isMain := ok && f.Name.Name == "main" && f.Recv == nil && s.file.Name.Name == "main"
		ast.Inspect(decl, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && local[x.Name] != "" {
				do(n, local[x.Name]+"."+sel.Sel.Name, isMain)
			}
			return true
		})
	}
}

func wrongUse(pkg, name string, isMain bool) string {
	switch {
	case name == "os.Exit" && !isMain:
		return "only main calls os.Exit"
	case slices.Contains(fatal, name):
		return "uses " + name + "; return the error"
	case slices.Contains(openings, name) && !slices.Contains(writers, pkg):
		return "uses " + name + "; only writers may send anything: " + strings.Join(writers, ", ")
	case name == module+"/"+way+".Party" && pkg != way && !slices.Contains(partyMakers, pkg) && !isLeaver(pkg):
		return "makes a party; clients of natives do, for servers that " + way + ".Hosts lets them ask"
	case slices.Contains(world, name) && !slices.Contains(worldBook, pkg):
		return "uses " + name + "; take it from cli.Env"
	case slices.Contains(clocks, name) && slices.Contains(pure, pkg):
		return "uses " + name + "; a deciding package has no clock"
	case slices.Contains(ways, name) && isLeaver(pkg) &&
		(strings.HasPrefix(name, "net/") || strings.HasPrefix(name, "crypto/")):
		return "uses " + name + "; what natives send leaves through " + way
	case slices.Contains(ways, name) && opens(pkg) == "":
		return "uses " + name + "; openers stand in the table of internal/layers with a reason"
	case slices.Contains(disk, name) && slices.Contains(pure, pkg):
		return "uses " + name + "; a deciding package touches nothing outside"
	}
	return ""
}

// hostLists checks that settings of natives name servers in the one form that package outward decides about.
func hostLists(s source) []string {
	if !strings.HasPrefix(s.pkg, "natives/") {
		return nil
	}
	var broken []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		f, isField := n.(*ast.Field)
		if !isField || !slices.ContainsFunc(f.Names, func(name *ast.Ident) bool { return name.Name == "Hosts" }) {
			return true
		}
		if of, _ := f.Type.(*ast.SelectorExpr); of == nil || of.Sel.Name != "Hosts" {
			if _, isMethod := f.Type.(*ast.FuncType); !isMethod {
				broken = append(broken, s.at(n)+": a list of hosts is an outward.Hosts, which alone says who may be asked")
			}
		}
		return true
	})
	return broken
}

// isLeaver reports whether a package sends what natives send, and so through the one way out.
func isLeaver(pkg string) bool {
	return pkg != way && slices.ContainsFunc(leavers, func(name string) bool { return covers(name, pkg) })
}

// opens returns why a package may open something, "" if it may not.
func opens(pkg string) string {
	why, _ := listed(openers, pkg)
	return why
}

// sizes checks the length of a file and of its functions.
func sizes(s source) []string {
	var broken []string
	if n := s.set.Position(s.file.FileEnd).Line; n > maxFile {
		broken = append(broken, fmt.Sprintf("%s: has %d lines, more than %d", s.name, n, maxFile))
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		name := "a function literal"
		switch f := n.(type) {
		case *ast.FuncDecl:
			name = f.Name.Name
		case *ast.FuncLit:
		default:
			return true
		}
		lines := s.set.Position(n.End()).Line - s.set.Position(n.Pos()).Line + 1
		if lines > maxFunction {
			broken = append(broken, fmt.Sprintf("%s: %s has %d lines, more than %d", s.at(n), name, lines, maxFunction))
		}
		return true
	})
	return broken
}

// at returns the file and line of a node.
func (s source) at(n ast.Node) string {
	return s.name + ":" + strconv.Itoa(s.set.Position(n.Pos()).Line)
}

// floor returns the floor of a package, -1 if it has none, and the house in which it stands.
func floor(pkg string) (int, house) {
	at := houses[len(houses)-1]
	for _, h := range houses {
		if h.dir != "" && (pkg == h.dir || strings.HasPrefix(pkg, h.dir+"/")) {
			at = h
		}
	}
	return slices.IndexFunc(at.floors, func(row []string) bool {
		return slices.ContainsFunc(row, func(name string) bool { return covers(name, pkg) })
	}), at
}

func isSide(pkg string) bool { return slices.Contains(side, pkg) }

func isDouble(pkg string) bool { return strings.HasPrefix(pkg, doubles+"/") }

func isProgram(pkg string) bool {
	return slices.ContainsFunc(programs, func(dir string) bool {
		return pkg == dir || strings.HasPrefix(pkg, dir+"/")
	})
}

// listed returns the row of a table whose name covers pkg: the longest of such names counts.
func listed[T any](table map[string]T, pkg string) (T, bool) {
	if row, ok := table[pkg]; ok {
		return row, true
	}
	best := ""
	for name := range table {
		if covers(name, pkg) && len(name) > len(best) {
			best = name
		}
	}
	return table[best], best != ""
}

// covers reports whether a name of a table means pkg.
func covers(name, pkg string) bool {
	dir, all := strings.CutSuffix(name, "/*")
	return name == pkg || all && strings.HasPrefix(pkg, dir+"/")
}

// integrationOf returns the folder of the native integration that a package belongs to, or "". The
// packages of one native integration may import each other.
func integrationOf(pkg string) string {
	for _, name := range integrations {
		if dir := strings.TrimSuffix(name, "/*"); pkg == dir || strings.HasPrefix(pkg, dir+"/") {
			return dir
		}
	}
	return ""
}
