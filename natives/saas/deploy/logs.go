package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// The bounds of logs: pods of a run, and bytes of a container.
const (
	maxLogs = 50
	maxLog  = 1 << 20
)

// publishLogs writes what the pods of Jobs wrote into the log of the run. What cannot be read is
// told there, and fails nothing.
func (v *view) publishLogs(ctx context.Context, env integration.Environment, written []reconcile.Key) {
	tell := func(format string, of ...any) {
		_, _ = fmt.Fprintln(env.Log, sanitize.Line(fmt.Sprintf(format, of...))) // the log is for people
	}
	var names []string
	for _, key := range written {
		if k := v.kinds[key]; k.Name == "Job" && k.Group == "batch" {
			names = append(names, string(key[strings.LastIndexByte(string(key), '/')+1:]))
		}
	}
	if len(names) == 0 {
		return
	}
	reader, err := env.Cluster(ctx, v.cluster)
	logs, canRead := reader.(integration.LogReader)
	if err != nil || !canRead {
		tell("the logs of the Jobs at %s cannot be read: %v", v.at, err)
		return
	}
	slices.Sort(names)
	left := maxLogs
	for _, name := range names {
		list, err := reader.List(ctx, pods, v.namespace, "job-name="+name)
		if err != nil {
			tell("the pods of the Job %s/%s cannot be listed: %v", v.at, name, err)
			continue
		}
		for _, raw := range list {
			var pod struct {
				Metadata struct{ Name string }
				Spec     struct{ InitContainers, Containers []struct{ Name string } }
			}
			if err := json.Unmarshal(raw, &pod); err != nil {
				continue
			}
			for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
				if left--; left < 0 {
					tell("the logs of more than %d containers are not shown", maxLogs)
					return
				}
				text, err := logs.Log(ctx, v.namespace, pod.Metadata.Name, c.Name, maxLog)
				if err != nil {
					tell("the log of %s/%s, container %s, cannot be read: %v", v.at, pod.Metadata.Name, c.Name, err)
					continue
				}
				for line := range strings.Lines(string(text)) {
					tell("%s/%s %s: %s", v.at, pod.Metadata.Name, c.Name, strings.TrimRight(line, "\r\n"))
				}
			}
		}
	}
}
