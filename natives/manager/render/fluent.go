package render

import (
	"fmt"
	"strings"
)

// A section is a section of the log shipper's configuration: <name of> … </name>.
type section struct {
	name, of string
	lines    []string
	children []section
}

// write writes the section with its children, indented.
func (s section) write(out *strings.Builder, indent string) {
	fmt.Fprintf(out, "%s<%s>\n", indent, strings.TrimSpace(s.name+" "+s.of))
	for _, line := range s.lines {
		fmt.Fprintf(out, "%s  %s\n", indent, line)
	}
	for _, child := range s.children {
		child.write(out, indent+"  ")
	}
	fmt.Fprintf(out, "%s</%s>\n", indent, s.name)
}

// shipperScript returns the script that writes the configuration of the log shipper. The shell
// puts the values of variables into it.
func (r *renderer) shipperScript() string {
	if r.script != "" {
		return r.script
	}
	var out strings.Builder
	out.WriteString("cat > /fluentd/etc/fluent.conf <<EOF\n")
	for _, s := range r.shipperSections() {
		s.write(&out, "")
	}
	out.WriteString("EOF\n")
	r.script = out.String()
	return r.script
}

// shipperSections returns the configuration of the log shipper: read the log file, drop noise,
// and copy each line to all destinations.
func (r *renderer) shipperSections() []section {
	logs := r.of.Spec.Logs
	sections := []section{{
		name: "source",
		lines: []string{"@type tail", "path /fluentd/log/integration.log", "read_from_head true",
			"pos_file /fluentd/log/integration.log.pos", "tag integration"},
		children: []section{{name: "parse", lines: []string{"@type none"}}},
	}}
	noise := []string{`/using gql endpoint/`, `/request_id: /`, `/Certificate did not match expected hostname/`}
	if r.of.Spec.UnleashConnectionPool {
		noise = append(noise, `/Max retries exceeded with url: \/api\/client\/features/`)
	}
	for _, pattern := range noise {
		sections = append(sections, section{name: "filter", of: "integration", lines: []string{"@type grep"},
			children: []section{{name: "exclude", lines: []string{"key message", "pattern " + pattern}}}})
	}
	var stores []section
	if logs.Slack {
		stores = append(stores, r.slackStore())
	}
	stores = append(stores,
		section{name: "store", lines: []string{"@type cloudwatch_logs", "log_group_name ${LOG_GROUP_NAME}",
			"log_stream_name " + r.of.Name, "auto_create_stream true"}})
	var later []section
	if logs.GoogleChat {
		stores = append(stores, errorsTagged("gchat"))
		later = append(later, chatMatch("gchat", "GOOGLE_CHAT_WEBHOOK_URL", "/fluentd/buffer"))
	}
	if r.GovSlack {
		later = append(later, chatMatch("gov_slack", "GOV_SLACK_WEBHOOK_URL", "/fluentd/buffer/gov-slack"))
	}
	if logs.SlackErrorFilter {
		stores = append(stores, errorsTagged("slack_errors"))
		later = append(later, section{name: "match", of: "slack_errors",
			lines: r.slackLines("${SLACK_ERRORS_ONLY_WEBHOOK_URL}", "${SLACK_RECONCILE_ERR_CHANNEL_NAME}")})
	}
	sections = append(sections, section{name: "match", of: "integration", lines: []string{"@type copy"}, children: stores})
	return append(sections, later...)
}

func (r *renderer) slackStore() section {
	if r.of.Spec.Trigger {
		return section{name: "store", lines: r.slackLines("${SLACK_TRIGGERS_WEBHOOK_URL}", "${SLACK_CHANNEL_TRIGGER}")}
	}
	return section{name: "store", lines: r.slackLines("${SLACK_WEBHOOK_URL}", "${SLACK_CHANNEL}")}
}

// slackLines send to a channel of Slack. The message has quotes that the shell must not act on.
func (r *renderer) slackLines(address, channel string) []string {
	const quotes = "\\`\\`\\`"
	return []string{"@type slack", "webhook_url " + address, "channel " + channel, "icon_emoji ${SLACK_ICON_EMOJI}",
		"username sd-app-sre-bot", "flush_interval 10s", `message "` + quotes + "[" + r.of.Name + "] %s" + quotes + `"`}
}

// errorsTagged sends errors on with another tag.
func errorsTagged(tag string) section {
	return section{name: "store", lines: []string{"@type rewrite_tag_filter"}, children: []section{{
		name: "rule", lines: []string{"key message", `pattern /^\[ERROR\]/`, "tag " + tag}}}}
}

// chatMatch sends what has a tag to a chat, with a buffer on disk.
func chatMatch(tag, address, buffer string) section {
	return section{
		name: "match", of: tag,
		lines: []string{"@type teams", `webhook_url "${` + address + `}&threadKey=${POD_NAME}"`,
			`text "<%= Time.at(time) %> [${POD_NAME}] <%= record['message'] %>\n\n"`, "buffered true"},
		children: []section{{name: "buffer", lines: []string{"@type file", "path " + buffer,
			"flush_mode interval", "flush_interval 15s", "flush_at_shutdown true",
			"retry_max_times 0", "retry_wait 30", "disable_chunk_backup true"}}},
	}
}
