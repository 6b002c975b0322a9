package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"sync"

	"github.com/app-sre/prcheck/plan"
)

// A Page is the input of [HTML].
type Page struct {
	Plan     *plan.Plan // the plan of the report
	Report   *Report
	Contents *Contents // nil if the bundles are not at hand
	// Log returns the address of the log of a task: a path relative to the page, or an
	// address of http or https. It returns "" if there is none. Nil means no links.
	Log func(task string) string
}

// Contents are the values of changed fields and the diffs of changed resources,
// which a plan does not have. Their maker bounds all texts, and may leave out
// files.
type Contents struct {
	Datafiles map[string][]Field // by path, sorted by pointer
	Resources map[string]string  // unified diffs, by path
}

// A Field is one changed field with its values as JSON text.
type Field struct {
	Pointer  string
	Kind     plan.Kind // plan.Added, plan.Removed or plan.Modified
	Moved    bool      // the field is a list whose items only changed their order
	Old, New string    // "" on a side that does not have the field
}

//go:embed html
var assets embed.FS

// pageTemplate is read when it is first used, since few commands write a page.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(assets, "html/*.gohtml"))
})

// HTML writes a report as one HTML file. The file contains its styles and its
// script, and its content security policy allows nothing else. It can be read
// without the script, which only filters, sorts and opens rows.
func HTML(w io.Writer, page Page) error {
	v := newPageView(page)
	style, err := readAsset("style.css")
	if err != nil {
		return err
	}
	early, err := readAsset("early.js")
	if err != nil {
		return err
	}
	script, err := readAsset("script.js")
	if err != nil {
		return err
	}
	v.Policy = "default-src 'none'; style-src " + policyHash(style) + "; script-src " + policyHash(early) + " " +
		policyHash(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
	// Our own styles and scripts are not escaped: the policy holds hashes of their bytes.
	v.Style = template.HTML("<style>" + style + "</style>")
	v.Early = template.HTML("<script>" + early + "</script>")
	v.Script = template.HTML("<script>" + script + "</script>")
	return pageTemplate().ExecuteTemplate(w, "page.gohtml", v)
}

// readAsset returns an embedded file of the folder html.
func readAsset(name string) (string, error) {
	raw, err := assets.ReadFile("html/" + name)
	return string(raw), err
}

// policyHash returns the hash that allows a style or a script in a content
// security policy.
func policyHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
