package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// maxJUnit bounds a JUnit report in bytes: GitLab does not show reports of 20 MB.
const maxJUnit = 15 << 20

// The elements of a JUnit report that GitLab reads.
type (
	testSuites struct {
		XMLName xml.Name  `xml:"testsuites"`
		Suite   testSuite `xml:"testsuite"`
	}
	testSuite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		ClassName string        `xml:"classname,attr"`
		Name      string        `xml:"name,attr"`
		File      string        `xml:"file,attr,omitempty"`
		Time      string        `xml:"time,attr"`
		Effects   *junitEffects `xml:"properties"`
		Failure   *junitOutcome `xml:"failure"`
		Error     *junitOutcome `xml:"error"`
		Skipped   *junitOutcome `xml:"skipped"`
		SystemOut string        `xml:"system-out,omitempty"`
	}
	junitEffects struct {
		Property struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"property"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// A junitDetail says how much detail a JUnit report shows.
type junitDetail struct {
	tail       int  // bytes of the last lines of a task that did not pass
	passedTail int  // bytes of the last lines of a task that passed
	passed     bool // whether tasks are shown that do not fail the check
	failures   int  // number of tasks that are shown of those that fail the check
}

// junitDetails are the details to try, one after the other, until the report is
// small enough.
var junitDetails = []junitDetail{
	{64 << 10, 4 << 10, true, math.MaxInt},
	{64 << 10, 0, true, math.MaxInt},
	{64 << 10, 0, false, math.MaxInt},
	{4 << 10, 0, false, math.MaxInt},
	{0, 0, false, math.MaxInt},
	{0, 0, false, 500}, // 9 MB with the longest possible names
}

// JUnit writes the report as JUnit XML with one test case per task. The name of a
// test case is the shard, its class is the integration. A task that failed because
// of the change is a failure. A task that gave no verdict is an error: it timed
// out, was canceled, did not run, or failed for a reason that may pass. A task that
// fails the same way on base is skipped. Skipped integrations have no test case,
// since they would hide the tasks that ran.
//
// The report stays below 15 MiB. If it would become larger, the last lines of
// passed tasks are left out first, then these tasks, then the last lines of the
// others. A test case says how much is missing.
func JUnit(w io.Writer, f Input) error {
	raw, err := encodeJUnitWithin(maxJUnit, f)
	if err == nil {
		_, err = w.Write(raw)
	}
	return err
}

// encodeJUnitWithin returns the report with as much detail as fits into a number
// of bytes.
func encodeJUnitWithin(limit int, f Input) ([]byte, error) {
	places := f.newPlaceFinder()
	files := map[string]string{} // the file of a task that did not pass, by task
	for _, t := range f.Report.Results {
		if !t.OK() {
			files[t.Task] = places.findPlaces(t)[0].Location.Path
		}
	}
	var raw []byte
	err := errTooLarge
	for _, d := range junitDetails {
		if raw, err = encodeJUnit(f.Report, files, d, limit); !errors.Is(err, errTooLarge) {
			break
		}
	}
	return raw, err
}

var errTooLarge = errors.New("the JUnit report is too large")

// encodeJUnit returns the report with the given detail. The error is errTooLarge if
// it exceeds the limit.
func encodeJUnit(rep *Report, files map[string]string, d junitDetail, limit int) ([]byte, error) {
	out := limitedBuffer{left: limit}
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(&out)
	enc.Indent("", "  ")
	if err := enc.Encode(testSuites{Suite: newTestSuite(rep, files, d)}); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// newTestSuite returns the test cases of a report, and their numbers.
func newTestSuite(rep *Report, files map[string]string, d junitDetail) testSuite {
	s := testSuite{Name: "prcheck", Time: formatJUnitTime(rep.Counts.Seconds)}
	names := map[[2]string]int{}
	blocking, omitted := 0, 0
	for _, t := range rep.Results {
		if !t.Blocks() && !d.passed || t.Blocks() && blocking >= d.failures {
			omitted++
			continue
		}
		if t.Blocks() {
			blocking++
		}
		c := newTestCase(t, d)
		c.File = files[t.Task]
		id := [2]string{c.ClassName, c.Name}
		if names[id]++; names[id] > 1 { // GitLab would show only one of them
			c.Name += fmt.Sprintf(" (%d)", names[id])
		}
		s.Cases = append(s.Cases, c)
	}
	s.Cases = append(s.Cases, summaryCases(rep, blocking, omitted)...)
	for _, c := range s.Cases {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	return s
}

// summaryCases returns test cases for what no task shows: that the results do not
// fit the plan, and that tasks were omitted. Blocking is the number of shown tasks
// that fail the check.
func summaryCases(rep *Report, blocking, omitted int) []testCase {
	errorCase := func(name, text string) testCase {
		return testCase{ClassName: "prcheck", Name: name, Time: formatJUnitTime(0),
			Error: &junitOutcome{text, "report", text}}
	}
	var out []testCase
	if rep.Verdict != plan.VerdictPassed && rep.Counts.blocking() == 0 {
		out = append(out, errorCase("results", outcomeHeadline(rep)))
	}
	if omitted == 0 {
		return out
	}
	text := phrase.Count(omitted, "task") + " left out, since this report would become too large"
	if more := rep.Counts.blocking() - blocking; more > 0 {
		return append(out, errorCase("left out", fmt.Sprintf("%s; %d of them did not pass", text, more)))
	}
	return append(out, testCase{ClassName: "prcheck", Name: text + "; none of them failed", Time: formatJUnitTime(0)})
}

// newTestCase returns the test case of a task.
func newTestCase(t TaskResult, d junitDetail) testCase {
	name := cmp.Or(cleanLine(t.Integration), "unnamed")
	label := plan.Task{Shard: t.Shard, Static: t.Static}.Label()
	c := testCase{ClassName: name, Name: cmp.Or(cleanLine(label), name), Time: formatJUnitTime(t.Seconds)}
	if text := describeEffects(t.Effects); text != "" {
		c.Effects = &junitEffects{}
		c.Effects.Property.Name, c.Effects.Property.Value = "effects", text
	}
	if t.OK() {
		c.SystemOut = breakAttachments(withFindings(t, lastBytes(cleanBlock(t.Tail), d.passedTail), d.passedTail))
		return c
	}
	end := &junitOutcome{Message: describeFailure(t), Type: cmp.Or(cleanLine(string(t.Class)), cleanLine(string(t.Status)),
		"unknown")}
	if outcome(t) == unavailable {
		end.Type = string(unavailable)
	}
	// GitLab shows only the text, so the text repeats the message.
	end.Text = breakAttachments(strings.TrimSpace(cmp.Or(end.Message, end.Type) + "\n\n" +
		withFindings(t, lastBytes(cleanBlock(t.Tail), d.tail), d.tail)))
	switch {
	case t.OnBase():
		c.Skipped = end
	case t.Status == plan.Failed && t.Class != plan.ClassTransient && t.Class != plan.ClassEnvironment:
		c.Failure = end
	default:
		c.Error = end
	}
	return c
}

// withFindings returns the last lines of a task below its findings, which have at most limit
// bytes.
func withFindings(t TaskResult, tail string, limit int) string {
	var out []string
	for _, line := range findingLines(t, maxShownFindings) {
		if limit -= len(line) + 1; limit < 0 {
			break
		}
		out = append(out, line)
	}
	if tail != "" {
		out = append(out, tail)
	}
	return strings.Join(out, "\n")
}

// breakAttachments changes text that names an attachment, so that GitLab does not
// link to it.
func breakAttachments(text string) string {
	return strings.ReplaceAll(text, "[[ATTACHMENT", "[ [ATTACHMENT")
}

// lastBytes returns at most limit bytes from the end of a text. A line that was cut
// at the beginning is left out, unless it is the only one.
func lastBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[len(text)-limit]) {
		limit--
	}
	text = text[len(text)-limit:]
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		text = rest
	}
	return text
}

// formatJUnitTime returns seconds in the format of JUnit.
func formatJUnitTime(s float64) string { return strconv.FormatFloat(max(s, 0), 'f', 3, 64) }

// A limitedBuffer is a buffer that does not grow beyond a bound.
type limitedBuffer struct {
	bytes.Buffer
	left int
}

// Write appends p, or returns errTooLarge if there is no room for it.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errTooLarge
	}
	return l.Buffer.Write(p)
}
