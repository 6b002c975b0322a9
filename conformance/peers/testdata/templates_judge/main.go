// Command templates_judge fills in templates as OpenShift's library does. It is built outside of this module, which does
// not have the library: the step judges of .ci/run does it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strings"

	templatev1 "github.com/openshift/api/template/v1"
	"github.com/openshift/library-go/pkg/template/generator"
	"github.com/openshift/library-go/pkg/template/templateprocessing"
)

// A line is an input or an answer.
type line struct {
	ID    string `json:"id"`
	Input *struct {
		Template json.RawMessage
		Values   map[string]string
	} `json:"input,omitempty"`
	Answer  any    `json:"answer,omitempty"`
	Error   string `json:"error,omitempty"`
	LeftOut string `json:"left_out,omitempty"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	write := func(v any) {
		if err := out.Encode(v); err != nil {
			log.Fatal(err)
		}
	}
	write(map[string]string{"peer": "library-go " + version()})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			log.Fatal(err)
		}
		l.answer()
		l.Input = nil
		write(l)
	}
}

// version returns the commit of the library.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == "github.com/openshift/library-go" {
			return dep.Version[strings.LastIndex(dep.Version, "-")+1:]
		}
	}
	return "unknown"
}

// answer processes the template.
func (l *line) answer() {
	defer func() {
		if mistake := recover(); mistake != nil {
			l.Error = fmt.Sprint(mistake)
		}
	}()
	var t templatev1.Template
	if err := json.Unmarshal(l.Input.Template, &t); err != nil {
		l.Error = err.Error()
		return
	}
	if t.Kind != "Template" {
		l.LeftOut = "it is no template, which is not looked at"
		return
	}
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if value, isGiven := l.Input.Values[p.Name]; isGiven {
			p.Value, p.Generate = value, ""
		}
		if p.Generate != "" && p.Value == "" {
			l.LeftOut = "a value would be generated"
			return
		}
	}
	if errs := templateprocessing.NewProcessor(map[string]generator.Generator{}).Process(&t); len(errs) > 0 {
		l.Error = errs.ToAggregate().Error()
		return
	}
	objects := []any{}
	for _, o := range t.Objects {
		objects = append(objects, o.Object)
	}
	l.Answer = objects
}
