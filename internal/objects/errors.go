package objects

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that there is no such object.
	ErrNotFound = errors.New("there is no such object")
	// ErrChanged says that the condition of a write does not hold: the object has
	// another version, or none.
	ErrChanged = errors.New("the object is not as it was")
	// ErrDenied says that the credentials do not allow the call.
	ErrDenied = errors.New("access is denied")
	// ErrUnreachable says that the store did not answer, or that it answered that
	// it has a fault of its own.
	ErrUnreachable = errors.New("it cannot be reached")
	// ErrTooLarge says that an object is larger than the caller takes.
	ErrTooLarge = errors.New("it is too large")
)

// An answerError is an answer of the store that is no success. The retries of the
// SDK look at its status and its code.
type answerError struct {
	status        int
	code, message string
}

func (e *answerError) Error() string                 { return e.code + ": " + e.message }
func (e *answerError) HTTPStatusCode() int           { return e.status }
func (e *answerError) ErrorCode() string             { return e.code }
func (e *answerError) ErrorMessage() string          { return e.message }
func (e *answerError) ErrorFault() smithy.ErrorFault { return smithy.FaultUnknown }

// maxErrorBody is how much is read of the body of an error.
const maxErrorBody = 64 << 10

// readError returns the error that an answer tells. An answer to HEAD has no body,
// and a proxy may answer with a page: then the status is all there is to tell.
func readError(res *http.Response) *answerError {
	text := http.StatusText(res.StatusCode)
	out := &answerError{status: res.StatusCode, code: strings.ReplaceAll(text, " ", ""), message: text}
	var body struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}
	if xml.NewDecoder(io.LimitReader(res.Body, maxErrorBody)).Decode(&body) == nil && body.Code != "" {
		out.code, out.message = body.Code, body.Message
	}
	return out
}

// A skewError is an answer to a signature whose time was wrong. It is retried.
type skewError struct{ *answerError }

func (e *skewError) RetryableError() bool { return true }
func (e *skewError) Unwrap() error        { return e.answerError }

// classify returns the error of this package that an error is, or else the error
// without the words that the SDK puts around it.
func classify(err error) error {
	if err == nil {
		return nil
	}
	status, code := 0, ""
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	var network net.Error
	switch {
	case code == "NoSuchKey":
		return ErrNotFound // no other 404 is: a proxy may answer 404 to everything
	case status == http.StatusPreconditionFailed, status == http.StatusConflict:
		return ErrChanged
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return fmt.Errorf("%w (%s)", ErrDenied, code)
	case status == http.StatusNotImplemented:
		return fmt.Errorf("%w (%s)", errors.ErrUnsupported, code)
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fmt.Errorf("%w: it answers %d %s", ErrUnreachable, status, code)
	case status == 0 && errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: it does not answer in time", ErrUnreachable)
	case status == 0 && errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", ErrUnreachable, plain(err))
	}
	return plain(err)
}

// plain returns the cause of an error, without the words that the SDK puts around
// it.
func plain(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		return fmt.Errorf("%s: %s", api.ErrorCode(), api.ErrorMessage())
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return network
	}
	var attempts *retry.MaxAttemptsError
	if errors.As(err, &attempts) {
		err = attempts.Err
	}
	var send *smithyhttp.RequestSendError
	if errors.As(err, &send) {
		err = send.Err
	}
	return err
}
