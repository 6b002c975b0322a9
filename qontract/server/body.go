package server

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// maxBody is the maximal size of a request's body in bytes, as in qontract-server.
const maxBody = 100 << 10

// errBodyTooLarge reports that a body is larger than maxBody.
var errBodyTooLarge = errors.New("the body is too large")

// readBody reads the JSON body of a request as express does, for every route. If the body
// has another content type, the value is nil. If the body cannot be read, the reply says
// why.
func readBody(r *http.Request) (any, *reply) {
	contentType := r.Header.Get("Content-Type")
	if r.ContentLength == 0 && r.Header.Get("Content-Length") == "" || mediaType(contentType) != "application/json" {
		return nil, nil
	}
	if c := charset(contentType); c != "" && c != "utf-8" {
		return nil, statusPage(http.StatusUnsupportedMediaType)
	}
	raw, err := readDecoded(r)
	switch {
	case errors.Is(err, errUnknownEncoding):
		return nil, statusPage(http.StatusUnsupportedMediaType)
	case errors.Is(err, errBodyTooLarge):
		return nil, statusPage(http.StatusRequestEntityTooLarge)
	case err != nil:
		return nil, statusPage(http.StatusBadRequest)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if len(raw) == 0 {
		return &bundle.Object{}, nil
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	first := bytes.TrimLeft(raw, " \t\n\r")
	if len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return nil, statusPage(http.StatusBadRequest)
	}
	v, err := bundle.ParseValue(raw)
	if err != nil {
		return nil, statusPage(http.StatusBadRequest)
	}
	return v, nil
}

// errUnknownEncoding reports a content encoding that this package cannot decode.
var errUnknownEncoding = errors.New("the content encoding is not known")

// mediaType returns a content type without its parameters, in lower case.
func mediaType(contentType string) string {
	contentType, _, _ = strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(contentType))
}

// charset returns the parameter charset of a content type in lower case, "" if there is
// none.
func charset(contentType string) string {
	if !strings.Contains(contentType, ";") {
		return ""
	}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return strings.ToLower(params["charset"])
}

// readDecoded reads the whole body and decodes its content encoding.
func readDecoded(r *http.Request) ([]byte, error) {
	var in io.Reader = r.Body
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "", "identity":
		if r.ContentLength > maxBody {
			return nil, errBodyTooLarge
		}
	case "gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = z
	case "deflate":
		z, err := zlib.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = z
	default:
		return nil, errUnknownEncoding
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	if err == nil && len(raw) > maxBody {
		err = errBodyTooLarge
	}
	return raw, err
}
