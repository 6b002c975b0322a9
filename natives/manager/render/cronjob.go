package render

import "github.com/app-sre/prcheck/natives/manifests"

// cronJob returns the CronJob of an integration, without its pods.
func (r *renderer) cronJob(_ Shard, name string) manifests.Object {
	spec := r.of.Spec
	overlap := "Forbid"
	if r.Parity {
		overlap = "Allow"
	}
	return manifests.Object{
		"apiVersion": "batch/v1",
		"kind":       manifests.CronJob.Name,
		"metadata": fields{
			"name":        name,
			"labels":      fields{"app": r.app()},
			"annotations": fields{cpuHint: "no cpu limits"},
		},
		"spec": fields{
			"schedule":                   spec.Cron,
			"concurrencyPolicy":          orDefault(spec.ConcurrencyPolicy, overlap),
			"successfulJobsHistoryLimit": limitOr(spec.SuccessfulJobHistoryLimit, 3),
			"failedJobsHistoryLimit":     limitOr(spec.FailedJobHistoryLimit, 1),
			"jobTemplate":                fields{"spec": fields{"template": fields{}}},
		},
	}
}

func limitOr(limit *int, instead int64) int64 {
	if limit == nil {
		return instead
	}
	return int64(*limit)
}

// cronPod returns the pod of a CronJob. It has no log shipper, no state and no port.
func (r *renderer) cronPod(shard Shard) fields {
	container := fields{
		"name": "int",
		"env":  r.cronEnvironment(shard),
		"volumeMounts": list{mount("qontract-reconcile-toml", "/config"),
			mount("qontract-reconcile-sa-token", "${KUBE_SA_TOKEN_MOUNT_PATH}")},
	}
	r.setProcess(container, shard)
	return fields{
		"serviceAccountName": component,
		"containers":         list{container},
		"volumes":            list{settingsVolume(), tokenVolume()},
	}
}

// cronEnvironment returns the variables of a scheduled integration, in the order of the chart.
func (r *renderer) cronEnvironment(shard Shard) list {
	spec := r.of.Spec
	before := list{variable("RUN_ONCE", "true"), variable("DRY_RUN", "${DRY_RUN}")}
	before = appendText(before, "COMMAND_NAME", spec.Command)
	before = append(before, variable("INTEGRATION_NAME", r.of.Name))
	before = appendText(before, "INTEGRATION_EXTRA_ARGS", shard.ExtraArgs)
	before = append(before, fromConfigMap("GITHUB_API"))
	if !spec.DisableUnleash {
		before = append(before, unleashVariables()...)
	}
	var after list
	if spec.Dashdotdb {
		after = append(after, fromSecret("DASHDOTDB_SECRET", "dashdotdb", "AUTH_VAULT_PATH"))
	}
	after = append(after, tokenVariable())
	if spec.EnablePushgateway {
		const secret = "${PUSHGATEWAY_SECRET_NAME}"
		after = append(after, variable("PUSHGATEWAY_ENABLED", "true"),
			fromSecret("PUSHGATEWAY_URL", secret, "server"),
			fromSecret("PUSHGATEWAY_USERNAME", secret, "username"),
			fromSecret("PUSHGATEWAY_PASSWORD", secret, "password"))
	}
	return r.withExtra(before, r.extraVariables(), after)
}
