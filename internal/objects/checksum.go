package objects

import (
	"crypto/sha1" //nolint:gosec // a checksum of S3, not a signature
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"net/http"
	"strings"
)

// checksums are the checksums of objects that S3 knows, the one to prefer first.
var checksums = []struct {
	header string
	hash   func() hash.Hash
}{
	{"X-Amz-Checksum-Crc64nvme", func() hash.Hash { return crc64.New(crc64.MakeTable(0x9a6c9329ac4bc9b5)) }},
	{"X-Amz-Checksum-Crc32", func() hash.Hash { return crc32.NewIEEE() }},
	{"X-Amz-Checksum-Crc32c", func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }},
	{"X-Amz-Checksum-Sha256", sha256.New},
	{"X-Amz-Checksum-Sha1", sha1.New},
}

var errDamaged = errors.New("the object is damaged: its checksum is not the one that the store names")

// checkedBody returns the body of an answer. Reading it ends with an error if the
// bytes do not have the checksum that the answer names. A checksum with a dash is
// one of checksums of parts, and tells nothing about the whole.
func checkedBody(res *http.Response) io.Reader {
	for _, c := range checksums {
		if want := res.Header.Get(c.header); want != "" && !strings.Contains(want, "-") {
			return &checkedReader{from: res.Body, hash: c.hash(), want: want}
		}
	}
	return res.Body
}

// A checkedReader compares the checksum of all bytes when it reaches their end.
type checkedReader struct {
	from io.Reader
	hash hash.Hash
	want string
}

func (r *checkedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	_, _ = r.hash.Write(p[:n]) // never fails
	if errors.Is(err, io.EOF) && base64.StdEncoding.EncodeToString(r.hash.Sum(nil)) != r.want {
		return n, errDamaged
	}
	return n, err
}
