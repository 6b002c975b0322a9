package kubetest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// answerOf returns what matters of an answer, a line for each field, sorted.
func answerOf(t *testing.T, code int, raw []byte) string {
	t.Helper()
	body, err := decode(raw)
	if err != nil {
		return fmt.Sprint(code, " ", string(raw))
	}
	if body["kind"] == "Status" {
		text := fmt.Sprintf("%d %v", code, body["reason"])
		var fields []string
		for _, c := range listOf(dig(body, "details")["causes"]) {
			one, _ := c.(map[string]any)
			fields = append(fields, fmt.Sprintf("\n%v", one["field"]))
		}
		if code == http.StatusForbidden {
			fields = append(fields, fmt.Sprintf("\n%v", body["message"]))
		}
		slices.Sort(fields)
		return text + strings.Join(fields, "")
	}
	m := dig(body, "metadata")
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"} {
		if m[field] != nil {
			m[field] = "set"
		}
	}
	for _, e := range listOf(m["managedFields"]) {
		entry, _ := e.(map[string]any)
		delete(entry, "time")
	}
	spec, _ := body["spec"].(map[string]any)
	for _, field := range []string{"clusterIP", "clusterIPs"} {
		if spec[field] != nil {
			spec[field] = "set"
		}
	}
	lines := flat("", body, nil)
	slices.Sort(lines)
	return fmt.Sprintf("%d\n%s", code, strings.Join(lines, "\n"))
}

// flat returns a line for each value of an object.
func flat(at string, v any, out []string) []string {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return append(out, at+" {}")
		}
		for name, inner := range v {
			out = flat(at+"."+name, inner, out)
		}
	case []any:
		if len(v) == 0 {
			return append(out, at+" []")
		}
		for i, inner := range v {
			out = flat(fmt.Sprintf("%s[%d]", at, i), inner, out)
		}
	default:
		return append(out, fmt.Sprintf("%s %v", at, v))
	}
	return out
}

// update says that the recording is made anew from a real server.
var update = flag.Bool("update", false, "record the answers of the real API server")

// recorded is the file with the answers of a real server to the table, by the names of requests.
var recorded = filepath.Join("testdata", "recorded.txt")

// The parts of the recording.
const (
	versionLine = "version "
	nameLine    = "== "
)

// readRecording returns the answers that were recorded, and the version of the server.
func readRecording(t *testing.T) (answers map[string]string, version string) {
	t.Helper()
	raw, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(raw), "\n")
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, "\n"+nameLine) {
		name, answer, _ := strings.Cut(strings.TrimPrefix(part, nameLine), "\n")
		parts[name] = strings.TrimSuffix(answer, "\n")
	}
	answers = map[string]string{}
	before := map[string][]string{} // lines of objects, by path
	for _, q := range table() {
		part, has := parts[q.name]
		if !has {
			continue
		}
		code, changes, _ := strings.Cut(part, "\n")
		at, _, _ := strings.Cut(q.path, "?")
		old := before[at]
		if code, err := strconv.Atoi(code); err != nil || code >= http.StatusBadRequest {
			old = nil // it is no object
		}
		lines := changed(old, strings.Split(changes, "\n"))
		if answers[q.name] = strings.Join(append([]string{code}, lines...), "\n"); isObject(lines) {
			before[at] = lines
		}
	}
	return answers, strings.TrimPrefix(first, versionLine)
}

// writeRecording records answers: the code, and the lines that are new and gone since the last answer
// with this object.
func writeRecording(t *testing.T, answers map[string]string, version string) {
	t.Helper()
	var out strings.Builder
	out.WriteString(versionLine + version + "\n")
	before := map[string][]string{}
	for _, q := range table() {
		answer, has := answers[q.name]
		if !has {
			continue
		}
		code, text, _ := strings.Cut(answer, "\n")
		at, _, _ := strings.Cut(q.path, "?")
		var lines []string
		if text != "" {
			lines = strings.Split(text, "\n")
		}
		out.WriteString(nameLine + q.name + "\n" + code + "\n")
		old := before[at]
		if isObject(lines) {
			before[at] = lines
		} else {
			old = nil
		}
		for _, line := range without(old, lines) {
			out.WriteString("-" + line + "\n")
		}
		for _, line := range without(lines, old) {
			out.WriteString("+" + line + "\n")
		}
	}
	if err := os.WriteFile(recorded, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// isObject reports whether the lines of an answer are those of an object.
func isObject(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, ".kind ") })
}

