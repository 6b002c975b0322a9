package render

import (
	"maps"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/template"
)

// The maps and lists of objects.
type (
	fields = map[string]any
	list   = []any
)

// A pod is the template of the pods of an object, with values.
type pod struct{ metadata, spec fields }

// pod returns the template of the pods of a shard. It reports false after a mistake.
func (r *renderer) pod(shard Shard) (pod, bool) {
	if r.Pod != nil {
		return r.ownPod(shard)
	}
	spec := r.workloadPod
	if r.kind == manifests.CronJob {
		spec = r.cronPod
	}
	filled, err := template.Fill(spec(shard), r.values)
	if err != nil {
		r.mistake("", "its pods cannot be made: %v", err)
		return pod{}, false
	}
	return pod{spec: filled.(fields)}, true
}

// workload returns the Deployment or StatefulSet of a shard, without its pods.
func (r *renderer) workload(shard Shard, name string) manifests.Object {
	labels := fields{"app": r.app()}
	if !r.Parity {
		labels[manifests.InstanceLabel] = name
	}
	podLabels := maps.Clone(labels)
	podLabels["component"] = component
	replicas := int64(1)
	if shard.Disabled {
		replicas = 0
	}
	spec := fields{
		"revisionHistoryLimit": int64(5),
		"replicas":             replicas,
		"selector":             fields{"matchLabels": maps.Clone(labels)},
		"template":             fields{"metadata": fields{"labels": podLabels}},
	}
	switch {
	case r.kind == manifests.StatefulSet:
		spec["volumeClaimTemplates"] = list{r.cacheClaim()}
	case !r.Parity:
		spec["strategy"] = fields{"type": "Recreate"}
	}
	return manifests.Object{
		"apiVersion": "apps/v1",
		"kind":       r.kind.Name,
		"metadata": fields{
			"name":   name,
			"labels": labels,
			"annotations": fields{
				"ignore-check.kube-linter.io/minimum-three-replicas": "qontract-reconcile integrations are sharded and not " +
					"replicated",
				"ignore-check.kube-linter.io/no-readiness-probe": "qontract-reconcile integrations are not getting traffic",
				"ignore-check.kube-linter.io/no-liveness-probe":  "qontract-reconcile integrations are monitored for being stuck",
				cpuHint: "no cpu limits",
			},
		},
		"spec": spec,
	}
}

// cpuHint is the annotation that tells kube-linter not to ask for limits of CPU.
const cpuHint = "ignore-check.kube-linter.io/unset-cpu-requirements"

// putInto puts the pod into the template that an object has for its pods. What is there wins.
func (p pod) putInto(at fields) {
	at["spec"] = p.spec
	if len(p.metadata) == 0 {
		return
	}
	metadata := maps.Clone(p.metadata)
	own, _ := at["metadata"].(fields)
	labels, _ := metadata["labels"].(fields)
	if ownLabels, ok := own["labels"].(fields); ok {
		labels = maps.Clone(labels)
		if labels == nil {
			labels = fields{}
		}
		maps.Copy(labels, ownLabels)
		metadata["labels"] = labels
	}
	at["metadata"] = metadata
}

// cacheClaim returns the claim for the volume of the cache.
func (r *renderer) cacheClaim() fields {
	return fields{
		"metadata": fields{"name": "cache"},
		"spec": fields{
			"accessModes":      list{"ReadWriteOnce"},
			"storageClassName": orDefault(r.of.Spec.StorageClassName, "gp2"),
			"resources":        fields{"requests": fields{"storage": orDefault(r.of.Spec.Storage, "1Gi")}},
		},
	}
}

// workloadPod returns the pod of a Deployment or StatefulSet: the integration beside the log
// shipper, after the containers that prepare files for them.
func (r *renderer) workloadPod(shard Shard) fields {
	var first list
	if r.of.Spec.InternalCertificates {
		first = append(first, certificatesContainer())
	}
	return fields{
		"serviceAccountName": component,
		"initContainers":     append(first, r.configContainer()),
		"containers":         list{r.workContainer(shard), r.shipperContainer()},
		"volumes":            r.volumes(),
	}
}

// workContainer returns the container with the integration.
func (r *renderer) workContainer(shard Shard) fields {
	out := fields{
		"name":         "int",
		"ports":        list{fields{"name": "http", "containerPort": int64(9090)}},
		"env":          r.environment(shard),
		"volumeMounts": r.mounts(),
	}
	r.setProcess(out, shard)
	return out
}

// setProcess sets in the container of an integration what does not depend on the template of
// the pod: its image, its resources, and the command of a native.
func (r *renderer) setProcess(container fields, shard Shard) {
	container["image"] = r.image(shard)
	if resources := r.resources(shard); resources != nil {
		container["resources"] = resources
	}
	if r.Process == nil {
		return
	}
	if len(r.Process.Command) > 0 {
		container["command"] = texts(r.Process.Command)
	}
	container["args"] = list{"reconcile"}
	if len(r.Process.Args) > 0 {
		container["args"] = texts(r.Process.Args)
	}
}

