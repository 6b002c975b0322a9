package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"

	"github.com/app-sre/prcheck/plan"
)

// A Page is what [HTML] shows.
type Page struct {
	Plan     *plan.Plan // the plan of the report
	Report   *Report
	Contents *Contents // nil when the bundles are not at hand
}

// Contents are the values of changed files, which a plan does not have. All
// texts are bounded by whoever makes them; a file may be missing.
type Contents struct {
	Datafiles map[string][]Field // by path, sorted by pointer
	Resources map[string]string  // by path: the lines of a unified diff
}

// A Field is one changed field with its values as JSON text.
type Field struct {
	Pointer  string
	Kind     plan.Kind // plan.Added, plan.Removed or plan.Modified
	Moved    bool      // a list whose items changed their order
	Old, New string    // "" on a side that does not have it
}

//go:embed html
var assets embed.FS

var pageTemplate = template.Must(template.ParseFS(assets, "html/*.gohtml"))

// HTML writes a report as one file for a browser. It needs nothing else: styles
// and script stand in it, and its content security policy allows only those. It
// can be read without the script, which filters, sorts and opens.
func HTML(w io.Writer, page Page) error {
	v := newView(page)
	style, err := asset("style.css")
	if err != nil {
		return err
	}
	early, err := asset("early.js")
	if err != nil {
		return err
	}
	script, err := asset("script.js")
	if err != nil {
		return err
	}
	v.Policy = "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(early) + " " + hash(script) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
	// These are ours, and must keep the bytes that were hashed.
	v.Style = template.HTML("<style>" + style + "</style>")
	v.Early = template.HTML("<script>" + early + "</script>")
	v.Script = template.HTML("<script>" + script + "</script>")
	return pageTemplate.ExecuteTemplate(w, "page.gohtml", v)
}

func asset(name string) (string, error) {
	raw, err := assets.ReadFile("html/" + name)
	return string(raw), err
}

// hash names a style or a script in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
