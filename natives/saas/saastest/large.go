package saastest

import "fmt"

// Large returns a world with a number of saas files and targets in all, on ten clusters. Each
// saas file has an app with a repository of its own and two environments. Of the targets, every
// second deploys the branch main to stage, every tenth of these by a build and another tenth by
// an image; the others deploy commits to production, promoted from stage by a channel of their
// template.
func Large(files, targets int) *World {
	w := bare()
	for i := range 10 {
		w.cluster(fmt.Sprintf("c-%d", i+1))
	}
	each := max(targets/files, 2)
	for i := range files {
		name := fmt.Sprintf("app-%03d", i)
		w.app(name)
		w.namespaces(name, i%10+1)
		w.Data["/pipelines/"+name+".yml"] = provider(name, "/services/"+name+"/namespaces/"+name+"-production.yml")
		var templates []any
		for j := 0; j < each/2; j++ {
			templates = append(templates, template(name, i, j))
		}
		w.Data["/services/"+name+"/saas.yml"] = saasFile(name, templates)
	}
	return w
}

// template returns the template number j of the saas file number i, with two targets.
func template(app string, i, j int) object {
	namespace := func(env string) object { return Ref(fmt.Sprintf("/services/%s/namespaces/%s-%s.yml", app, app, env)) }
	channel := fmt.Sprintf("%s-%d-stage", app, j)
	stage := object{"namespace": namespace("stage"), "ref": "main", "promotion": object{"publish": []any{channel}},
		"parameters": object{"REPLICAS": 1, "NAME": fmt.Sprintf("{{{ resource.namespace.name }}}-%d", j)}}
	switch {
	case j == 0 && i%2 == 0:
		stage["upstream"] = object{"instance": Ref(Jenkins), "name": app + "-build"}
	case j == 0:
		stage["images"] = []any{object{"org": Ref(QuayOrg), "name": app}}
	}
	production := object{"namespace": namespace("production"), "ref": Shas(i + 1)[i],
		"parameters": object{"REPLICAS": 3, "SIZE": object{"cpu": "1", "memory": "1Gi"}},
		"promotion":  object{"auto": true, "subscribe": []any{channel}}}
	return object{"name": fmt.Sprintf("%s-%d", app, j), "url": "https://github.com/acme/" + app,
		"path":       fmt.Sprintf("/openshift/template-%d.yml", j),
		"parameters": object{"IMAGE": "quay.io/acme/" + app}, "targets": []any{stage, production}}
}
