package effects

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// The bounds of what is read.
const (
	maxOutput = 64 << 20 // bytes of output
	maxLine   = 64 << 10 // bytes of a line
)

// A Finder finds the effects of one attempt of a task. It is an [io.Writer] that takes the
// output as the program writes it. Several goroutines may use it at once.
type Finder struct {
	mu      sync.Mutex
	masker  *mask.Masker
	stream  *mask.Stream
	sources []source
	found   *collection
	read    int       // bytes of output
	line    []byte    // the beginning of a line that has not ended
	cut     hash.Hash // of the part of the line that is not kept; nil if all is
	lines   int       // lines that ended
	unknown string    // why the effects cannot be told
	ended   bool
}

// A source finds effects in lines of output.
type source interface {
	// read reads one line. If the line is claimed, it belongs to an earlier rule, and the
	// source adds no effect. Otherwise read returns whether the line belongs to this source.
	read(line string, claimed bool, found *collection) bool
	// end is called after the last line.
	end(found *collection)
}

// NewFinder returns a finder for an attempt of a task of an integration. The masker removes
// secrets.
func NewFinder(rules []settings.EffectRule, masker *mask.Masker) *Finder {
	f := &Finder{masker: masker, stream: masker.Stream(), found: newCollection(masker.Text)}
	for _, rule := range rules {
		f.sources = append(f.sources, newSource(rule))
	}
	return f
}

// newSource returns the source for a rule.
func newSource(rule settings.EffectRule) source {
	switch rule.Ready {
	case settings.EffectsOfReconcile:
		return reconcile{}
	case settings.EffectsOfTerraform:
		return &terraform{}
	case settings.EffectsOfVaultManager:
		return vaultManager{}
	case settings.EffectsOfKubectl:
		return &kubectl{}
	}
	return pattern{rule}
}

// A pattern finds effects by a regular expression.
type pattern struct{ rule settings.EffectRule }

func (p pattern) read(line string, claimed bool, found *collection) bool {
	if claimed || p.rule.Match == nil {
		return false
	}
	m := p.rule.Match.FindStringSubmatchIndex(line)
	if m == nil {
		return false
	}
	if p.rule.Kind != "" {
		e := plan.Effect{Kind: p.rule.Kind, Subject: string(p.rule.Match.ExpandString(nil, p.rule.Subject, line, m))}
		p.fill(&e, line, m)
		if strings.TrimSpace(e.Subject) == "" {
			e.Subject = messageOf(line)
		}
		found.announce(e)
	}
	return true
}

// fill fills in what the named groups of the rule match.
func (p pattern) fill(e *plan.Effect, line string, m []int) {
	var change plan.FieldChange
	for i, name := range p.rule.Match.SubexpNames() {
		if m[2*i] < 0 {
			continue
		}
		switch text := line[m[2*i]:m[2*i+1]]; name {
		case "type":
			e.Type = text
		case "name":
			e.Name = text
		case "target":
			e.Target = text
		case "path":
			change.Path = text
		case "old":
			change.Old = encode(text)
		case "new":
			change.New = encode(text)
		}
	}
	if change.Path != "" || change.Old != nil || change.New != nil {
		e.Changes = []plan.FieldChange{change}
	}
}

func (pattern) end(*collection) {}

// messageOf returns a line without what begins a record of a log, since times differ in each run.
func messageOf(line string) string {
	if m := logRecord.FindStringSubmatch(line); m != nil {
		return m[3]
	}
	return line
}

// Write reads output. It never fails.
func (f *Finder) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || f.unknown != "" {
		return len(p), nil
	}
	if f.read += len(p); f.read > maxOutput {
		f.giveUp("the task printed more than 64 MiB")
		return len(p), nil
	}
	f.split(f.stream.Feed(p))
	return len(p), nil
}

// giveUp notes why the effects cannot be told, and frees what was found.
func (f *Finder) giveUp(why string) {
	f.unknown, f.line, f.found = why, nil, newCollection(f.masker.Text)
}

// split divides masked output into lines.
func (f *Finder) split(out []byte) {
	for {
		i := bytes.IndexByte(out, '\n')
		part := out
		if i >= 0 {
			part = out[:i]
		}
		kept := min(maxLine-len(f.line), len(part))
		f.line = append(f.line, part[:kept]...)
		if kept < len(part) {
			if f.cut == nil {
				f.cut = sha256.New()
			}
			f.cut.Write(part[kept:])
		}
		if i < 0 {
			return
		}
		f.endLine()
		out = out[i+1:]
	}
}

// endLine reads the line that ended. Where the terminal would begin a new line, as after a
// carriage return, a new line begins.
func (f *Finder) endLine() {
	f.lines++
	if f.cut != nil {
		f.found.problem("line %d of the output is longer than 64 KiB; its rest was not read", f.lines)
		f.found.unread = hex.EncodeToString(f.cut.Sum(nil))
		defer func() { f.found.unread = "" }()
	}
	line := string(f.line)
	f.line, f.cut = f.line[:0], nil
	if isPlain(line) {
		f.readLine(line)
		return
	}
	// Terminal escapes inside a secret hide the secret from the masker.
	for part := range strings.SplitSeq(f.masker.Text(sanitize.Text(line)), "\n") {
		f.readLine(part)
	}
}

