package packed_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/packed"
)

func TestReader(t *testing.T) {
	number := func(n uint64) string { return string(binary.AppendUvarint(nil, n)) }
	text := number(300) + number(2) + "ab" + number(0)
	r := packed.Read(text + "rest")
	if n, s, e := r.Number(), r.Text(), r.Text(); n != 300 || s != "ab" || e != "" || r.IsDamaged() || r.Rest() != "rest" {
		t.Errorf("got %d, %q, %q, damaged %v, rest %q", n, s, e, r.IsDamaged(), r.Rest())
	}
	for name, damaged := range map[string]string{
		"nothing": "", "half a number": "\xff\xff", "a number without end": strings.Repeat("\xff", 11),
		"a text that is cut": number(9) + "ab", "a length beyond all memory": number(1<<62) + "ab",
	} {
		r := packed.Read(damaged)
		if s := r.Text(); s != "" || !r.IsDamaged() || r.Rest() != "" || r.Number() != 0 || r.Text() != "" {
			t.Errorf("%s: got %q, damaged %v, rest %q", name, s, r.IsDamaged(), r.Rest())
		}
	}
}
