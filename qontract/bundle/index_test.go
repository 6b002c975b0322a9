package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// indexed returns the text of a random bundle, the bundle, and its index.
func indexed(t *testing.T, r *rand.Rand) (raw []byte, b *Bundle, index []byte) {
	t.Helper()
	raw = []byte(randomBundle(r))
	b, err := Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	index, ok := b.Index(raw)
	if !ok {
		t.Fatalf("no index of %s", raw)
	}
	return raw, b, index
}

// openIndexed opens a bundle of bytes in memory by an index.
func openIndexed(raw, index []byte, whole func() (*Bundle, error)) (*Bundle, error) {
	return OpenIndexed(bytes.NewReader(raw), int64(len(raw)), index, whole)
}

// TestIndexLaw checks that a bundle is the same by its index and by its text.
func TestIndexLaw(t *testing.T) {
	none := func() (*Bundle, error) { return nil, errors.New("the bundle file is not damaged") }
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		raw, want, index := indexed(t, r)
		got, err := openIndexed(raw, index, none)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if describe(got) != describe(want) || got.SHA256() != want.SHA256() || got.Commit() != want.Commit() ||
			got.Timestamp() != want.Timestamp() {
			t.Errorf("seed %d: got %s\nwant %s", seed, describe(got), describe(want))
		}
		head := []byte(randomBundle(r))
		other, err := Parse(head, got)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := Parse(head, nil)
		if err != nil {
			t.Fatal(err)
		}
		if describe(other) != describe(alone) {
			t.Errorf("seed %d: with files of the bundle: got %s\nwant %s", seed, describe(other), describe(alone))
		}
		if a, b := IndexMentions(got, other).DanglingRefs(other), IndexMentions(alone).DanglingRefs(alone); len(a) != len(b) {
			t.Errorf("seed %d: got %v, want %v", seed, a, b)
		}
	}
}

// TestIndexLawSees changes what an index says of mentions and schemas. The law must see each
// change of a mention, and each other schema.
func TestIndexLawSees(t *testing.T) {
	raw := []byte(`{"data":{"/a":{"$schema":"/s","r":{"$ref":"/b"}},"/b":{"$schema":"/t","o":{"path":"/a"}}},"resources":{},"schemas":{}}`)
	b, err := Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	index, ok := b.Index(raw)
	if !ok {
		t.Fatal("the bundle has no index")
	}
	h, _, err := parseIndexHead(index)
	if err != nil {
		t.Fatal(err)
	}
	end := len(index)
	rows := end - h.Mentions - h.Heads - h.Paths - 2*indexRowSize
	places := []int{rows + indexRowSize - 4, rows + 2*indexRowSize - 4} // of the numbers of the schemas
	for at := end - h.Mentions; at < end; at += mentionSize {
		places = append(places, at, at+8) // of the hash, and of the flags
	}
	for _, at := range places {
		damaged := slices.Clone(index)
		damaged[at] ^= 1
		got, err := openIndexed(raw, damaged, func() (*Bundle, error) { return b, nil })
		if err == nil && describe(got) == describe(b) {
			t.Errorf("nobody sees the change of byte %d of %d", at, end)
		}
	}
}

// TestIndexOfDamagedFile damages bundle files that have an index. The bundle is then made in
// the other way.
func TestIndexOfDamagedFile(t *testing.T) {
	again := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		raw, want, index := indexed(t, r)
		damaged := []byte(string(raw))
		for range 1 + r.IntN(3) {
			damaged[r.IntN(len(damaged))] ^= byte(1 + r.IntN(255))
		}
		got, err := openIndexed(damaged, index, func() (*Bundle, error) { again++; return want, nil })
		if err != nil {
			continue // the damage is in the types
		}
		if err := got.ReadAll(); err != nil || describe(got) != describe(want) {
			t.Errorf("seed %d: %v, got %s\nwant %s", seed, err, describe(got), describe(want))
		}
		if _, err := openIndexed(raw[1:], index, nil); err == nil {
			t.Errorf("seed %d: a file of another size was taken", seed)
		}
	}
	if again < 100 {
		t.Errorf("the bundle was made again %d times alone", again)
	}
}

// TestDamagedIndex checks that no index leads to a panic when it is opened.
func TestDamagedIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	raw, _, index := indexed(t, r)
	other := bytes.Replace(index, []byte(`{"Version":1,`), []byte(`{"Version":2,`), 1)
	if _, err := openIndexed(raw, other, nil); err == nil || bytes.Equal(other, index) {
		t.Error("an index of another version was taken")
	}
	for i := range index {
		if _, err := openIndexed(raw, index[:i], nil); err == nil {
			t.Errorf("an index of %d of %d bytes was taken", i, len(index))
		}
		damaged := []byte(string(index))
		damaged[i] ^= byte(1 + r.IntN(255))
		_, _ = openIndexed(raw, damaged, nil)
	}
}

