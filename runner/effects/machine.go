package effects

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

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
	var e struct {
		Kind    plan.EffectKind `json:"kind"`
		Subject string          `json:"subject"`
	}
	err := json.Unmarshal([]byte(text), &e)
	switch {
	case err != nil:
		f.found.problem("line %d of the file {effects} is no JSON object with kind and subject: %s", n, text)
	case !e.Kind.IsValid():
		f.found.problem("line %d of the file {effects} has no known kind (create, change, delete, other): %s", n, text)
	case strings.TrimSpace(e.Subject) == "":
		f.found.problem("line %d of the file {effects} has no subject: %s", n, text)
	default:
		f.found.add(e.Kind, e.Subject, 1)
	}
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
