package report

import (
	_ "embed"
	"html/template"
	"io"
	"sync"
)

//go:embed html/plain.gohtml
var plainText string

var plainPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("plain").Parse(plainText))
})

// WritePage writes an HTML file in the style of the report. The page contains its styles,
// and its content security policy allows nothing else. The body must be safe HTML.
func WritePage(w io.Writer, title string, body template.HTML) error {
	style, err := readAsset("style.css")
	if err != nil {
		return err
	}
	return plainPage().Execute(w, struct {
		Title, Policy string
		Style, Body   template.HTML
	}{
		Title: title, Body: body,
		Policy: "default-src 'none'; style-src " + policyHash(style) + "; img-src data:; base-uri 'none'; form-action 'none'",
		// Our own styles are not escaped: the policy holds the hash of their bytes.
		Style: template.HTML("<style>" + style + "</style>"), //nolint:gosec // our own
	})
}
