package render

import (
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/manifests"
)

// environment returns the variables of an integration, in the order of the chart.
func (r *renderer) environment(shard Shard) list {
	spec := r.of.Spec
	var out list
	if r.buffersLogs() {
		out = append(out, variable("PREFIX_LOG_LEVEL", "true"))
	}
	if shard.ID != "" {
		out = append(out, variable("SHARDS", shard.Shards), variable("SHARD_ID", shard.ID))
	}
	if shard.Key != "" {
		out = append(out, variable("SHARD_KEY", shard.Key))
	}
	out = append(out, variable("DRY_RUN", "${DRY_RUN}"))
	out = appendText(out, "COMMAND_NAME", spec.Command)
	if r.of.Name == r.Self {
		out = append(out, same("MANAGER_DRY_RUN", "INTEGRATIONS_MANAGER_UPSTREAM", "INTEGRATIONS_MANAGER_IMAGE",
			"INTEGRATIONS_MANAGER_IMAGE_TAG_FROM_REF")...)
	}
	out = append(out, variable("INTEGRATION_NAME", r.of.Name))
	out = appendText(out, "INTEGRATION_EXTRA_ARGS", shard.ExtraArgs)
	out = append(out, variable("SLEEP_DURATION_SECS", r.sleepDuration()),
		fromConfigMap("GITHUB_API"), fromConfigMap("SENTRY_DSN"), variable("LOG_FILE", "${LOG_FILE}"))
	if spec.State {
		out = append(out, stateVariables()...)
	}
	if !spec.DisableUnleash {
		out = append(out, unleashVariables()...)
	}
	out = append(out, same("SLOW_OC_RECONCILE_THRESHOLD", "LOG_SLOW_OC_RECONCILE", "USE_NATIVE_CLIENT")...)
	out = append(out, tokenVariable(), variable("USED_FOR_SECURITY", "${USED_FOR_SECURITY}"))
	if spec.EnvironmentAware {
		out = append(out, r.environmentVariables()...)
	}
	return r.withExtra(out, r.extraVariables(), nil)
}

// sleepDuration returns the reference to how many seconds the integration sleeps.
func (r *renderer) sleepDuration() string {
	if r.of.Spec.SleepDurationSecs != "" && r.kind != manifests.CronJob { // a schedule has no such parameter
		return "${" + parameterPrefix(r.of.Name) + "SLEEP_DURATION_SECS}"
	}
	return "${SLEEP_DURATION_SECS}"
}

// stateVariables say where the integration keeps its state.
func stateVariables() list {
	return list{
		fromSecret("APP_INTERFACE_STATE_BUCKET", "app-interface", "aws.s3.bucket"),
		variable("APP_INTERFACE_STATE_BUCKET_ACCOUNT", "${APP_INTERFACE_STATE_BUCKET_ACCOUNT}"),
		fromOptionalSecret("APP_INTERFACE_STATE_BUCKET_REGION", "app-interface", "aws.region"),
		variable("AWS_CONFIG_FILE", "/aws/config"),
		fromOptionalSecret("APP_INTERFACE_STATE_AWS_PROFILE", "app-interface", "aws.profile.state"),
	}
}

// unleashVariables say where the switches of features are asked for.
func unleashVariables() list {
	return list{
		fromOptionalSecret("UNLEASH_API_URL", "unleash", "API_URL"),
		fromOptionalSecret("UNLEASH_CLIENT_ACCESS_TOKEN", "unleash", "CLIENT_ACCESS_TOKEN"),
	}
}

// tokenVariable says where the token of the service account lies.
func tokenVariable() fields {
	return variable("KUBE_SA_TOKEN_PATH", "${KUBE_SA_TOKEN_MOUNT_PATH}/${KUBE_SA_TOKEN_FILENAME}")
}

// environmentVariables tell an integration what it needs to know to deploy others.
func (r *renderer) environmentVariables() list {
	names := []string{"ENVIRONMENT_NAME"}
	if r.GovSlack {
		names = append(names, "GOV_SLACK")
	}
	names = append(names, "IMAGE", "IMAGE_TAG", "IMAGE_DIGEST",
		"BUSYBOX_IMAGE", "BUSYBOX_IMAGE_TAG", "BUSYBOX_IMAGE_DIGEST", "BUSYBOX_IMAGE_PULL_POLICY",
		"FLUENTD_IMAGE", "FLUENTD_IMAGE_TAG", "FLUENTD_IMAGE_DIGEST", "FLUENTD_IMAGE_PULL_POLICY",
		"CLOUDWATCH_SECRET",
		"INTERNAL_CERTIFICATES_IMAGE", "INTERNAL_CERTIFICATES_IMAGE_TAG", "INTERNAL_CERTIFICATES_IMAGE_PULL_POLICY")
	return same(names...)
}

