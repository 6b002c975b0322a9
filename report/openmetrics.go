package report

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// metrics collects families of samples in the OpenMetrics format.
type metrics struct {
	out  strings.Builder
	name string
}

// startFamily begins a family of samples with its type, unit and help.
func (m *metrics) startFamily(name, kind, unit, help string) {
	m.name = name
	fmt.Fprintf(&m.out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	if unit != "" {
		fmt.Fprintf(&m.out, "# UNIT %s %s\n", name, unit)
	}
}

// writeSample writes one value of the current family. The labels are names and
// values in turn.
func (m *metrics) writeSample(v float64, labels ...string) {
	m.out.WriteString(m.name)
	for i := 0; i+1 < len(labels); i += 2 {
		m.out.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&m.out, `%s="%s"`, labels[i], escapeLabel(labels[i+1]))
	}
	if len(labels) > 0 {
		m.out.WriteByte('}')
	}
	if rounded := math.Round(v*1e6) / 1e6; math.Abs(v) < 1e9 {
		v = rounded // without the rounding errors of sums
	}
	m.out.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// writeSummary writes a family with the quantiles, the sum and the number of some
// sorted values.
func (m *metrics) writeSummary(name, unit, help string, sorted []float64) {
	m.startFamily(name, "summary", unit, help)
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	for _, percent := range []int{50, 90, 100} {
		if len(sorted) > 0 {
			m.writeSample(percentile(sorted, percent), "quantile", strconv.FormatFloat(float64(percent)/100, 'g', -1, 64))
		}
	}
	m.name = name + "_sum"
	m.writeSample(sum)
	m.name = name + "_count"
	m.writeSample(float64(len(sorted)))
}

// boolSample returns 1 for true and 0 for false.
func boolSample(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// maxLabel bounds the value of a label, in bytes.
const maxLabel = 200

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// escapeLabel returns untrusted text as the value of a label. Different texts give
// different labels: bytes that cannot be shown become %XX, and a long text ends
// with its digest. The signs % and # are escaped too: GitLab takes a # for the
// start of a comment.
func escapeLabel(text string) string {
	if len(text) > maxLabel {
		text = fmt.Sprintf("%s…%x", strings.ToValidUTF8(text[:maxLabel], ""), sha256.Sum256([]byte(text)))
	}
	var out strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 || r == '#' || r == '%' || !unicode.IsPrint(r) {
			for _, b := range []byte(text[:n]) {
				fmt.Fprintf(&out, "%%%02X", b)
			}
		} else {
			out.WriteString(text[:n])
		}
		text = text[n:]
	}
	return labelEscapes.Replace(out.String())
}
