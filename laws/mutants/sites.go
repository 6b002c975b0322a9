package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A site is a place of a file with what may stand there instead.
type site struct {
	file       string // relative to the module
	line       int
	start, end int // bytes
	was        string
	instead    string
}

// The kinds of changes.
const (
	comparisons = "comparison"
	conditions  = "condition"
	results     = "result"
	texts       = "text"
	numbers     = "number"
)

// sitesOf returns all changes of the files of a folder by kind. Files of tests, generated ones and those that are not
// built on this system have none.
func sitesOf(folder string) (map[string][]site, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string][]site{}
	for _, name := range names {
		isBuilt, err := build.Default.MatchFile(folder, filepath.Base(name))
		if err != nil {
			return nil, err
		}
		if !isBuilt || strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if !ast.IsGenerated(tree) {
			f := finder{file: filepath.ToSlash(name), source: source, files: files, found: out}
			f.look(tree)
		}
	}
	return out, nil
}

// A finder looks for changes in one file.
type finder struct {
	file   string
	source []byte
	files  *token.FileSet
	found  map[string][]site
}

// add notes that a part of the file may have another text.
func (f finder) add(kind string, from, to token.Pos, instead string) {
	start, end := f.files.Position(from), f.files.Position(to)
	f.found[kind] = append(f.found[kind], site{f.file, start.Line, start.Offset, end.Offset,
		string(f.source[start.Offset:end.Offset]), instead})
}

// text returns the text of an expression.
func (f finder) text(e ast.Expr) string {
	return string(f.source[f.files.Position(e.Pos()).Offset:f.files.Position(e.End()).Offset])
}

// others are what stands in place of an operator.
var others = map[token.Token][]string{
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="},
	token.GEQ:  {">", "<"},
	token.LAND: {"||"}, token.LOR: {"&&"},
}

// look looks for changes in a file, but in what it imports and in the tags of its types.
func (f finder) look(tree *ast.File) {
	var stack []ast.Node
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		switch n.(type) {
		case *ast.ImportSpec, *ast.Comment, *ast.CommentGroup:
			return false
		}
		f.lookAt(n, stack)
		stack = append(stack, n)
		return true
	})
}

// lookAt looks for the changes of one node, which stands in others.
func (f finder) lookAt(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, op := range others[n.Op] {
			f.add(comparisons, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op)
		}
	case *ast.IfStmt:
		for _, before := range []string{"!", "true || ", "false && "} {
			f.add(conditions, n.Cond.Pos(), n.Cond.End(), before+"("+f.text(n.Cond)+")")
		}
	case *ast.ReturnStmt:
		f.result(n, stack)
	case *ast.BasicLit:
		f.literal(n, stack)
	}
}

// result adds the changes of what a function returns.
func (f finder) result(n *ast.ReturnStmt, stack []ast.Node) {
	types := resultsOf(stack)
	if len(types) != len(n.Results) {
		return
	}
	for i, e := range n.Results {
		text, instead := f.text(e), ""
		switch t := types[i].(type) {
		case *ast.Ident:
			instead = map[string]string{"bool": "!(" + text + ")", "error": "nil", "string": `""`, "int": "0"}[t.Name]
		case *ast.ArrayType, *ast.MapType, *ast.StarExpr:
			instead = "nil"
		}
		if instead != "" && instead != text {
			f.add(results, e.Pos(), e.End(), instead)
		}
	}
}

// resultsOf returns the types of the results of the function in which a node stands, one for each.
func resultsOf(stack []ast.Node) []ast.Expr {
	for _, n := range slices.Backward(stack) {
		var of *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			of = n.Type
		case *ast.FuncLit:
			of = n.Type
		default:
			continue
		}
		var out []ast.Expr
		if of.Results != nil {
			for _, field := range of.Results.List {
				out = append(out, slices.Repeat([]ast.Expr{field.Type}, max(1, len(field.Names)))...)
			}
		}
		return out
	}
	return nil
}

// literal adds the change of a text or a number. The tag of a field is none of them.
func (f finder) literal(n *ast.BasicLit, stack []ast.Node) {
	if len(stack) > 0 {
		if field, ok := stack[len(stack)-1].(*ast.Field); ok && field.Tag == n {
			return
		}
	}
	switch n.Kind {
	case token.STRING:
		f.add(texts, n.Pos(), n.End(), n.Value[:len(n.Value)-1]+"~"+n.Value[len(n.Value)-1:])
	case token.INT:
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			f.add(numbers, n.Pos(), n.End(), strconv.FormatInt(i+1, 10))
		}
	}
}
