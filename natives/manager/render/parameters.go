package render

import (
	"strings"

	"github.com/app-sre/prcheck/natives/template"
)

// Parameters returns the parameters that the objects of integrations use, with their defaults.
func Parameters(of ...Integration) []template.Parameter {
	var out []template.Parameter
	for _, pair := range builtin {
		out = append(out, parameter(pair[0], pair[1]))
	}
	knows := map[string]bool{}
	add := func(name, value string) {
		if value != "" && !knows[name] {
			knows[name] = true
			out = append(out, parameter(name, value))
		}
	}
	for _, it := range of {
		prefix := parameterPrefix(it.Name)
		if it.Spec.Resources != nil {
			addQuantities(add, prefix, *it.Spec.Resources)
		}
		if it.Spec.Cron != "" {
			continue
		}
		add(prefix+"SLEEP_DURATION_SECS", it.Spec.SleepDurationSecs)
		if it.Spec.FluentdResources != nil {
			addQuantities(add, prefix+"FLUENTD_", *it.Spec.FluentdResources)
		}
		if it.Spec.Logs.SlackErrorFilter {
			add("SLACK_RECONCILE_ERR_CHANNEL_NAME", "sd-app-sre-reconcile-errors-stage")
		}
	}
	return out
}

func addQuantities(add func(name, value string), prefix string, of Resources) {
	for _, q := range of.quantities() {
		add(prefix+q.parameter, q.value)
	}
}

func parameter(name, value string) template.Parameter {
	return template.Parameter{Name: name, Value: &value}
}

// parameterPrefix returns how the names of the parameters of one integration begin.
func parameterPrefix(integration string) string {
	return strings.ReplaceAll(strings.ToUpper(integration), "-", "_") + "_"
}

// A quantity is one of the four of resources.
type quantity struct {
	group, resource, parameter string
	value                      string
}

// allQuantities are the four quantities of resources, without values.
var allQuantities = []quantity{
	{group: "limits", resource: "cpu", parameter: "CPU_LIMIT"},
	{group: "limits", resource: "memory", parameter: "MEMORY_LIMIT"},
	{group: "requests", resource: "cpu", parameter: "CPU_REQUEST"},
	{group: "requests", resource: "memory", parameter: "MEMORY_REQUEST"},
}

// quantities returns those of the four quantities that are said.
func (r Resources) quantities() []quantity {
	values := []string{r.Limits.CPU, r.Limits.Memory, r.Requests.CPU, r.Requests.Memory}
	var out []quantity
	for i, q := range allQuantities {
		if q.value = values[i]; q.value != "" {
			out = append(out, q)
		}
	}
	return out
}

// builtin are the parameters that all integrations have, with their defaults.
var builtin = [][2]string{
	{"IMAGE", "quay.io/app-sre/qontract-reconcile"},
	{"IMAGE_TAG", "latest"},
	{"IMAGE_DIGEST", ""},
	{"BUSYBOX_IMAGE", "registry.access.redhat.com/ubi8/ubi-minimal"},
	{"BUSYBOX_IMAGE_TAG", "8.10-1781701121"},
	{"BUSYBOX_IMAGE_DIGEST", "sha256:5d76d0cedabd7d7893b28bec684d7a3412dd8d95d186e7d4b6eeed4ea28c327b"},
	{"BUSYBOX_IMAGE_PULL_POLICY", "Always"},
	{"FLUENTD_IMAGE", "quay.io/redhat-services-prod/app-sre-tenant/fluentd-master/fluentd-master"},
	{"FLUENTD_IMAGE_TAG", "d0d1812"},
	{"FLUENTD_IMAGE_DIGEST", "sha256:4868ac49b42f14ff0878216cd2c618413209f634a5c9a6c004e353e1b0805e60"},
	{"FLUENTD_IMAGE_PULL_POLICY", "Always"},
	{"ENVIRONMENT_NAME", "app-interface"},
	{"DRY_RUN", "--dry-run"},
	{"MANAGER_DRY_RUN", "--dry-run"},
	{"SLEEP_DURATION_SECS", "300"},
	{"QONTRACT_RECONCILE_TOML_SECRET_NAME", "qontract-reconcile-toml"},
	{"APP_INTERFACE_SQS_SECRET_NAME", "app-interface-sqs"},
	{"APP_INTERFACE_STATE_BUCKET_ACCOUNT", "app-sre"},
	{"AWS_CONFIG_SECRET_NAME", "app-interface-aws-config"},
	{"APP_INTERFACE_PROJECT_ID", "0"},
	{"USER_ID", "dummy"},
	{"KUBE_SA_TOKEN_MOUNT_PATH", "/var/run/secrets/kubernetes.io/serviceaccount"},
	{"KUBE_SA_TOKEN_FILENAME", "token"},
	{"LOG_FILE", "/fluentd/log/integration.log"},
	{"SLACK_CHANNEL", "sd-app-sre-reconcile-stage"},
	{"SLACK_CHANNEL_TRIGGER", "sd-app-sre-triggers-stage"},
	{"SLACK_ICON_EMOJI", ":bust_in_silhouette:"},
	{"GITHUB_API", "http://github-mirror.github-mirror-stage.svc.cluster.local"},
	{"CLOUDWATCH_SECRET", "app-interface-cloudwatch"},
	{"SENTRY_DSN", ""},
	{"SLOW_OC_RECONCILE_THRESHOLD", "600"},
	{"LOG_SLOW_OC_RECONCILE", "false"},
	{"USE_NATIVE_CLIENT", ""},
	{"INTERNAL_CERTIFICATES_IMAGE",
		"quay.io/redhat-services-prod/app-sre-tenant/container-images-int-master/internal-redhat-ca-master"},
	{"INTERNAL_CERTIFICATES_IMAGE_TAG", "latest"},
	{"INTERNAL_CERTIFICATES_IMAGE_PULL_POLICY", "Always"},
	{"INTEGRATIONS_MANAGER_UPSTREAM", ""},
	{"INTEGRATIONS_MANAGER_IMAGE", ""},
	{"INTEGRATIONS_MANAGER_IMAGE_TAG_FROM_REF", ""},
	{"PUSHGATEWAY_SECRET_NAME", "push-gateway-auth-url"},
	{"USED_FOR_SECURITY", ""},
}
