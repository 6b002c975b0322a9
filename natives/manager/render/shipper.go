package render

// buffersLogs reports whether a destination of the log needs a buffer on disk.
func (r *renderer) buffersLogs() bool { return r.of.Spec.Logs.GoogleChat || r.GovSlack }

// configContainer returns the container that writes the configuration of the log shipper.
func (r *renderer) configContainer() fields {
	return fields{
		"name":            "config",
		"image":           "${BUSYBOX_IMAGE}:${BUSYBOX_IMAGE_TAG}@${BUSYBOX_IMAGE_DIGEST}",
		"imagePullPolicy": "${BUSYBOX_IMAGE_PULL_POLICY}",
		"resources":       smallResources("10Mi", "20Mi"),
		"env":             r.configEnvironment(),
		"command":         list{"/bin/sh", "-c"},
		"args":            list{r.shipperScript()},
		"volumeMounts":    list{mount("fluentd-config", "/fluentd/etc/")},
	}
}

// configEnvironment returns the variables that stand in the configuration of the log shipper.
func (r *renderer) configEnvironment() list {
	logs := r.of.Spec.Logs
	channel, chatKey, govKey := "${SLACK_CHANNEL}", "google_chat.webhook_url", "slack.webhook_url"
	if r.of.Spec.Trigger {
		channel, chatKey, govKey = "${SLACK_CHANNEL_TRIGGER}", "google_chat.triggers_url", "slack.triggers_url"
	}
	var out list
	if logs.Slack {
		out = append(out, fromApp("SLACK_WEBHOOK_URL", "slack.webhook_url"),
			fromApp("SLACK_TRIGGERS_WEBHOOK_URL", "slack.triggers_url"))
		if logs.SlackErrorFilter {
			out = append(out, fromApp("SLACK_ERRORS_ONLY_WEBHOOK_URL", "slack.errors_only_webhook_url"))
		}
		out = append(out, variable("SLACK_CHANNEL", channel), variable("SLACK_ICON_EMOJI", "${SLACK_ICON_EMOJI}"))
		if logs.SlackErrorFilter {
			out = append(out, variable("SLACK_RECONCILE_ERR_CHANNEL_NAME", "${SLACK_RECONCILE_ERR_CHANNEL_NAME}"))
		}
	}
	if logs.GoogleChat {
		out = append(out, fromApp("GOOGLE_CHAT_WEBHOOK_URL", chatKey))
		if r.GovSlack {
			out = append(out, fromApp("GOV_SLACK_WEBHOOK_URL", govKey))
		}
		out = append(out, fields{"name": "POD_NAME", "valueFrom": fields{"fieldRef": fields{"fieldPath": "metadata.name"}}})
	}
	return append(out, fromSecret("LOG_GROUP_NAME", "${CLOUDWATCH_SECRET}", "log_group_name"))
}

// fromApp returns a variable with a value of the secret that all integrations share.
func fromApp(name, key string) fields { return fromSecret(name, "app-interface", key) }

// shipperContainer returns the container that sends the log to its destinations.
func (r *renderer) shipperContainer() fields {
	const secret = "${CLOUDWATCH_SECRET}"
	mounts := list{mount("logs", "/fluentd/log/"), mount("fluentd-config", "/fluentd/etc/")}
	if r.buffersLogs() {
		mounts = append(mounts, mount("buffer", "/fluentd/buffer"))
	}
	resources := r.parameterResources(r.of.Spec.FluentdResources, "FLUENTD_")
	if resources == nil {
		resources = smallResources("30Mi", "120Mi")
	}
	return fields{
		"name":            "fluentd",
		"image":           "${FLUENTD_IMAGE}:${FLUENTD_IMAGE_TAG}@${FLUENTD_IMAGE_DIGEST}",
		"imagePullPolicy": "${FLUENTD_IMAGE_PULL_POLICY}",
		"env": list{
			fromSecret("AWS_REGION", secret, "aws_region"),
			fromSecret("AWS_ACCESS_KEY_ID", secret, "aws_access_key_id"),
			fromSecret("AWS_SECRET_ACCESS_KEY", secret, "aws_secret_access_key"),
		},
		"resources":    resources,
		"volumeMounts": mounts,
	}
}
