package origin

import "testing"

func TestParse(t *testing.T) {
	for address, want := range map[string]string{
		"https://Quay.io/v2":           "https quay.io",
		"https://quay.io:443":          "https quay.io",
		"https://quay.io:8443/x":       "https quay.io:8443",
		"http://localhost:5000":        "http localhost:5000",
		"http://127.8.9.1":             "http 127.8.9.1",
		"http://[::1]:80/":             "http ::1",
		"https://[2001:db8::1]:8443":   "https [2001:db8::1]:8443",
		"http://[::ffff:127.0.0.1]/":   "http ::ffff:127.0.0.1",
		"http://quay.io":               errHTTP.Error(),
		"http://127.0.0.1.example.com": errHTTP.Error(),
		"http://127.1":                 errHTTP.Error(), // a resolver may take it for this machine, and nobody else does
		"ftp://localhost":              errHTTP.Error(),
		"https://user@quay.io":         errForm.Error(),
		"https://user:pw@localhost":    errForm.Error(),
		"https://":                     errForm.Error(),
		"quay.io/x":                    errForm.Error(),
		"quay.io:443":                  errForm.Error(),
		"":                             errForm.Error(),
		"https://*.quay.io":            errHost.Error(),
		"https://[fe80::1%25eth0]":     errHost.Error(),
		"https://quay.io:0":            errPort.Error(),
		"https://quay.io:65536":        errPort.Error(),
		"https://quay.io:x":            errPort.Error(),
		"https://quay.io:":             errPort.Error(),
	} {
		o, err := Parse(address)
		got := o.Scheme + " " + o.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

// Registries of this machine have no TLS, and all others have it.
func TestOfHost(t *testing.T) {
	for host, want := range map[string]string{
		"quay.io": "https://quay.io", "quay.io:5000": "https://quay.io:5000", "localhost:5000": "http://localhost:5000",
		"127.0.0.1": "http://127.0.0.1", "[2001:db8::1]": "https://[2001:db8::1]",
		"localhost:443": "http://localhost:443", "127.0.0.1.example.com": "https://127.0.0.1.example.com",
		"quay.io:65536": "",
	} {
		o, err := OfHost(host)
		if got := o.Address(); (err == nil) != (want != "") || want != "" && got != want {
			t.Errorf("%s: got %q, %v, want %q", host, got, err, want)
		}
	}
}

// The address of a server has a path at most.
func TestServer(t *testing.T) {
	for address, isFine := range map[string]bool{
		"https://a.example/b": true, "http://localhost:1": true, "https://a.example?b": false, "https://a.example#b": false,
		"https://a.example/?": false, "http://a.example": false,
	} {
		if o, err := Server(address); (err == nil) != isFine {
			t.Errorf("%s: got %v, %v", address, o, err)
		}
	}
}
