package settings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The parts of a path into the settings that are no keys: any key of a mapping, and the
// items of a list.
const (
	anyKey = "*"
	anItem = "[]"
)

// Schema returns the JSON Schema of prcheck.yaml, for editors and other programs.
//
// It is not written by hand but asked from the reader of the settings: at each place the
// reader gets a text, a list and a mapping, and notes what it wants of them (see
// reader.note). So a new key is in the schema as soon as it can be read. What a
// schema cannot say, such as that a pattern must be a regular expression, only the reader
// checks: the schema accepts all that the reader accepts, and some more.
func Schema() ([]byte, error) {
	schema, err := describeValue(nil)
	if err != nil {
		return nil, err
	}
	schema["$schema"] = "http://json-schema.org/draft-07/schema#" // the version that most editors know
	schema["title"] = "prcheck.yaml"
	schema["description"] = "How prcheck starts integrations, and what it knows about each of them."
	raw, err := json.MarshalIndent(schema, "", "  ")
	return append(raw, '\n'), err
}

// describeValue returns the schema of the values at a path.
func describeValue(path []string) (constraint, error) {
	var forms []constraint
	for _, probe := range probes() {
		if form := askReader(path, probe); form != nil && !slices.ContainsFunc(forms, form.equals) {
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		return nil, fmt.Errorf("the reader of the settings notes nothing about %s", strings.Join(path, "."))
	}
	for _, form := range forms {
		if err := describeParts(form, path); err != nil {
			return nil, err
		}
	}
	schema := forms[0]
	if len(forms) > 1 {
		schema = constraint{"anyOf": forms}
	}
	if text := describeKey(path); text != "" {
		schema["description"] = text
	}
	return schema, nil
}

// probes returns a value of each kind.
func probes() []*yaml.Node {
	return []*yaml.Node{
		textNode("x"),
		{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{textNode("x")}},
		{Kind: yaml.MappingNode, Tag: "!!map"},
	}
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// askReader lets the reader read settings with a probe at a path, and returns what it noted
// about the probe, or nil if it noted nothing.
func askReader(path []string, probe *yaml.Node) constraint {
	root := probe
	for _, part := range slices.Backward(path) {
		switch part {
		case anItem:
			root = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{root}}
		case anyKey:
			part = "x"
			fallthrough
		default:
			root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{textNode(part), root}}
		}
	}
	r := &reader{misspelt: map[*yaml.Node]bool{}, notes: map[*yaml.Node]constraint{}}
	r.readSettings(root, &Settings{})
	return r.notes[probe]
}

// describeParts puts the schemas of keys and items into a form.
func describeParts(form constraint, path []string) error {
	if keys, ok := form["properties"].([]string); ok {
		properties := map[string]constraint{}
		for _, key := range keys {
			value, err := describeValue(append(slices.Clip(path), key))
			if err != nil {
				return err
			}
			properties[key] = value
		}
		form["properties"] = properties
	}
	if form["additionalProperties"] == true {
		value, err := describeValue(append(slices.Clip(path), anyKey))
		if err != nil {
			return err
		}
		form["additionalProperties"] = value
	}
	if form["type"] == "array" {
		items, err := describeValue(append(slices.Clip(path), anItem))
		if err != nil {
			return err
		}
		if items[uniqueItem] == true {
			delete(items, uniqueItem)
			form["uniqueItems"] = true
		}
		form["items"] = items
	}
	return nil
}

// equals reports whether two constraints say the same.
func (c constraint) equals(other constraint) bool {
	one, _ := json.Marshal(c) // maps, lists, texts and numbers
	two, _ := json.Marshal(other)
	return string(one) == string(two)
}

// describeKey returns the description of a key for editors, "" for what is no key: the whole
// file, an item of a list, a name that the user chooses.
func describeKey(path []string) string {
	if len(path) == 0 || path[len(path)-1] == anItem || path[len(path)-1] == anyKey {
		return ""
	}
	name := strings.Join(path, ".")
	if text, ok := keyDescriptions[name]; ok {
		return text
	}
	name = strings.TrimPrefix(name, "integrations.*.")
	for _, c := range Conditions() {
		name = strings.Replace(name, "exec.when."+string(c)+".", "exec.when.*.", 1)
	}
	name = strings.Replace(name, "effects.[].", "effects.rules.[].", 1) // rules without a mapping around them
	return keyDescriptions[name]
}

