package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	childpipeline "github.com/app-sre/prcheck/pipeline"
	"github.com/app-sre/prcheck/plan"
)

// child PLAN PARTS runs the jobs of the child pipeline of a plan as GitLab would,
// each instance by a shell, but for the last job. How many there were is printed.
func child(ts *testscript.TestScript, _ bool, args []string) {
	p, err := plan.Read(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	parts, err := strconv.Atoi(args[1])
	ts.Check(err)
	var text bytes.Buffer
	ts.Check(childpipeline.Write(&text, p, childpipeline.Options{Parts: parts}))
	var jobs map[string]yaml.Node
	ts.Check(yaml.Unmarshal(text.Bytes(), &jobs))
	ran := 0
	for name, node := range jobs {
		if !strings.HasPrefix(name, "prcheck-part") {
			continue
		}
		var job struct {
			Parallel int
			Script   []string
		}
		ts.Check(node.Decode(&job))
		script := strings.Join(job.Script, "\n")
		script = strings.Replace(script, "rm -rf prcheck/results prcheck/logs", ":", 1) // all jobs share a folder here
		for i := range max(job.Parallel, 1) {
			ts.Setenv("CI_NODE_INDEX", "")
			if job.Parallel > 0 {
				ts.Setenv("CI_NODE_INDEX", strconv.Itoa(i+1))
			}
			ts.Check(os.WriteFile(ts.MkAbs("job.sh"), []byte(script), 0o600))
			ts.Check(ts.Exec("sh", "-eu", "job.sh"))
			ran++
		}
	}
	_, err = ts.Stdout().Write([]byte(strconv.Itoa(ran) + " instances\n"))
	ts.Check(err)
}