// resources returns the resources of an integration: the quantities of the override, or those
// of the parameters that the spec declares. It returns nil if there are none.
func (r *renderer) resources(shard Shard) fields {
	if shard.Resources != nil && r.kind != manifests.CronJob {
		return resourceFields(*shard.Resources, func(q quantity) string { return q.value })
	}
	return r.parameterResources(r.of.Spec.Resources, "")
}

// parameterResources returns resources whose quantities are parameters of the integration.
func (r *renderer) parameterResources(of *Resources, infix string) fields {
	if of == nil {
		return nil
	}
	return resourceFields(*of, func(q quantity) string {
		return "${" + parameterPrefix(r.of.Name) + infix + q.parameter + "}"
	})
}

func resourceFields(of Resources, text func(quantity) string) fields {
	out := fields{}
	for _, q := range of.quantities() {
		group, _ := out[q.group].(fields)
		if group == nil {
			group = fields{}
			out[q.group] = group
		}
		group[q.resource] = text(q)
	}
	return out
}

func (r *renderer) mounts() list {
	spec := r.of.Spec
	out := list{mount("tmp-dir", "/tmp"), mount("qontract-reconcile-toml", "/config")}
	if spec.Cache {
		out = append(out, mount("cache", "/.cache"))
	}
	if spec.InternalCertificates {
		out = append(out, mount("internal-certificates", "/etc/pki/"))
	}
	out = append(out, mount("logs", "/fluentd/log/"), mount("qontract-reconcile-sa-token", "${KUBE_SA_TOKEN_MOUNT_PATH}"))
	if spec.State {
		token := mount("bound-qontract-reconcile-sa-token", "/var/run/secrets/openshift/serviceaccount")
		token["readOnly"] = true
		out = append(out, mount("aws-config", "/aws"), token)
	}
	return out
}

func (r *renderer) volumes() list {
	out := list{tokenVolume()}
	if r.of.Spec.State {
		out = append(out, fields{
			"name": "bound-qontract-reconcile-sa-token",
			"projected": fields{"defaultMode": int64(0o644), "sources": list{fields{"serviceAccountToken": fields{
				"audience": "openshift", "expirationSeconds": int64(1800), "path": "token"}}}},
		}, fields{"name": "aws-config", "secret": fields{"secretName": "${AWS_CONFIG_SECRET_NAME}", "optional": true}})
	}
	out = append(out, settingsVolume(), emptyVolume("logs"), emptyVolume("fluentd-config"), emptyVolume("tmp-dir"))
	if r.buffersLogs() {
		out = append(out, emptyVolume("buffer"))
	}
	if r.of.Spec.InternalCertificates {
		out = append(out, emptyVolume("internal-certificates"))
	}
	return out
}

// certificatesContainer returns the container that copies the certificates of the company.
func certificatesContainer() fields {
	return fields{
		"name":            "internal-certificates",
		"image":           "${INTERNAL_CERTIFICATES_IMAGE}:${INTERNAL_CERTIFICATES_IMAGE_TAG}",
		"imagePullPolicy": "${INTERNAL_CERTIFICATES_IMAGE_PULL_POLICY}",
		"command":         list{"/bin/sh", "-c"},
		"args":            list{"cp -r /etc/pki/. /tmp/etc-pki/\n"},
		"volumeMounts":    list{mount("internal-certificates", "/tmp/etc-pki/")},
		"resources":       smallResources("10Mi", "20Mi"),
	}
}

// smallResources returns the resources of a container that does little.
func smallResources(memory, limit string) fields {
	return fields{"requests": fields{"memory": memory, "cpu": "15m"}, "limits": fields{"memory": limit}}
}

// tokenVolume is the volume with the token of the service account.
func tokenVolume() fields {
	return fields{"name": "qontract-reconcile-sa-token", "projected": fields{"sources": list{fields{
		"serviceAccountToken": fields{"expirationSeconds": int64(1800), "path": "${KUBE_SA_TOKEN_FILENAME}"}}}}}
}

// settingsVolume is the volume with the settings of all integrations.
func settingsVolume() fields {
	return fields{"name": "qontract-reconcile-toml",
		"secret": fields{"secretName": "${QONTRACT_RECONCILE_TOML_SECRET_NAME}"}}
}

func emptyVolume(name string) fields { return fields{"name": name, "emptyDir": fields{}} }

func mount(name, path string) fields { return fields{"name": name, "mountPath": path} }

func texts(of []string) list {
	out := make(list, len(of))
	for i, text := range of {
		out[i] = text
	}
	return out
}

func orDefault(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}
