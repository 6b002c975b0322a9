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

	"github.com/app-sre/prcheck/plan"
)

// maxJUnit bounds a JUnit report in bytes: GitLab does not show those of 20 MB.
const maxJUnit = 15 << 20

// The elements of a JUnit report, as far as GitLab reads them.
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
		ClassName string `xml:"classname,attr"`
		Name      string `xml:"name,attr"`
		File      string `xml:"file,attr,omitempty"`
		Time      string `xml:"time,attr"`
		Failure   *ended `xml:"failure"`
		Error     *ended `xml:"error"`
		Skipped   *ended `xml:"skipped"`
		SystemOut string `xml:"system-out,omitempty"`
	}
	ended struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// A junitDetail says how much of each task a JUnit report shows.
type junitDetail struct {
	tail, passedTail int // bytes of last lines, of a task that did not pass and of one that did
	passed           bool
	failures         int // how many tasks that did not pass
}

// junitDetails is the order in which a report that is too large becomes smaller.
var junitDetails = []junitDetail{
	{64 << 10, 4 << 10, true, math.MaxInt},
	{64 << 10, 0, true, math.MaxInt},
	{64 << 10, 0, false, math.MaxInt},
	{4 << 10, 0, false, math.MaxInt},
	{0, 0, false, math.MaxInt},
	{0, 0, false, 500}, // with the longest names that there can be this is 9 MB
}

// JUnit writes the report as JUnit XML: a test case for each task, called as its
// shard in the class of its integration. Skipped integrations are none, since
// they would hide the tasks that ran. A failure is what a task said against the
// change; an error is a task that came to no end of its own: timed out, canceled,
// not run, or failed for a reason that may pass. One that fails the same way on
// base is skipped: it says nothing about the change.
//
// The report stays below 15 MiB. What goes first are the last lines of tasks that
// passed, then these tasks, then the last lines of the others; a test case says
// what is missing.
func JUnit(w io.Writer, f Findings) error {
	raw, err := junitWithin(maxJUnit, f)
	if err == nil {
		_, err = w.Write(raw)
	}
	return err
}

// junitWithin returns the report with as much detail as fits into a number of
// bytes.
func junitWithin(limit int, f Findings) ([]byte, error) {
	places := f.placing()
	files := map[string]string{} // by task
	for _, t := range f.Report.Results {
		if !t.OK() {
			files[t.Task] = places.of(t)[0].Location.Path
		}
	}
	var raw []byte
	err := errTooLarge
	for _, d := range junitDetails {
		if raw, err = junit(f.Report, files, d, limit); !errors.Is(err, errTooLarge) {
			break
		}
	}
	return raw, err
}

var errTooLarge = errors.New("the JUnit report is too large")

func junit(rep *Report, files map[string]string, d junitDetail, limit int) ([]byte, error) {
	s := testSuite{Name: "prcheck", Time: duration(rep.Counts.Seconds)}
	names := map[[2]string]int{}
	bad, left := 0, 0
	for _, t := range rep.Results {
		if !t.Blocks() && !d.passed || t.Blocks() && bad >= d.failures {
			left++
			continue
		}
		if t.Blocks() {
			bad++
		}
		c := newTestCase(t, d)
		c.File = files[t.Task]
		id := [2]string{c.ClassName, c.Name}
		if names[id]++; names[id] > 1 { // GitLab would show only one of them
			c.Name += fmt.Sprintf(" (%d)", names[id])
		}
		s.Cases = append(s.Cases, c)
	}
	s.Cases = append(s.Cases, strays(rep, bad, left)...)
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
	out := limited{left: limit}
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(&out)
	enc.Indent("", "  ")
	if err := enc.Encode(testSuites{Suite: s}); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// strays are test cases that stand for what has none.
func strays(rep *Report, bad, left int) []testCase {
	remark := func(name, text string) testCase {
		return testCase{ClassName: "prcheck", Name: name, Time: duration(0), Error: &ended{text, "report", text}}
	}
	var out []testCase
	if rep.Verdict != Passed && rep.Counts.bad() == 0 {
		out = append(out, remark("results", headline(rep)))
	}
	if left == 0 {
		return out
	}
	text := number(left, "task") + " left out, since this report would become too large"
	if more := rep.Counts.bad() - bad; more > 0 {
		return append(out, remark("left out", fmt.Sprintf("%s; %d of them did not pass", text, more)))
	}
	return append(out, testCase{ClassName: "prcheck", Name: text + "; none of them failed", Time: duration(0)})
}

func newTestCase(t Task, d junitDetail) testCase {
	name := cmp.Or(line(t.Integration), "unnamed")
	label := plan.Task{Shard: t.Shard, Static: t.Static}.Label()
	c := testCase{ClassName: name, Name: cmp.Or(line(label), name), Time: duration(t.Seconds)}
	if t.OK() {
		c.SystemOut = unattached(lastBytes(block(t.Tail), d.passedTail))
		return c
	}
	how := &ended{Message: blame(t), Type: cmp.Or(line(string(t.Class)), line(string(t.Status)), "unknown")}
	if look(t) == unavailable {
		how.Type = string(unavailable)
	}
	// GitLab shows the text alone, without the message.
	how.Text = unattached(strings.TrimSpace(cmp.Or(how.Message, how.Type) + "\n\n" + lastBytes(block(t.Tail), d.tail)))
	switch {
	case t.OnBase():
		c.Skipped = how
	case t.Status == plan.Failed && t.Class != plan.ClassTransient && t.Class != plan.ClassEnvironment:
		c.Failure = how
	default:
		c.Error = how
	}
	return c
}

// unattached keeps text from naming an attachment, which GitLab would link to.
func unattached(text string) string {
	return strings.ReplaceAll(text, "[[ATTACHMENT", "[[\u2060ATTACHMENT")
}

// lastBytes returns the end of a text, from the beginning of a line on if one
// begins there.
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

// duration writes seconds as JUnit has them.
func duration(s float64) string { return strconv.FormatFloat(max(s, 0), 'f', 3, 64) }

// A limited is a buffer that refuses to grow beyond a bound.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errTooLarge
	}
	return l.Buffer.Write(p)
}
