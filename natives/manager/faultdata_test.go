package manager

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/settings"
)

// change changes the data and the objects of others.
func (r *rough) change() {
	for range r.IntN(3) {
		r.model.change(r.Rand)
	}
	m := r.model
	for i := range m.environments {
		m.environments[i].ref = "" // nobody answers for GitHub here
	}
	switch r.IntN(10) {
	case 0:
		m.accounts = m.accounts[:1+r.IntN(len(m.accounts))]
	case 1:
		m.accounts = append(m.accounts, modelObject{name: fmt.Sprintf("acc-%d", 10+r.IntN(6))})
	case 2:
		if len(m.integrations) > 1 {
			m.integrations = m.integrations[1:]
		}
	case 3:
		for i := range m.integrations {
			for j := range m.integrations[i].entries {
				m.integrations[i].entries[j].cpu = "1"
			}
		}
	case 4:
		r.fill()
	}
	r.addForeign()
}

// fill deploys something to each namespace that has nothing.
func (r *rough) fill() {
	m := r.model
	for len(m.integrations) < 3 {
		m.integrations = append(m.integrations, modelIntegration{name: fmt.Sprintf("it-%d", 3+r.IntN(5)),
			upstream: []string{"https://github.com/x/a", "https://github.com/x/b"}[r.IntN(2)]})
	}
	for i := range m.integrations {
		it := &m.integrations[i]
		for n := range m.namespaces {
			if len(it.entries) <= n && r.IntN(2) == 0 {
				it.entries = append(it.entries, modelEntry{namespace: n, shards: []int{0, 1, 2, 4, -1, -1}[r.IntN(6)], cpu: "1",
					cron: r.IntN(8) == 0})
			}
		}
	}
}

// addForeign adds an object of somebody else, which may look much like one of ours.
func (r *rough) addForeign() {
	cluster, namespace := r.IntN(2), r.IntN(3)
	r.serial++
	name := fmt.Sprintf("foreign-%d", r.serial)
	client, labels, annotations := "operator", object{"app": "foreign"}, object{}
	var owners []any
	mark := object{"qontract.integration": Name, "qontract.caller_name": []string{"", "https://github.com/x/a"}[r.IntN(2)]}
	switch r.IntN(7) {
	case 0: // copied marks
		labels, annotations = object{"app": namePrefix + "it-0", "qontract.integration": Name}, mark
	case 1: // somebody's child
		client, annotations = "prcheck-"+Name, mark
		owner := path("Service", fmt.Sprint("owner-", r.serial))
		owner = strings.Replace(owner, folder, fmt.Sprintf("/namespaces/ns%d/", namespace), 1)
		r.clusters[cluster].Edit(r.t, "operator", owner, func(object) {})
		uid := field(r.clusters[cluster].Object(owner), "metadata")["uid"]
		owners = []any{object{"apiVersion": "v1", "kind": "Service", "name": fmt.Sprint("owner-", r.serial), "uid": uid}}
	case 2: // in the way
		name = namePrefix + []string{"it-0", "it-1-0", "it-2-acc-0", "it-1-acc-new"}[r.IntN(4)]
	case 3: // of another integration
		client, annotations = "prcheck-"+Name, object{"qontract.integration": "other"}
	case 4: // of another version
		client, mark["qontract.integration_version"] = "prcheck-"+Name, "2.0.0"
		annotations = mark
	default:
		return
	}
	at := strings.Replace(path("Deployment", name), folder, fmt.Sprintf("/namespaces/ns%d/", namespace), 1)
	if r.clusters[cluster].Object(at) != nil {
		return
	}
	r.clusters[cluster].Edit(r.t, client, at, func(o object) {
		pod := object{"metadata": object{"labels": object{"app": "foreign"}},
			"spec": object{"containers": []any{object{"name": "c", "image": "i"}}}}
		o["spec"] = object{"replicas": 0, "selector": object{"matchLabels": object{"app": "foreign"}}, "template": pod}
		meta := field(o, "metadata")
		meta["labels"], meta["annotations"] = labels, annotations
		if owners != nil {
			meta["ownerReferences"] = owners
		}
	})
	r.clusters[cluster].Settle() // its status is complete, so that its version stays
	id := fmt.Sprintf("%d/ns%d/Deployment/%s", cluster, namespace, name)
	r.foreign[id] = fmt.Sprint(field(r.clusters[cluster].Object(at), "metadata")["resourceVersion"])
}

// next returns a run by one of the managers with random settings.
func (r *rough) next() runOf {
	of := runOf{by: r.managers[r.IntN(len(r.managers))], workers: 1 + 3*r.IntN(2), leftGoes: r.IntN(5) == 0}
	own := "exclude_service: false\n"
	if of.by.upstream != "" {
		own += "upstream: " + of.by.upstream + "\n"
	}
	if of.leftGoes {
		own += "left_behind: delete\n"
	}
	switch n := r.IntN(40); {
	case n < 6:
		own += "mode: parity\n"
	case n < 8 && r.isBusy:
		own += "migrate_selector: true\n"
	case n < 10:
		own += "delete: [c-0/ns0]\n"
	}
	of.settings = settingsOf(r.t, own)
	number := func(of ...int) *int {
		if n := r.IntN(len(of) + 1); n > 0 {
			return &of[n-1]
		}
		return nil
	}
	of.settings.Deletes = settings.Deletes{Percent: number(0, 20, 50, 100), Floor: number(0, 1, 3),
		Max: number(0, 1, 5, 100)}
	of.data = r.model.data(r.types)
	of.query = of.data.query(r.t)
	return of
}

// breakData lets one datafile have a mistake that hides what it says, and reports whether it
// did.
func (r *rough) breakData(d *testData) {
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(d.Data)), func(f string) bool {
		return !strings.Contains(f, "-i-") && !strings.Contains(f, "-a-") && !strings.Contains(f, "-c-")
	})
	f := d.Data[files[r.IntN(len(files))]]
	if managed, ok := f["managed"]; ok {
		switch r.IntN(5) {
		case 0:
			f["managed"] = "text"
		case 1:
			f["upstream"] = 7
		case 2:
			f["name"] = []any{}
		case 3:
			if list := managed.([]any); len(list) > 0 {
				list[0].(object)["spec"] = 5
			}
		case 4:
			if list := managed.([]any); len(list) > 0 {
				list[0].(object)["namespace"] = 5
			}
		}
		return
	}
	switch r.IntN(3) {
	case 0:
		f["name"] = object{}
	case 1:
		f["disable"] = "x"
	case 2:
		delete(f, "serverUrl")
	}
}
