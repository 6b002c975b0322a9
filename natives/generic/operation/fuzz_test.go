package operation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/operation"
)

// Whatever a service answers, an operation is followed at the host of the endpoint only, and
// ends in one of the known ways.
func FuzzBegin(f *testing.F) {
	f.Add(202, "https://management.example/op/1", "", "7", `{}`)
	f.Add(201, "", "//evil.example/x", "-1", `{"properties":{"provisioningState":"Creating"}}`)
	f.Add(200, "https://management.example:443@evil.example/", "/x", "99999999999",
		`{"properties":{"provisioningState":"canceled"},"error":{"code":7}}`)
	endpoint := &url.URL{Scheme: "https", Host: "management.example", Path: "/base"}
	f.Fuzz(func(t *testing.T, status int, async, location, after, raw string) {
		v, err := body.Parse([]byte(raw))
		if err != nil {
			v = nil
		}
		h := http.Header{"Azure-Asyncoperation": {async}, "Location": {location}, "Retry-After": {after}}
		o, r := operation.Begin(http.MethodPut, resource, endpoint, operation.Answer{Status: status, Header: h, Body: v},
			noon)
		switch {
		case o == nil && r.Outcome != operation.Succeeded && r.Outcome != operation.Failed:
			t.Errorf("got %+v", r)
		case o == nil:
		case o.Wait < 1 || o.Wait > 600:
			t.Errorf("it would wait %d s", o.Wait)
		default:
			if _, err := operation.Resolve(endpoint, o.Result); o.Result != "" && err != nil {
				t.Errorf("got the result %q", o.Result)
			}
			u, err := operation.Resolve(endpoint, o.Address)
			if err != nil || u.Scheme != "https" || !strings.EqualFold(u.Host, "management.example") || u.User != nil {
				t.Errorf("got the address %v, %v", u, err)
			}
		}
	})
}