// TestIndexOfAnother opens indexes with a bundle that was not made in the same way.
func TestIndexOfAnother(t *testing.T) {
	raw := []byte(`{"data":{"/a":{"$schema":"/s","n":1}}}`)
	b, err := Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	index, _ := b.Index(raw)
	other, err := Parse([]byte(`{"data":{"/a":{"$schema":"/s","n":2}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(strings.Replace(string(raw), `"n":1`, `"n":3`, 1))
	got, err := openIndexed(damaged, index, func() (*Bundle, error) { return other, nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Err(); err != nil {
		t.Errorf("before a text is read: %v", err)
	}
	if err := got.ReadAll(); err == nil || got.Err() == nil || Apart(got, got).Err() == nil ||
		!strings.Contains(err.Error(), "remove the cache") {
		t.Errorf("reading all: %v", err)
	}
	f := got.Datafiles()[0]
	for range 2 {
		for name, use := range map[string]func(){
			"Raw": func() { _ = f.Raw() }, "Object": func() { _ = f.Object() }, "Decode": func() { _ = f.Decode() },
			"Peek": func() { f.Peek(func([]byte) {}) }, "EachMention": func() { f.EachMention(func(Path) bool { return true }) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: the text of another bundle was used, or none", name)
					}
				}()
				use()
			}()
		}
	}
}

// TestIndexOfOddTexts checks that texts which are no UTF-8 have no index, or the same one.
func TestIndexOfOddTexts(t *testing.T) {
	for _, text := range []string{
		"{\"data\":{\"/a\xff\":{\"$schema\":\"/s\"}}}",
		"{\"data\":{\"/a\":{\"$schema\":\"/\xff\"}}}",
		"{\"data\":{\"/a\":{\"$schema\":\"/s\",\"r\":{\"$ref\":\"/\xfe\"}}},\"git_commit\":\"\xff\"}",
		`{"data":{"/a":{"$schema":"/\ud800"}}}`,
		`{"data":{}}`,
	} {
		raw := []byte(text)
		want, err := Parse(raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		index, ok := want.Index(raw)
		if !ok {
			continue
		}
		got, err := openIndexed(raw, index, nil)
		if err != nil || describe(got) != describe(want) || got.Commit() != want.Commit() {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzOpenIndexed opens any bytes by any index. Nobody panics, also when the sums of the index
// are those of the bytes.
func FuzzOpenIndexed(f *testing.F) {
	raw := []byte(`{"data":{"/a":{"$schema":"/s","r":{"$ref":"/b"}},"/b":{"$schema":"/s"}},"resources":{},"graphql":[1],"git_commit":"c"}`)
	whole, err := Parse(raw, nil)
	if err != nil {
		f.Fatal(err)
	}
	index, ok := whole.Index(raw)
	if !ok {
		f.Fatal("the bundle has no index")
	}
	f.Add(raw, index)
	f.Add(raw[:len(raw)/2], index)
	f.Fuzz(func(t *testing.T, raw, index []byte) {
		b, err := openIndexed(raw, fitted(raw, index, whole.SHA256()), func() (*Bundle, error) { return whole, nil })
		if err != nil {
			return
		}
		for _, file := range b.Datafiles() {
			if _, ok := whole.Datafile(file.Path); ok { // the other bundle has no more
				_ = file.Object()
				file.Peek(func([]byte) {})
			}
		}
		m := IndexMentions(b)
		_, _ = m.Of("/b"), m.DanglingRefs(b)
	})
}

// fitted gives the texts of an index the sums of the bytes at their places, and the index the
// size of the bytes and a sha256.
func fitted(raw, index []byte, sha256 string) []byte {
	h, rest, err := parseIndexHead(index)
	if err != nil {
		return index
	}
	rows, _, _, _, err := h.split(rest)
	if err != nil {
		return index
	}
	h.Size, h.SHA256 = len(raw), sha256
	fit := func(t *indexedText) {
		if t.At >= 0 && t.Size >= 0 && t.At <= len(raw) && t.Size <= len(raw)-t.At {
			t.Sum = sumOf(raw[t.At : t.At+t.Size])
		}
	}
	fit(&h.GraphQL)
	var out []byte
	for ; len(rows) > 0; rows = rows[indexRowSize:] {
		text, size, schema := readIndexRow(rows)
		fit(&text)
		out = appendIndexRow(out, text, size, schema)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return index
	}
	return bytes.Join([][]byte{line, []byte("\n"), out, rest[len(out):]}, nil)
}
