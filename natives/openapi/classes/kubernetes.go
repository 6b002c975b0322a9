package classes

import (
	"strings"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// A kubeField is what the API server does with a field of a kind.
type kubeField struct {
	isMutable bool   // within a field that is not
	canSet    bool   // it can be set once
	unless    string // when it can be changed nevertheless
	fixedIf   string // JSON pointer of the truth value that makes it so; "" is always
}

var (
	fixedField  = kubeField{}
	onceField   = kubeField{canSet: true}
	movingField = kubeField{isMutable: true}
)

// lockedField is a field that cannot be changed once the object says that it is immutable.
var lockedField = kubeField{fixedIf: "/immutable"}

func unless(when string) kubeField { return kubeField{unless: when} }

// ground returns the ground of a field that cannot be changed.
func (f kubeField) ground(c *Classifier, n *node) *Ground {
	g := c.ofFamily("the API server refuses another value")
	if s := first(n.all()...); s.has() {
		g.Place = s.schema.Place().String()
	}
	if f.unless != "" {
		g.Source, g.Text = Inferred, g.Text+", unless "+f.unless
	}
	g.FreeToSet, g.Depth = f.canSet, strings.Count(n.pointer, "/")
	return g
}

// ofKinds is what the API server does with fields of kinds that it has itself, by group and plural, whatever the
// version. It is taken from the validation of the server, which no specification tells. The tests with a real API
// server try most of them.
var ofKinds = map[string]map[string]kubeField{
	"apps/deployments": {"spec.selector": fixedField},
	"apps/replicasets": {"spec.selector": fixedField},
	"apps/daemonsets":  {"spec.selector": fixedField},
	"apps/statefulsets": {"spec.selector": fixedField, "spec.serviceName": fixedField,
		"spec.volumeClaimTemplates": fixedField,
		"spec.podManagementPolicy":  fixedField},
	"apps/controllerrevisions": {"data": fixedField},
	"batch/jobs": {"spec.selector": fixedField, "spec.completionMode": fixedField, "spec.podFailurePolicy": fixedField,
		"spec.successPolicy":        fixedField,
		"spec.backoffLimitPerIndex": fixedField, "spec.managedBy": fixedField,
		"spec.completions": unless("the job is Indexed and parallelism becomes the same"),
		"spec.template":    unless("it is about the scheduling of a suspended job that never ran")},
	"pods": {"spec": fixedField, "spec.containers[].image": movingField, "spec.initContainers[].image": movingField,
		"spec.activeDeadlineSeconds":         movingField,
		"spec.tolerations":                   movingField,
		"spec.terminationGracePeriodSeconds": unless("it is negative and becomes 1"), "spec.schedulingGates": movingField},
	"persistentvolumeclaims": {"spec": fixedField, "spec.resources": movingField,
		"spec.volumeAttributesClassName": movingField, "spec.volumeName": onceField},
	"persistentvolumes": persistentVolume(),
	"services":          {"spec.clusterIP": onceField, "spec.clusterIPs": onceField},
	"secrets":           {"type": fixedField, "data": lockedField, "stringData": lockedField, "immutable": lockedField},
	"configmaps":        {"data": lockedField, "binaryData": lockedField, "immutable": lockedField},
	"resourcequotas":    {"spec.scopes": fixedField},
	"nodes":             {"spec.podCIDR": onceField, "spec.podCIDRs": onceField, "spec.providerID": onceField},

	"storage.k8s.io/storageclasses": {"provisioner": fixedField, "parameters": fixedField,
		"reclaimPolicy": fixedField, "volumeBindingMode": fixedField},
	"storage.k8s.io/csidrivers":              {"spec.attachRequired": fixedField, "spec.volumeLifecycleModes": fixedField},
	"storage.k8s.io/volumeattributesclasses": {"driverName": fixedField, "parameters": fixedField},
	"storage.k8s.io/volumeattachments":       {"spec": fixedField},
	"storage.k8s.io/csistoragecapacities":    {"nodeTopology": fixedField, "storageClassName": fixedField},

	"scheduling.k8s.io/priorityclasses":              {"value": fixedField, "preemptionPolicy": fixedField},
	"networking.k8s.io/ingressclasses":               {"spec.controller": fixedField},
	"node.k8s.io/runtimeclasses":                     {"handler": fixedField},
	"rbac.authorization.k8s.io/rolebindings":         {"roleRef": fixedField},
	"rbac.authorization.k8s.io/clusterrolebindings":  {"roleRef": fixedField},
	"discovery.k8s.io/endpointslices":                {"addressType": fixedField},
	"certificates.k8s.io/certificatesigningrequests": {"spec": fixedField},
	"apiextensions.k8s.io/customresourcedefinitions": {"spec.group": fixedField,
		"spec.names.kind": unless("it was never established"), "spec.names.plural": fixedField},
}

// persistentVolume returns the fields of a volume: where its data are cannot be changed.
func persistentVolume() map[string]kubeField {
	out := map[string]kubeField{"spec.volumeMode": fixedField, "spec.nodeAffinity": onceField}
	for _, source := range []string{"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc",
		"flexVolume", "flocker", "gcePersistentDisk",
		"glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd",
		"scaleIO", "storageos", "vsphereVolume"} {
		out["spec."+source] = fixedField
	}
	return out
}

// kubeFields returns what the API server does with fields of a type, nil if that is not known.
func kubeFields(t *resources.Type) map[string]kubeField {
	parts := strings.Split(t.Name, "/")
	switch {
	case t.Family != resources.Kubernetes, len(parts) < 2:
		return nil
	case len(parts) == 2:
		return ofKinds[parts[1]]
	}
	return ofKinds[parts[0]+"/"+parts[2]]
}
