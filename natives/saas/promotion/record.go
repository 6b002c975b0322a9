package promotion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxRecord is the size of the largest record that is read, in bytes. Usual ones have 200.
const maxRecord = 64 << 10

// A Record says how the runs of one commit at one publisher ended. It is the object of a bucket
// that qontract-reconcile reads and writes as well.
type Record struct {
	Success bool    // of the last run
	Hash    *string // config hash of the publisher
	Saas    *string // name of the publisher's saas file
	// CheckIn is when the commit began to run, or when its last run failed, as the object has
	// it. Nil in old records.
	CheckIn *string
	Once    *bool // has_succeeded_once: a run succeeded, at any time; nil in old records
}

// Succeeded reports whether any run of the commit succeeded.
func (r Record) Succeeded() bool { return r.Success || r.Once != nil && *r.Once }

// Since returns when the commit began to run; ok is false if the record does not tell.
func (r Record) Since() (at time.Time, ok bool) {
	if r.CheckIn == nil {
		return time.Time{}, false
	}
	at, err := parseTime(*r.CheckIn)
	return at, err == nil
}

// ParseRecord reads a record. A record with a key that is not known is an error, since the key
// may change what the others mean.
func ParseRecord(raw []byte) (Record, error) {
	var r Record
	if len(raw) > maxRecord {
		return r, fmt.Errorf("the record has more than %d bytes", maxRecord)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return r, errors.New("the record is no JSON object")
	}
	var seen []string
	for d.More() {
		t, err := d.Token()
		key, _ := t.(string)
		if err != nil || slices.Contains(seen, key) {
			return r, fmt.Errorf("the record is no JSON object, or has a key twice: %.40q", key)
		}
		seen = append(seen, key)
		if err := r.set(key, d); err != nil {
			return r, err
		}
	}
	if _, err := d.Token(); err != nil || d.More() {
		return r, errors.New("the record is no JSON object")
	}
	if !slices.Contains(seen, "success") {
		return r, errors.New("the record has no success")
	}
	if r.CheckIn != nil {
		if _, err := parseTime(*r.CheckIn); err != nil {
			return r, fmt.Errorf("check_in: %w", err)
		}
	}
	return r, nil
}

// set reads the value of a key.
func (r *Record) set(key string, d *json.Decoder) error {
	var success *bool
	places := map[string]any{"success": &success, "target_config_hash": &r.Hash, "saas_file": &r.Saas,
		"check_in": &r.CheckIn, "has_succeeded_once": &r.Once}
	to, known := places[key]
	if !known {
		return fmt.Errorf("the record has the key %.40q, which is not known", key)
	}
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%s of the record has the wrong type", key)
	}
	if key == "success" {
		if success == nil {
			return errors.New("success of the record is null")
		}
		r.Success = *success
	}
	return nil
}

// Bytes returns the object that a record is, byte for byte as json.dumps of Python writes it.
func (r Record) Bytes() []byte {
	text := func(s *string) string {
		if s == nil {
			return "null"
		}
		return quote(*s)
	}
	once := "null"
	if r.Once != nil {
		once = fmt.Sprint(*r.Once)
	}
	return fmt.Appendf(nil,
		`{"success": %t, "target_config_hash": %s, "saas_file": %s, "check_in": %s, "has_succeeded_once": %s}`,
		r.Success, text(r.Hash), text(r.Saas), text(r.CheckIn), once)
}

// A Result is how a run of a publisher ended.
type Result struct {
	Success    bool
	Saas, Hash string    // name of the saas file and config hash of the target
	At         time.Time // when it ended
	// Replaced tells that another commit ran at the publisher since the record was made.
	Replaced bool
}

// Next returns the record after a run. The time of the old record, nil for none, stays from
// success to success, unless another commit ran in between. That a run succeeded stays for ever.
func (r Result) Next(old *Record) Record {
	now, once := formatTime(r.At), r.Success
	out := Record{Success: r.Success, Hash: &r.Hash, Saas: &r.Saas, CheckIn: &now, Once: &once}
	if old != nil {
		once = once || old.Succeeded()
		if old.Success && r.Success && old.CheckIn != nil && !r.Replaced {
			out.CheckIn = old.CheckIn
		}
	}
	return out
}

// formatTime returns a time as str of a Python datetime in UTC: microseconds only if there are
// any.
func formatTime(t time.Time) string {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04:05+00:00")
	}
	return t.Format("2006-01-02 15:04:05.000000+00:00")
}

// parseTime reads a text of a Python datetime, with a blank or a T, with or without parts of a
// second. A text without an offset is in UTC.
func parseTime(text string) (time.Time, error) {
	with := strings.Replace(text, " ", "T", 1)
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, with); err == nil && strings.Count(text, " ")+strings.Count(text, "T") == 1 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is no time, such as 2026-01-31 12:00:00.123456+00:00", text)
}

// quote returns a text as json.dumps of Python writes it: what is not printable ASCII is escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\f': `\f`, '\b': `\b`}
	for _, c := range s {
		switch esc, isShort := short[c]; {
		case isShort:
			b.WriteString(esc)
		case c >= ' ' && c <= '~':
			b.WriteRune(c)
		case c > 0xffff:
			c -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
