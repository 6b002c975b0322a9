package saas

import (
	"encoding/json"
	"slices"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/integration"
)

// Content returns what of a target triggers a deploy when it changes, as the JSON value that
// qontract-reconcile remembers. Fields that the data do not have are null; only the last three may
// be missing. It has maps, lists, texts and numbers.
func (t *Target) Content() any {
	of, file := t.Template, t.Template.File
	out := map[string]any{
		"name": t.Name, "ref": t.Ref,
		"promotion":        t.promotionContent(),
		"secretParameters": secretsContent(t.SecretParameters, "format"),
		"slos":             t.slosContent(),
		"upstream":         t.upstreamContent(),
		"images":           t.imagesContent(),
		"disable":          orNull(t.Disable, t.explicit.disable),
		"delete":           orNull(t.Delete, t.explicit.delete),
		"namespace": map[string]any{
			"name":    t.Namespace.Name,
			"cluster": map[string]any{"name": t.Namespace.Cluster.Name, "serverUrl": t.Namespace.Cluster.Ref.Server},
			"app":     map[string]any{"name": t.Namespace.App},
		},
		"saas_file_parameters":             keysInOrder(file.Parameters),
		"parameters":                       keysInOrder(t.Parameters),
		"rt_parameters":                    keysInOrder(of.Parameters),
		"saas_file_managed_resource_types": file.ManagedTypes,
		"url":                              of.URL, "path": of.Path,
	}
	if len(file.ManagedNames) > 0 {
		var names []any
		for _, n := range file.ManagedNames {
			names = append(names, map[string]any{"resource": n.Resource, "resource_names": n.Names})
		}
		out["saas_file_managed_resource_names"] = names
	}
	if len(of.SecretParameters) > 0 {
		out["rt_secretparameters"] = secretsContent(of.SecretParameters, "q_format")
	}
	if len(file.SecretParameters) > 0 {
		out["saas_file_secretparameters"] = secretsContent(file.SecretParameters, "q_format")
	}
	return out
}

// keysInOrder returns parameters with their keys in order, so that their order in the data does not count. Text that is
// no JSON stays as it is.
func keysInOrder(text *string) *string {
	if text == nil {
		return nil
	}
	v, err := pyjson.Read(*text)
	if err != nil {
		return text
	}
	out := pyjson.CompactSorted(v)
	return &out
}

// An explicit says which fields a target has although their value is the one that they have when
// they are missing: only then it is not null in the content.
type explicit struct{ auto, redeploy, soak, schedule, disable, delete bool }

// orNull returns a value, or nil if it is the zero value and was not written.
func orNull[V comparable](value V, isWritten bool) any {
	var zero V
	if value == zero && !isWritten {
		return nil
	}
	return value
}

// promotionContent returns the promotion of a target, nil if it has none.
func (t *Target) promotionContent() any {
	p := t.Promotion
	if p == nil {
		return nil
	}
	var data []any
	if p.Data != nil {
		data = []any{}
	}
	for _, of := range p.Data {
		var parents []any
		if of.Parents != nil {
			parents = []any{}
		}
		for _, parent := range of.Parents {
			parents = append(parents, map[string]any{"type": parentType, "parent_saas": orNull(parent.Saas, false),
				"target_config_hash": orNull(parent.Hash, false)})
		}
		data = append(data, map[string]any{"channel": orNull(of.Channel, false), "data": parents})
	}
	return map[string]any{
		"auto": orNull(p.Auto, t.explicit.auto), "redeployOnPublisherConfigChange": orNull(p.Redeploy, t.explicit.redeploy),
		"publish": p.Publish, "subscribe": p.Subscribe,
		"soakDays": orNull(p.SoakDays, t.explicit.soak), "schedule": orNull(p.Schedule, t.explicit.schedule),
		"promotion_data": data,
	}
}

// parentType is the type of what a promotion notes about a publisher.
const parentType = "parent_saas_config"

// secretsContent returns parameters that are secrets. The peer names the format in two ways.
func secretsContent(list []SecretParameter, format string) any {
	if list == nil {
		return nil
	}
	out := []any{}
	for _, p := range list {
		out = append(out, map[string]any{"name": p.Name, "secret": secretContent(&p.Secret, p.Format, format)})
	}
	return out
}

// secretContent returns a reference to a secret, nil if there is none.
func secretContent(ref *integration.SecretRef, value, format string) any {
	if ref == nil {
		return nil
	}
	out := map[string]any{"path": ref.Path, "field": ref.Field, format: orNull(value, false), "version": nil}
	if ref.Version != "" {
		out["version"] = json.Number(ref.Version)
	}
	return out
}

// slosContent returns the SLO documents of a target.
func (t *Target) slosContent() any {
	if t.SLOs == nil {
		return nil
	}
	out := []any{}
	for _, d := range t.SLOs {
		if d.content == nil {
			out = append(out, map[string]any{"name": d.Name})
			continue
		}
		out = append(out, d.content)
	}
	return out
}

// upstreamContent returns the job of a target.
func (t *Target) upstreamContent() any {
	if t.Upstream == nil {
		return nil
	}
	return map[string]any{"name": t.Upstream.Job, "instance": map[string]any{"name": t.Upstream.Instance,
		"serverUrl": t.Upstream.ServerURL}}
}

// imagesContent returns the images of a target.
func (t *Target) imagesContent() any {
	if t.Images == nil {
		return nil
	}
	out := []any{}
	for _, i := range t.Images {
		out = append(out, map[string]any{"name": i.Name,
			"org": map[string]any{"name": i.Org, "instance": map[string]any{"url": i.Registry}}})
	}
	return out
}

// Subscribes reports whether a target subscribes to a channel.
func (t *Target) Subscribes(channel string) bool {
	return t.Promotion != nil && slices.Contains(t.Promotion.Subscribe, channel)
}

// Publishes reports whether a target publishes to a channel.
func (t *Target) Publishes(channel string) bool {
	return t.Promotion != nil && slices.Contains(t.Promotion.Publish, channel)
}
