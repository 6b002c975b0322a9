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

	"github.com/app-sre/prcheck/bundle"
)

// maxBody is the size of a request's body above which it is refused, as
// qontract-server does.
const maxBody = 100 << 10

var errTooLarge = errors.New("the body is too large")

// body reads the JSON body of a request as express does, whatever the request
// is for. A body of another type is left alone: the value is then nil.
func body(r *http.Request) (any, *reply) {
	kind := r.Header.Get("Content-Type")
	if r.ContentLength == 0 && r.Header.Get("Content-Length") == "" || essence(kind) != "application/json" {
		return nil, nil
	}
	if c := charset(kind); c != "" && c != "utf-8" {
		return nil, refusedPage(http.StatusUnsupportedMediaType)
	}
	raw, err := inflated(r)
	switch {
	case errors.Is(err, errUnknownEncoding):
		return nil, refusedPage(http.StatusUnsupportedMediaType)
	case errors.Is(err, errTooLarge):
		return nil, refusedPage(http.StatusRequestEntityTooLarge)
	case err != nil:
		return nil, refusedPage(http.StatusBadRequest)
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
		return nil, refusedPage(http.StatusBadRequest)
	}
	v, err := bundle.ParseValue(raw)
	if err != nil {
		return nil, refusedPage(http.StatusBadRequest)
	}
	return v, nil
}

var errUnknownEncoding = errors.New("the content encoding is not known")

// essence is a content type without its parameters, in lower case.
func essence(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// charset is the parameter charset of a content type, in lower case.
func charset(kind string) string {
	if !strings.Contains(kind, ";") {
		return ""
	}
	_, params, err := mime.ParseMediaType(kind)
	if err != nil {
		return ""
	}
	return strings.ToLower(params["charset"])
}

// inflated reads the whole body and undoes its content encoding.
func inflated(r *http.Request) ([]byte, error) {
	var in io.Reader = r.Body
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "", "identity":
		if r.ContentLength > maxBody {
			return nil, errTooLarge
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
		err = errTooLarge
	}
	return raw, err
}