// variableName is what Kubernetes accepts as the name of a variable.
var variableName = lazyregexp.New(`^[-._a-zA-Z][-._a-zA-Z0-9]*$`)

// extraVariables returns those of extraEnv, one for each entry.
func (r *renderer) extraVariables() list {
	var out list
	for _, v := range r.of.Spec.ExtraEnv {
		if v.SecretKey != "" {
			out = append(out, fromSecret(v.SecretKey, v.SecretName, v.SecretKey))
		} else {
			out = append(out, variable(v.Name, v.Value))
		}
	}
	return out
}

// checkExtraEnv checks that each entry of extraEnv is a value or a key of a secret.
func (r *renderer) checkExtraEnv() {
	for i, v := range r.of.Spec.ExtraEnv {
		at := fmt.Sprintf("/spec/extraEnv/%d", i)
		isSecret, isValue := v.SecretName != "" || v.SecretKey != "", v.Name != "" || v.Value != ""
		name := v.Name + v.SecretKey
		switch {
		case isSecret == isValue:
			r.mistake(at, "extraEnv needs either name and value, or secretName and secretKey")
		case isSecret && (v.SecretName == "" || v.SecretKey == ""):
			r.mistake(at, "extraEnv of a secret needs both secretName and secretKey")
		case !variableName.MatchString(name):
			r.mistake(at, "%.80q is no name of a variable; use letters, digits, '_', '-' and '.', and no digit first", name)
		}
	}
}

// withExtra returns variables with those of extraEnv between them. Of several variables of one
// name only the last stays.
func (r *renderer) withExtra(before, extra, after list) list {
	all := slices.Concat(before, extra, after)
	last := map[any]int{}
	for i, v := range all {
		last[nameOf(v)] = i
	}
	r.warnOfTwice(all, last, len(before))
	var out list
	for i, v := range all {
		if last[nameOf(v)] == i {
			out = append(out, v)
		}
	}
	return out
}

// warnOfTwice warns of entries of extraEnv that replace variables or are replaced. The entries
// begin at a position.
func (r *renderer) warnOfTwice(all list, last map[any]int, begin int) {
	if r.hasWarned { // once for all shards
		return
	}
	r.hasWarned = true
	seen := map[any]bool{}
	for i, v := range all[:begin+len(r.of.Spec.ExtraEnv)] {
		name, at := nameOf(v), fmt.Sprintf("/spec/extraEnv/%d", i-begin)
		switch {
		case i < begin:
			seen[name] = true
		case last[name] != i:
			r.warn(at, "the variable %.80s is set again after this entry, so this value is not used", name)
		case seen[name]:
			r.warn(at, "the variable %.80s is set before this entry already; the value of this entry is used", name)
		}
	}
}

// nameOf returns the name of a variable.
func nameOf(v any) any { return v.(fields)["name"] }

// variable returns a variable with a value.
func variable(name, value string) fields { return fields{"name": name, "value": value} }

// same returns variables with the values of the parameters of the same names.
func same(names ...string) list {
	var out list
	for _, name := range names {
		out = append(out, variable(name, "${"+name+"}"))
	}
	return out
}

// appendText appends a variable unless its value is empty.
func appendText(to list, name, value string) list {
	if value == "" {
		return to
	}
	return append(to, variable(name, value))
}

func fromSecret(name, secret, key string) fields {
	return fields{"name": name, "valueFrom": fields{"secretKeyRef": fields{"name": secret, "key": key}}}
}

func fromOptionalSecret(name, secret, key string) fields {
	return fields{"name": name, "valueFrom": fields{"secretKeyRef": fields{"name": secret, "key": key, "optional": true}}}
}

func fromConfigMap(key string) fields {
	return fields{"name": key, "valueFrom": fields{"configMapKeyRef": fields{"name": "app-interface", "key": key}}}
}