// keyDescriptions has a description for each key. A key of an integration has the
// description of the general key with the same name, unless it has its own.
var keyDescriptions = map[string]string{
	"version": "Version of this format: 1.",

	"exec":        "How a task becomes a process.",
	"exec.argv":   "The argument vector. No shell is involved; words in braces are filled in.",
	"exec.config": "Text of a private file that exists while the task runs; {config} is its path.",
	"exec.env":    "Variables that are set for the process.",
	"exec.pass_env": "Names of variables that are passed on from the environment of the runner. A task gets no " +
		"others.",
	"exec.timeout":      "How long a task may run, such as 10m (the default) or 90s.",
	"exec.memory":       "The most memory that a task needs, such as 512MiB or 4GiB.",
	"exec.when":         "Additions for tasks whose pr_check has certain fields.",
	"exec.when.*.flags": "Arguments that take the place of {flags}.", "exec.when.*.env": "Further variables that are set.",
	"exec.when.*.pass_env":                 "Names of further variables that are passed on.",
	"exec.when.state":                      "For a definition with pr_check.state.",
	"exec.when.sqs":                        "For a definition with pr_check.sqs.",
	"exec.when.no_validate_schemas":        "For a definition with pr_check.no_validate_schemas.",
	"exec.when.early_exit":                 "For a task that may end early when it sees no difference.",
	"exec.when.check_only_affected_shards": "For a task that may leave out shards that are not affected.",
	"exec.variables":                       "The variables that pr_check.cmd of a definition may use.",
	"exec.image_ref":                       "The value of {image_ref} for definitions that name no image.",

	"integrations": "What is known about integrations, by their names.",

	"queries":    "Files with the GraphQL queries of the integration: all that it reads.",
	"resources":  "The resources that the integration may ask for by path: none, or patterns.",
	"list_order": "Whether the order of list items matters in its desired state.",
	"trace":      "How recorded queries may be used to skip the integration.",
	"baseline":   "none: a failed task is never run again on base.",

	"native": "The native integration that runs for this definition; the default is that of its " +
		"own name.",
	"settings":    "What the native integration itself reads.",
	"deletes":     "How many things the native integration may delete in one run.",
	"deletes.max": "The most deletions of one run; the default is 10.",
	"deletes.percent": "The most deletions of one run, in percent of the things that are ours; the " +
		"default is 20.",
	"deletes.floor":             "As many deletions are always allowed; the default is 3.",
	"deletes.off":               "Only approved deletions are allowed.",
	"deletes.approved":          "Deletions that are allowed whatever the other numbers say.",
	"deletes.approved.[].key":   "Key of the thing that may be deleted.",
	"deletes.approved.[].until": "The last day on which it may be deleted, such as 2026-01-31.",
	"adopt":                     "Patterns of the keys of things without an owner that the native integration may take.",
	"take_over":                 "Patterns of the keys of things of another caller that the native integration may take.",
	"server_dry_run": "Whether the dry run of the native integration asks clusters to try its writes, which " +
		"needs the rights to write.",
	"take_over_from": "Name of another integration whose things the native integration takes over.",

	"shards":            "How the integration runs on single shards of its work.",
	"shards.by":         "Selectors of the shards in the desired state, such as roles[*].aws_groups[*].account.name.",
	"shards.strategy":   "Which shards there are, if by is not set; managed takes them from the definition.",
	"shards.arg":        "The option before the shard, such as --account-name.",
	"shards.collection": "Whether one task may get the option several times.",
	"shards.max":        "The integration runs in full if more shards are affected.",
	"shards.fan_out":    "Whether a full run becomes one task per shard.",

	"integrations.*.limits": "Names of the limits that hold for the tasks of the integration.",
	"limits":                "Limits of live systems, by name: how many tasks may use a target.",
	"limits.*.key":          "Tells targets apart, with {shard} and {name} filled in.",
	"limits.*.max":          "How many tasks may use a target at once.",
	"limits.*.rate":         "How many tasks may start there in any second, minute or hour: 5/s, 10/min, 100/h.",

	"paths":                "What changed files mean that no schema describes.",
	"paths.ignore":         "Patterns of files about which no doubt runs anything, such as docs/**.",
	"paths.select":         "Rules that run integrations when files change.",
	"paths.select.[].when": "Patterns of files, such as resources/jenkins/**.",
	"paths.select.[].run":  "Names of the integrations that run when one of these files changes.",

	"checkout":           "Where the parts of a bundle are in a checkout.",
	"checkout.data":      "Folder of the datafiles; the default is data.",
	"checkout.resources": "Folder of the resources; the default is resources.",
	"checkout.schemas":   "Folder of the JSON schemas (the default is schemas), or a bundle file (*.json) with them.",
	"checkout.graphql":   "File with the GraphQL types; the default is graphql-schemas/schema.yml.",

	"schemas": "Whether an answer may depend on datafiles of schemas that the definition does not allow: " +
		"believed or strict.",
	"definition_schema": "The $schema of integration definitions; the default is /app-sre/integration-1.yml.",

	"transient":            "Regular expressions of output lines of failures that may pass by themselves.",
	"max_baseline_seconds": "How long failed tasks may run again on base, all together; the default is 600.",
	"reuse": "How long a passed task need not run again on the same inputs: a duration, or none. The " +
		"default is 1h.",
	"programs": "Which files of the repository a command may use: all (the default), none, or patterns.",

	"reads": "Whether the files that a task opens, lists and looks for are recorded: recorded (the default), " +
		"strict (an integration without a record runs), none.",
	"environment": "Files and folders that git ignores, such as .venv, that tasks on base have as well.",
	"prepare": "The command that prepares a copy of the files of a side before a task starts there, as a list " +
		"of words.",

	"owners":           "Rules of change-owners that a team keeps for a while.",
	"owners.order":     "asked: the order of a list is content. ignored: nobody is asked about it, and that is told.",
	"owners.unordered": "Lists whose order is no content: selectors of them by the schemas of their files.",
	"owners.edits":     "ignored: an edited comment approves nothing. counted: it does, although nobody knows who edited it.",
	"audit":            "What follows from audits of skipped work.",
	"audit.on_miss": "report: a wrong skip is reported. distrust: its rung also no longer counts for the integration, " +
		"until planner upkeep confirm.",

	"effects":                    "Finds in the output of a dry run what it would create, change and delete.",
	"effects.use":                "Names of ready rules.",
	"effects.rules":              "Rules of your own. The first rule that matches a line decides about it.",
	"effects.rules.[].match":     "A regular expression of lines.",
	"effects.rules.[].kind":      "What a matching line announces; none is nothing.",
	"effects.rules.[].subject":   "What the effect is about, with $name for a group of the pattern.",
	"effects.compare":            "base: tasks run on base, too, to tell drift from what the change does.",
	"effects.budget":             "How long these runs on base may take together, such as 5m.",
	"effects.require":            "The label that a merge request needs for effects of a kind.",
	"effects.require.create":     "The label for effects that create something.",
	"effects.require.change":     "The label for effects that change something.",
	"effects.require.delete":     "The label for effects that delete something.",
	"effects.require.other":      "The label for other effects.",
	"integrations.*.effects":     "none, or rules that count before the general ones.",
	"integrations.*.effects.use": "Names of ready rules for this integration.",

	"secrets":              "Where native integrations find secrets: files, env or vault.",
	"secrets.files":        "Secrets in files, such as those that Kubernetes mounts.",
	"secrets.files.folder": "Absolute path of a folder with a file PATH/FIELD for each secret.",
	"secrets.env": "Secrets in variables PREFIX_PATH_FIELD: upper case, with _ for all but " +
		"letters and digits.",
	"secrets.env.prefix": "What the names of the variables begin with, without the underscore " +
		"behind it.",
	"secrets.vault":                            "Secrets in the KV engine, version 2, of HashiCorp Vault.",
	"secrets.vault.server":                     "The address of Vault, such as https://vault.example.com:8200.",
	"secrets.vault.mount":                      "Where the KV engine is mounted; by default the first part of a path.",
	"secrets.vault.namespace":                  "A namespace of Vault Enterprise.",
	"secrets.vault.auth":                       "How to log in: approle, kubernetes or token_env.",
	"secrets.vault.auth.token_env":             "The variable with a token.",
	"secrets.vault.auth.approle":               "Log in with an AppRole.",
	"secrets.vault.auth.approle.mount":         "Where AppRole is mounted; the default is approle.",
	"secrets.vault.auth.approle.role_id_env":   "The variable with the role id.",
	"secrets.vault.auth.approle.secret_id_env": "The variable with the secret id.",
	"secrets.vault.auth.kubernetes":            "Log in with the token of a service account.",
	"secrets.vault.auth.kubernetes.role":       "The role in Vault.",
	"secrets.vault.auth.kubernetes.mount":      "Where this way to log in is mounted; the default is kubernetes.",
	"secrets.vault.auth.kubernetes.token_file": "Absolute path of the file with the token; the default is that of a pod.",

	"state":         "Which documents of a state may make something be skipped.",
	"state.keys":    "Public keys as planner upkeep keygen prints them. A document counts if one of them signed it.",
	"state.project": "A name that is signed with each document; the default is the project of the job.",
	"state.trust":   "bucket: every document of a bucket counts, signed or not.",

	"trust":                  "What head may decide.",
	"trust.new_integrations": "Whether an integration may be started that only head defines.",
	"trust.new_commands":     "Whether a command that the change edits runs once, with the files of the change.",
	"trust.ci_files":         "Patterns of the files that decide whether these checks are started.",
}
