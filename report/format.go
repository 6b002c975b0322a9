package report

import (
	"fmt"
	"io"
)

// Formats returns the names of the formats that [Write] writes.
func Formats() []string { return []string{"text", "json", "markdown"} }

// Write writes a report in one of the formats. The style is for text.
func Write(w io.Writer, format string, r *Report, style Style) error {
	switch format {
	case "text":
		return Text(w, r, style)
	case "json":
		return JSON(w, r)
	case "markdown":
		return Markdown(w, r)
	}
	return fmt.Errorf("the format %q is none of %q", format, Formats())
}