// changed returns lines after changes: those that are new begin with +, those that are gone with -.
func changed(lines, changes []string) []string {
	out := slices.Clone(lines)
	for _, change := range changes {
		switch {
		case strings.HasPrefix(change, "-"):
			out = slices.DeleteFunc(out, func(l string) bool { return l == change[1:] })
		case strings.HasPrefix(change, "+"):
			out = append(out, change[1:])
		}
	}
	slices.Sort(out)
	return out
}

// playReal sends the table to a real server, and returns its answers.
func playReal(t *testing.T) (answers map[string]string, version string) {
	t.Helper()
	r := Start(t, "nobody")
	answers = map[string]string{}
	for _, q := range table() {
		by := senders[q.name]
		user := cmp.Or(by.user, "admin")
		code, raw := r.Send(t, user, q.method, q.path, q.kind, q.body)
		for end := time.Now().Add(30 * time.Second); by.until != 0 && code != by.until &&
			time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			_, _ = r.Send(t, "admin", http.MethodDelete, strings.Split(q.path, "?")[0], "", "")
			code, raw = r.Send(t, user, q.method, q.path, q.kind, q.body)
		}
		if by.isReal && code >= http.StatusBadRequest {
			t.Fatalf("%s: %d %s", q.name, code, raw)
		} else if !by.isReal {
			answers[q.name] = answerOf(t, code, raw)
		}
	}
	var is struct{ GitVersion string }
	_, raw := r.Send(t, "admin", http.MethodGet, "/version", "", "")
	if err := json.Unmarshal(raw, &is); err != nil {
		t.Fatal(err)
	}
	return answers, is.GitVersion
}

// playMemory sends the table to the server in memory, and returns its answers.
func playMemory(t *testing.T) map[string]string {
	t.Helper()
	s := New(t)
	s.Finalizing = true
	s.Deny = func(object map[string]any) string {
		if object["kind"] == "ConfigMap" && mapOf(object["metadata"])["name"] == "refused" {
			return "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: object.metadata.name != 'refused'"
		}
		return ""
	}
	answers := map[string]string{}
	for _, q := range table() {
		by := senders[q.name]
		if by.isReal {
			continue
		}
		token := s.Token
		if by.user != "" {
			token = s.Nobody
		}
		code, raw := s.SendAs(t, token, q.method, q.path, q.kind, q.body)
		answers[q.name] = answerOf(t, code, raw)
	}
	return answers
}

// The server in memory gives the answers that a real one was recorded with.
func TestFidelity(t *testing.T) {
	want, version := readRecording(t)
	got := playMemory(t)
	for _, q := range table() {
		tellDifference(t, q.name, got[q.name], want[q.name], "in memory", "recorded of "+version)
	}
	isTwice := map[string]bool{}
	for _, q := range table() {
		if isTwice[q.name] {
			t.Errorf("two requests have the name %s", q.name)
		}
		isTwice[q.name] = true
	}
	if len(want) != len(got) {
		t.Errorf("%d answers are recorded, and the table has %d", len(want), len(got))
	}
}

// A real server of the recorded version gives the recorded answers. What one of another version says
// is told.
func TestFidelityOfRecording(t *testing.T) {
	now, is := playReal(t)
	if *update {
		writeRecording(t, now, is)
	}
	want, version := readRecording(t)
	for _, q := range table() {
		if now[q.name] != want[q.name] && is != version {
			t.Logf("%s: %s answers otherwise than %s", q.name, is, version)
			continue
		}
		tellDifference(t, q.name, now[q.name], want[q.name], "real", "recorded")
	}
}

// tellDifference fails the test if two answers differ.
func tellDifference(t *testing.T, name, got, want, whose, other string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	t.Errorf("%s: only %s:\n%s\nonly %s:\n%s", name, whose, few(without(g, w)), other, few(without(w, g)))
}

// without returns the lines that another list does not have.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return slices.Contains(others, l) })
}

func few(lines []string) string { return strings.Join(lines[:min(len(lines), 12)], "\n") }
