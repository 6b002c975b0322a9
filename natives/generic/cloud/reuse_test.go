package cloud_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// A reader parses specifications once, until one of their documents changes, comes or goes.
func TestReaderReuses(t *testing.T) {
	reader := &cloud.Reader{}
	read := func(change func(w *cloudtest.World)) *cloud.Specs {
		t.Helper()
		w := cloudtest.New("https://arm.example")
		change(w)
		m, err := reader.Read(t.Context(), w.Query(t))
		if err != nil {
			t.Fatal(err)
		}
		return m.APIs[0].Specs()
	}
	same := func(*cloudtest.World) {}
	first := read(same)
	for name, change := range map[string]func(w *cloudtest.World){
		"a specification": func(w *cloudtest.World) {
			w.Resources[cloudtest.Spec] = strings.Replace(cloudtest.Specification, "peer", "friend", 1)
		},
		"a document that it refers to": func(w *cloudtest.World) {
			w.Resources["/specs/common.json"] = strings.Replace(cloudtest.Common, "start", "begin", 1)
		},
		"a document is gone": func(w *cloudtest.World) { delete(w.Resources, "/specs/common.json") },
		"overrides": func(w *cloudtest.World) {
			w.Data[cloudtest.API]["overrides"] = "/specs/overrides.json"
			w.Resources["/specs/overrides.json"] = `{"overrides": []}`
		},
	} {
		if read(change) == first {
			t.Errorf("%s: the old specifications are used", name)
		}
		if read(same) != first {
			t.Errorf("%s: the same specifications are read again", name)
		}
	}
}
