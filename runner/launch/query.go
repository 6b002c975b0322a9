package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// The bounds of an answer to a native integration.
const (
	maxAnswer   = 1 << 30 // bytes
	answerLimit = 5 * time.Minute
)

// queryFunc returns a function that sends queries to a GraphQL address, with a token if it has one. An answer counts
// only if it is whole: status 200, one JSON object with an object as data, and no errors. All else
// would look like an empty world, in which nothing is to be checked and all is to be deleted.
func queryFunc(url, token string) integration.QueryFunc {
	return func(ctx context.Context, query string, variables map[string]any) ([]byte, error) {
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, answerLimit)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		if token != "" {
			req.Header.Set("Authorization", token)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
		switch {
		case err != nil:
			return nil, fmt.Errorf("reading the answer (status %s): %w", res.Status, err)
		case len(raw) > maxAnswer:
			return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
		}
		return wholeData(res, raw)
	}
}

// wholeData returns the data of an answer. It is an error unless the answer is whole.
func wholeData(res *http.Response, raw []byte) ([]byte, error) {
	var answer struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	err := json.Unmarshal(raw, &answer)
	isObject := bytes.HasPrefix(bytes.TrimSpace(answer.Data), []byte("{"))
	if failed := readErrors(answer.Errors); err == nil && failed != nil {
		if res.StatusCode == http.StatusOK && isObject {
			return nil, &integration.AnswerError{Data: answer.Data, Errors: failed}
		}
		if res.StatusCode == http.StatusOK {
			return nil, &integration.NoAnswerError{Errors: failed}
		}
		return nil, errors.New(failed[0].Message)
	}
	switch {
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the server answers %s", res.Status)
	case err != nil:
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	case !isObject:
		return nil, errors.New("the answer has no data")
	}
	return answer.Data, nil
}

// readErrors returns the errors of an answer, nil if there are none. Errors of another form
// are one error without a place.
func readErrors(raw json.RawMessage) []integration.FieldError {
	if text := string(bytes.TrimSpace(raw)); text == "" || text == "null" || text == "[]" {
		return nil
	}
	var list []integration.FieldError
	isWrong := func(e integration.FieldError) bool { return e.Message == "" }
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || slices.ContainsFunc(list, isWrong) {
		return []integration.FieldError{{Message: "the answer has errors without a message"}}
	}
	return list
}
