package promotion

import (
	"strings"
	"testing"
	"time"
)

// hours returns a time.
func hours(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }

func TestParseRecord(t *testing.T) {
	for name, c := range map[string]struct{ raw, err string }{
		"all keys": {`{"success": true, "target_config_hash": "h", "saas_file": "s", "check_in": "2026-11-23 12:00:00.000001+00:00", "has_succeeded_once": true}`, ""},
		"old":      {`{"success": false}`, ""},
		"nulls": {
			`{"success": true, "target_config_hash": null, "saas_file": null, "check_in": null, "has_succeeded_once": null}`,
			""},
		"key not known":    {`{"success": true, "more": 1}`, "not known"},
		"key in capitals":  {`{"Success": true}`, "not known"},
		"key twice":        {`{"success": false, "success": true}`, "twice"},
		"no success":       {`{"saas_file": "s"}`, "no success"},
		"success null":     {`{"success": null}`, "null"},
		"success a text":   {`{"success": "true"}`, "wrong type"},
		"a list":           {`[]`, "no JSON object"},
		"cut":              {`{"success": true`, "no JSON object"},
		"two":              {`{"success": true} {}`, "no JSON object"},
		"nothing":          {``, "no JSON object"},
		"time is none":     {`{"success": true, "check_in": "yesterday"}`, "no time"},
		"larger than that": {`{"success": true, "saas_file": "` + strings.Repeat("s", maxRecord) + `"}`, "more than"},
	} {
		_, err := ParseRecord([]byte(c.raw))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %q", name, err, c.err)
		}
	}
}

func TestParseTime(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-01-02 03:04:05+00:00":        want,
		"2026-01-02 03:04:05":              want,
		"2026-01-02T03:04:05Z":             want,
		"2026-01-02 05:04:05.000007+02:00": want.Add(7 * time.Microsecond),
		"2026-01-02 03:04:05.500000":       want.Add(500 * time.Millisecond),
	} {
		if got, err := parseTime(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2026-01-02", "2026-01-02 T03:04:05", "2026-13-02 03:04:05"} {
		if got, err := parseTime(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
	for _, at := range []time.Time{want, want.Add(7 * time.Microsecond)} {
		if got, err := parseTime(formatTime(at)); err != nil || !got.Equal(at) {
			t.Errorf("%v: got %v, %v", at, got, err)
		}
	}
}

func TestBytes(t *testing.T) {
	name := "sé\"\\\n\u007f😀"
	got := string(Record{Success: true, Saas: &name}.Bytes())
	want := `{"success": true, "target_config_hash": null, "saas_file": "s\u00e9\"\\\n\u007f\ud83d\ude00", "check_in": null, "has_succeeded_once": null}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(`{"success": true, "check_in": "2026-11-23 12:00:00.000001+00:00"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := ParseRecord(raw)
		if err != nil {
			return
		}
		again, err := ParseRecord(r.Bytes())
		if err != nil || string(again.Bytes()) != string(r.Bytes()) {
			t.Errorf("%s became %s: %v", raw, again.Bytes(), err)
		}
	})
}