// isPlain reports whether a line has only printable characters of ASCII, and tabs.
func isPlain(line string) bool {
	for i := range len(line) {
		if c := line[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}

// readLine gives a line to the sources.
func (f *Finder) readLine(line string) {
	line = strings.TrimRight(line, " \t")
	if line == "" {
		return
	}
	claimed := false
	f.found.line = line
	defer func() {
		if f.found != nil {
			f.found.line = ""
		}
	}()
	for _, s := range f.sources {
		if s.read(line, claimed, f.found) {
			claimed = true
		}
	}
}

// Announce takes an effect that a native integration hands over.
func (f *Finder) Announce(e plan.Effect) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || f.unknown != "" {
		return
	}
	f.read += sizeIn(e)
	switch {
	case f.read > maxOutput:
		f.giveUp("the task announced more than 64 MiB")
	case !e.Kind.IsValid() || strings.TrimSpace(e.Subject) == "":
		f.found.problem("an effect of kind %q with the subject %q does not count: it needs a known kind and a subject",
			e.Kind, e.Subject)
	default:
		f.found.announce(e)
	}
}

// sizeIn returns the size of the texts and values of an effect.
func sizeIn(e plan.Effect) int {
	n := len(e.Subject) + len(e.Text)
	for _, c := range e.Changes {
		n += len(c.Path) + len(c.Old) + len(c.New)
	}
	return n
}

// Unlook takes a part at which a native integration did not look.
func (f *Finder) Unlook(u plan.Unlooked) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended && f.unknown == "" {
		f.found.unlook(u)
	}
}

// Effects returns what was found, and ends the finder: it reads nothing after that.
func (f *Finder) Effects() *plan.Effects {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unknown == "" && !f.ended {
		f.split(f.stream.Flush())
		if len(f.line) > 0 {
			f.endLine()
		}
		for _, s := range f.sources {
			s.end(f.found)
		}
	}
	f.ended = true
	if f.unknown != "" {
		return Unknown(f.unknown)
	}
	return f.found.effects()
}

// Unknown returns effects that cannot be told, with the reason.
func Unknown(why string) *plan.Effects {
	return &plan.Effects{Unknown: why, Items: []plan.Effect{}}
}

// maxFile is how many bytes of the file {effects} are read.
const maxFile = 16 << 20

// ReadFile reads the file into which a program wrote its effects, one JSON object a line:
// {"kind": "delete", "subject": "user jane"}. A line that cannot be read is a problem.
func (f *Finder) ReadFile(file io.Reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || f.unknown != "" {
		return
	}
	limited := &io.LimitedReader{R: file, N: maxFile + 1}
	in := bufio.NewReaderSize(limited, maxLine)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			f.found.problem("line %d of the file {effects} is longer than 64 KiB; it does not count", n)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			line = nil
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			f.readMachineLine(n, text)
		}
		if limited.N <= 0 {
			f.giveUp("the task wrote more than 16 MiB of effects")
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				f.giveUp("the file {effects} cannot be read")
			}
			return
		}
	}
}

// readMachineLine reads one line of the file.
func (f *Finder) readMachineLine(n int, text string) {
	var fields map[string]json.RawMessage
	var e plan.Effect
	err := json.Unmarshal([]byte(text), &fields)
	if err == nil {
		err = f.readFields(n, fields, &e)
	}
	switch {
	case err != nil:
		f.found.problem("line %d of the file {effects} is no JSON object with kind and subject: %s", n, text)
	case !e.Kind.IsValid():
		f.found.problem("line %d of the file {effects} has no known kind (create, change, delete, other): %s", n, text)
	case strings.TrimSpace(e.Subject) == "":
		f.found.problem("line %d of the file {effects} has no subject: %s", n, text)
	default:
		f.found.announce(e)
	}
}

// readFields reads the fields of an effect. One that is wrong or that no program may say is a problem, and the
// effect counts without it. An error means that kind or subject is wrong.
func (f *Finder) readFields(n int, fields map[string]json.RawMessage, e *plan.Effect) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		to := map[string]any{"kind": &e.Kind, "subject": &e.Subject, "type": &e.Type, "name": &e.Name, "target": &e.Target,
			"part": &e.Part, "action": &e.Action, "cause": &e.Cause, "changes": &e.Changes, "times": &e.Times,
			"text": &e.Text}[strings.ToLower(name)]
		if to == nil {
			f.found.problem("line %d of the file {effects}: an effect of a program has no field %q", n, name)
			continue
		}
		switch err := json.Unmarshal(fields[name], to); {
		case err != nil && (to == any(&e.Kind) || to == any(&e.Subject)):
			return err
		case err != nil:
			reflect.ValueOf(to).Elem().SetZero() // a part of it may have been read
			f.found.problem("line %d of the file {effects}: the field %q has another form than an effect", n, name)
		}
	}
	return nil
}

// MissFile notes why the file {effects} cannot be read. Then the effects cannot be told.
func (f *Finder) MissFile(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended && f.unknown == "" {
		short, _ := f.found.shorten(why)
		f.giveUp(short)
	}
}
