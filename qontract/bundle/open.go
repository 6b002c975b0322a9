package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/app-sre/prcheck/internal/hugepages"
)

// Open reads and indexes a bundle file. If reuse is not nil, the new bundle shares the
// files that have the same bytes in reuse. Errors name the file and the byte.
func Open(name string, reuse *Bundle) (*Bundle, error) {
	raw, err := ReadFile(name)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("reading bundle %q: %w", name, err)
	}
	b, err := Parse(raw, reuse)
	if err != nil {
		return nil, fmt.Errorf("reading bundle %q: %w", name, err)
	}
	return b, nil
}

// ReadFile reads a whole file. Its memory may use huge pages, which makes reading large
// files faster.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe, whose size is unknown, or a directory
		return io.ReadAll(f)
	}
	raw := make([]byte, info.Size())
	hugepages.Advise(raw)
	n, err := io.ReadFull(f, raw)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // the file became shorter while it was read; parsing will find that
	}
	return raw[:n], err
}

// Parse indexes the bytes of a bundle file. It keeps the bytes, so the caller must not
// change them afterwards. [Open] explains reuse.
func Parse(raw []byte, reuse *Bundle) (*Bundle, error) {
	return parse(raw, hashed(raw), reuse, requireSchema)
}

// ParseUnchecked is like [Parse], but accepts datafiles without $schema. It is for a
// validator, which reports all of them. Other code should not use such a bundle.
func ParseUnchecked(raw []byte, reuse *Bundle) (*Bundle, error) {
	return parse(raw, hashed(raw), reuse, requireNothing)
}

// ParseWithSHA256 is like [Parse], but the caller gives the sha256 of the bundle. It is for
// bytes that are put together from the answers of a server: sha256 is that of the server's
// bundle file.
func ParseWithSHA256(raw []byte, sha256 string, reuse *Bundle) (*Bundle, error) {
	return parse(raw, known(sha256), reuse, requireSchema)
}

// hashed returns what computes the sha256 of bytes once. It lets go of them then.
func hashed(raw []byte) func() string {
	return sync.OnceValue(func() string {
		sum := sha256.Sum256(raw)
		return hex.EncodeToString(sum[:])
	})
}

func parse(raw []byte, sha256 func() string, reuse *Bundle, datafileRequirement requirement) (*Bundle, error) {
	if len(raw) == 0 {
		return nil, errors.New("the file is empty: make the bundle again")
	}
	if reuse == nil {
		reuse = &Bundle{}
	}
	r := reader{scanner: scanner{data: raw, mentions: make([]mention, 0, len(raw)/bytesPerMention)}, b: &Bundle{},
		datafileRequirement: datafileRequirement}
	if err := r.readBundle(reuse); err != nil {
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			err = fmt.Errorf("%w: not a whole bundle; make it again", err)
		}
		return nil, err
	}
	r.b.sha256 = sha256
	return r.b, nil
}
