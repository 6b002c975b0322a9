package settings

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/phrase"
)

// inIntegration puts text on line 4 of a file, in the mapping of integration a.
func inIntegration(text string) string {
	return "version: 1\nintegrations:\n  a:\n" + indent("    ", text)
}

// inExec puts text on line 3 of a file, in the general exec.
func inExec(text string) string { return "version: 1\nexec:\n" + indent("  ", text) }

func indent(by, text string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by) + "\n"
}

// inSecrets puts text on line 2 of a file, as where secrets are.
func inSecrets(text string) string { return "version: 1\nsecrets: " + text + "\n" }

// inVault is inSecrets for a server and a way to log in.
func inVault(server, auth string) string {
	return inSecrets("{vault: {server: '" + server + "', auth: " + auth + "}}")
}

const wrongServer = "2: secrets.vault.server: must be an address such as https://vault.example.com:8200, without a path and without a user"

type mistake struct {
	name, text string
	want       string // the messages, without "prcheck.yaml:"
}

var mistakes = []mistake{
	// The file as a whole.
	{"empty", "", ` is empty; it needs at least "version: 1"`},
	{"only comments", "# nothing\n", ` is empty; it needs at least "version: 1"`},
	{"null", "---\n", "2: must be a mapping, got nothing"},
	{"a list", "- version: 1\n", "1: must be a mapping, got a list"},
	{"a word", "hello\n", `1: must be a mapping, got the string "hello"`},
	{"too large", "#" + strings.Repeat("x", MaxBytes), " is larger than 1048576 bytes"},
	{"two documents", "version: 1\n---\nversion: 1\n", "2: a second document starts here; keep one"},
	{"second document broken", "version: 1\n---\na: b: c\n", "3: mapping values are not allowed in this context"},
	{"tab", "version: 1\nexec:\n\targv: [x]\n", "3: found character that cannot start any token"},
	{"open list", "version: 1\n\ntrust: [1,\nexec: 2\n", "4: did not find expected ',' or ']'"},
	{"open quote", "version: 1\ntrust: 'x\n\n\n", "2: found unexpected end of stream"},
	{"list in mapping", "version: 1\ntrust:\n  a: 1\n  - b\n", "4: did not find expected key"},
	{"control character", "version: 1\ntrust: \x01\n", "2: control characters are not allowed"},
	{"not UTF-8", "version: 1\ntrust: \xff\n", "2: invalid leading UTF-8 octet"},
	{"deep", "version: 1\ntrust: " + strings.Repeat("[", 20_000) + "\n", "2: exceeded max depth of 10000"},
	{"deep enough", "version: 1\ntrust: " + strings.Repeat("[", 900) + strings.Repeat("]", 900),
		"2: trust: must be a mapping, got a list"},

	// Keys.
	{"unknown key", "version: 1\nfoo: 1\n", `2: unknown key "foo"`},
	{"misspelled key", "version: 1\nexce: {}\n", `2: unknown key "exce" (did you mean "exec"?)`},
	{"duplicate key", "version: 1\ntrust: {}\ntrust: {}\n", `3: duplicate key "trust", first on line 2`},
	{"duplicate integration", "version: 1\nintegrations:\n  a: {}\n  a: {}\n",
		`4: integrations: duplicate key "a", first on line 3`},
	{"number as key", "version: 1\nintegrations:\n  1: {}\n",
		`3: integrations: a key must be a string, got the number "1"`},
	{"list as key", "version: 1\n? [a]\n: 1\n", "2: a key must be a string, got a list"},
	{"alias", "version: 1\nexec: &e {argv: [x]}\nintegrations: {a: {exec: *e}}\n",
		"3: integrations.a.exec: must be a mapping, got an alias (*e), which is not supported"},
	{"alias of itself", "version: 1\nexec: &e\n  argv: [x, *e]\n",
		"3: exec.argv[1]: must be a string, got an alias (*e), which is not supported"},
	{"unknown alias", "version: 1\nexec: *e\n", "2: unknown anchor 'e' referenced"},
	{"merge key", "version: 1\nexec: &e {argv: [x]}\ntrust: {<<: *e}\n",
		"3: trust: merge keys (<<) are not supported; write the keys out"},
	{"null section", "version: 1\nintegrations:\n", "2: integrations: must be a mapping, got nothing"},

	// Secrets.
	{"no source of secrets", inSecrets("{}"), "2: secrets: needs exactly one of files, env or vault, got 0"},
	{"two sources of secrets", inSecrets("{env: {prefix: A}, files: {folder: /a}}"),
		"2: secrets: needs exactly one of files, env or vault, got 2"},
	{"unknown source of secrets", inSecrets("{file: {folder: /a}}"),
		`2: secrets: unknown key "file" (did you mean "files"?)`},
	{"secrets as text", inSecrets("vault"), `2: secrets: must be a mapping, got the string "vault"`},
	{"no folder", inSecrets("{files: {}}"), "2: secrets.files: folder is missing"},
	{"folder of the repository", inSecrets("{files: {folder: secrets}}"),
		`2: secrets.files.folder: "secrets" is not absolute; files of the repository come from the change, so they hold no secrets`},
	{"wrong prefix", inSecrets("{env: {prefix: A-B}}"),
		`2: secrets.env.prefix: "A-B" is no name of a variable: it has letters, digits and _`},
	{"no server", inSecrets("{vault: {auth: {token_env: A}}}"), "2: secrets.vault: server is missing"},
	{"no way to log in", inSecrets("{vault: {server: 'https://v'}}"), "2: secrets.vault: auth is missing"},
	{"plain http", inVault("http://v.example", "{token_env: A}"),
		"2: secrets.vault.server: must begin with https://, since secrets are sent there; http:// is allowed for this machine alone"},
	{"plain http to a name", inVault("http://127.0.0.1.example", "{token_env: A}"),
		"2: secrets.vault.server: must begin with https://, since secrets are sent there; http:// is allowed for this machine alone"},
	{"another scheme", inVault("ftp://localhost", "{token_env: A}"),
		"2: secrets.vault.server: must begin with https://, since secrets are sent there; http:// is allowed for this machine alone"},
	{"a password in the address", inVault("https://me:it@v", "{token_env: A}"), wrongServer},
	{"a path in the address", inVault("https://v/v1", "{token_env: A}"), wrongServer},
	{"no address", inVault("vault", "{token_env: A}"), wrongServer},
	{"two ways to log in", inVault("https://v", "{token_env: A, kubernetes: {role: r}}"),
		"2: secrets.vault.auth: needs exactly one of approle, kubernetes or token_env, got 2"},
	{"a token in the settings", inVault("https://v", "{token: hvs.abc}"), `2: secrets.vault.auth: unknown key "token"`},
	{"half an AppRole", inVault("https://v", "{approle: {role_id_env: A}}"),
		"2: secrets.vault.auth.approle: secret_id_env is missing"},
	{"no role", inVault("https://v", "{kubernetes: {}}"), "2: secrets.vault.auth.kubernetes: role is missing"},
	{"token of the repository", inVault("https://v", "{kubernetes: {role: r, token_file: t}}"),
		`2: secrets.vault.auth.kubernetes.token_file: "t" is not absolute; files of the repository come from the change, so they hold no secrets`},
	{"mount outside", inVault("https://v", "{kubernetes: {role: r, mount: ../x}}"),
		"2: secrets.vault.auth.kubernetes.mount: must be names between slashes, such as app-sre"},

	// Version and trust.
	{"no version", "trust: {}\n", `1: version is missing; it starts with "version: 1"`},
	{"other version", "\nversion: 2\n", "2: version: only version 1 is known"},
	{"version as text", "version: \"1\"\n",
		"1: version: must be a whole number, got the string \"1\"\n1: version: only version 1 is known"},
	{"CI files as text", "version: 1\ntrust: {ci_files: ci.yml}\n",
		`2: trust.ci_files: must be a list, got the string "ci.yml"`},
	{"no CI files", "version: 1\ntrust: {ci_files: []}\n", "2: trust.ci_files: is empty; it needs at least one entry"},
	{"a CI file elsewhere", "version: 1\ntrust: {ci_files: [../ci.yml]}\n",
		`2: trust.ci_files: pattern "../ci.yml" can never match: it has the part ".."`},
	{"trust as text", "version: 1\ntrust: {new_integrations: 'yes'}\n",
		`2: trust.new_integrations: must be true or false, got the string "yes"`},

	// Transient and baseline.
	{"transient as text", "version: 1\ntransient: x\n", `2: transient: must be a list, got the string "x"`},
	{"no regular expression", "version: 1\ntransient:\n  - ok\n  - 'a(b'\n",
		`4: transient: pattern "a(b" is no regular expression: missing closing )`},
	{"look-ahead", "version: 1\ntransient: ['a(?=b)']\n",
		`2: transient: pattern "a(?=b)" is no regular expression: invalid or unsupported Perl syntax`},
	{"everything is transient", "version: 1\ntransient: ['.*']\n",
		`2: transient: pattern ".*" matches every line, so that every failure would be transient`},
	{"transient twice", "version: 1\ntransient: [a, a]\n", `2: transient[1]: "a" is already on line 2`},
	{"long pattern", "version: 1\ntransient: ['" + strings.Repeat("x", 501) + "']\n",
		"2: transient: pattern " + phrase.Quote(strings.Repeat("x", 501)) + " is longer than 500 bytes"},
	{"many patterns", "version: 1\ntransient: [" + strings.Repeat("x, ", 51) + "]\n",
		"2: transient: has more than 50 patterns"},
	// Reuse.
	{"programs of another word", "version: 1\nprograms: some\n",
		`2: programs: must be none, all or a list of patterns, got the string "some"`},
	{"programs as mapping", "version: 1\nintegrations:\n  a: {programs: {none: true}}\n",
		"3: integrations.a.programs: must be none, all or a list of patterns, got a mapping"},
	{"no programs", "version: 1\nprograms: []\n", "2: programs: is empty; it needs at least one entry"},
	{"programs outside of the repository", "version: 1\nprograms: [/usr/bin/make]\n",
		`2: programs: pattern "/usr/bin/make" can never match: paths of the repository start without a slash`},
	{"reuse without a unit", "version: 1\nreuse: 30\n",
		"2: reuse: must be none or a duration such as 30m or 4h, got the number \"30\""},
	{"reuse as list", "version: 1\nreuse: [1h]\n", "2: reuse: must be none or a duration such as 30m or 4h, got a list"},
	{"reuse of nothing", "version: 1\nreuse:\n", "2: reuse: must be none or a duration such as 30m or 4h, got nothing"},
	{"reuse backwards", "version: 1\nintegrations:\n  a: {reuse: -1h}\n",
		`3: integrations.a.reuse: must be none or from 1s to 336h, got "-1h"`},
	{"reuse for too long", "version: 1\nreuse: 337h\n", `2: reuse: must be none or from 1s to 336h, got "337h"`},
	// Limits.
	{"limits as list", "version: 1\nlimits: [aws]\n", "2: limits: must be a mapping, got a list"},
	{"limit without a bound", "version: 1\nlimits:\n  aws: {key: x}\n",
		"3: limits.aws: max or rate is missing: how many tasks at once, or how many starts such as 10/min"},
	{"misspelt bound", "version: 1\nlimits:\n  aws: {mxa: 1}\n", `3: limits.aws: unknown key "mxa" (did you mean "max"?)`},
	{"limit with a slash", "version: 1\nlimits:\n  a/b: {max: 1}\n",
		`3: limits: the name "a/b" must have 1 to 50 letters, digits, - and _`},
	{"no place at all", "version: 1\nlimits: {aws: {max: 0}}\n", "2: limits.aws.max: must be from 1 to 1000, got 0"},
	{"rate as number", "version: 1\nlimits: {aws: {rate: 10}}\n",
		"2: limits.aws.rate: must be a number of starts in a period, such as 10/min (or /s, /h), got the number \"10\""},
	{"rate in days", "version: 1\nlimits: {aws: {rate: 10/day}}\n",
		`2: limits.aws.rate: must be a number of starts in a period, such as 10/min (or /s, /h), got the string "10/day"`},
	{"rate of none", "version: 1\nlimits: {aws: {rate: 0/h}}\n",
		"2: limits.aws.rate: must be from 1 to 1000 starts, got 0"},
	{"unknown word in a key", "version: 1\nlimits: {aws: {max: 1, key: '{cmd}'}}\n",
		"2: limits.aws.key: unknown placeholder {cmd}; {shard} and {name} are known here"},
	{"variable in a key", "version: 1\nlimits: {aws: {max: 1, key: '{env.X}'}}\n",
		"2: limits.aws.key: unknown placeholder {env.X}; {shard} and {name} are known here"},
	{"empty key", "version: 1\nlimits: {aws: {max: 1, key: ''}}\n", "2: limits.aws.key: is empty"},
	{"unknown limit", "version: 1\nlimits: {aws: {max: 1}}\nintegrations: {a: {limits: [asw]}}\n",
		`3: integrations.a.limits: there is no limit "asw" (did you mean "aws"?)`},
	{"no limits", inIntegration("limits: []"), "4: integrations.a.limits: is empty; it needs at least one entry"},
	{"limit twice", "version: 1\nlimits: {aws: {max: 1}}\nintegrations: {a: {limits: [aws, aws]}}\n",
		`3: integrations.a.limits[1]: "aws" is already on line 3`},

	{"transient of an integration", inIntegration("transient: ['[']"),
		`4: integrations.a.transient: pattern "[" is no regular expression: missing closing ]`},
	{"a duration on base", "version: 1\nmax_baseline_seconds: 10m\n",
		`2: max_baseline_seconds: must be a whole number, got the string "10m"`},
	{"a negative time on base", "version: 1\nmax_baseline_seconds: -1\n",
		"2: max_baseline_seconds: must be from 0 to 86400, got -1"},

	// Exec.
	{"exec as list", "version: 1\nexec: [x]\n", "2: exec: must be a mapping, got a list"},
	{"shell text", inExec("argv: reconcile --dry-run"),
		`3: exec.argv: must be a list, got the string "reconcile --dry-run"`},
	{"empty argv", inExec("argv: []"), "3: exec.argv: is empty; it needs at least one entry"},
	{"empty program", inExec(`argv: ["", x]`), "3: exec.argv[0]: the program to start is empty"},
	{"number in argv", inExec("argv: [x,\n  1]"),
		`4: exec.argv[1]: must be a string, got the number "1"; put it in quotes`},
	{"NUL in argv", inExec(`argv: ["a\0b"]`), "3: exec.argv[0]: holds a NUL character"},
	{"unknown placeholder", inExec(`argv: [x, "{shrd}"]`),
		`3: exec.argv[1]: unknown placeholder {shrd} (did you mean "shard"?)`},
	{"cmd inside a word", inExec(`argv: [x, "--run={cmd}"]`),
		"3: exec.argv[1]: {cmd} becomes any number of arguments, so it must be an argument of its own"},
	{"config without text", inExec(`argv: [x, "{config}"]`), "3: exec: {config} is used, but there is no config"},
	{"config in itself", inExec(`config: "path = {config}"`), "3: exec.config: unknown placeholder {config}"},
	{"token in an argument", inExec(`argv: [x, "{graphql_token}"]`),
		"3: exec.argv[1]: {graphql_token} may stand in env and config alone: everybody on the machine sees arguments"},
	{"token in a variable of arguments", inExec(`variables: {A: "{graphql_token}"}`),
		"3: exec.variables.A: {graphql_token} may stand in env and config alone: everybody on the machine sees arguments"},
	{"token in a flag", inExec("argv: [x, '{flags}']\nwhen: {sqs: {flags: ['{graphql_token}']}}"),
		"4: exec.when.sqs.flags[0]: {graphql_token} may stand in env and config alone: everybody on the machine sees arguments"},
	{"cmd in env", inExec(`env: {A: "{cmd}"}`), "3: exec.env.A: unknown placeholder {cmd}"},
	{"bad variable", inExec("env:\n  A-B: x"), `4: exec.env: "A-B" cannot be the name of a variable`},
	{"number as variable", inExec("env: {A: 1}"), `3: exec.env.A: must be a string, got the number "1"; put it in quotes`},
	{"bad passed variable", inExec("pass_env: [HOME, A=1]"), `3: exec.pass_env: "A=1" cannot be the name of a variable`},
	{"passed twice", inExec("pass_env:\n  - HOME\n  - HOME"), `5: exec.pass_env[1]: "HOME" is already on line 4`},
	{"set and passed", inExec("env: {A: x}\npass_env: [A]"), `4: exec.pass_env: "A" is set in env too; keep one of them`},
	{"timeout without unit", inExec("timeout: 600"),
		`3: exec.timeout: must be a duration such as 90s or 10m, got the number "600"`},
	{"timeout as text", inExec("timeout: soon"),
		`3: exec.timeout: must be a duration such as 90s or 10m, got the string "soon"`},
	{"memory without unit", inExec("memory: 512"),
		`3: exec.memory: must be an amount of memory such as 512MiB or 4GiB, got the number "512"`},
	{"memory as a list", inExec("memory: [512MiB]"),
		"3: exec.memory: must be an amount of memory such as 512MiB or 4GiB, got a list"},
	{"negative timeout", inExec("timeout: -5m"), "3: exec.timeout: must be from 1s to 24h0m0s, got -5m0s"},
	{"flags inside a word", inExec(`argv: [x, "-{flags}"]`),
		"3: exec.argv[1]: {flags} becomes any number of arguments, so it must be an argument of its own"},
	{"bad variable of the environment", inExec(`argv: [x, "{env.A-B}"]`),
		"3: exec.argv[1]: unknown placeholder {env.A-B}"},
	{"image in env", inExec("image_ref: x\nenv: {A: '{image_ref}'}"), "4: exec.env.A: unknown placeholder {image_ref}"},
	{"image without a usual one", inExec(`argv: [x, "{image_ref}"]`),
		"3: exec: {image_ref} is used, but image_ref is missing: the image for definitions that name none"},
	{"empty image", inExec(`image_ref: ""`), "3: exec.image_ref: is empty"},
	{"variables as list", inExec("variables: [A]"), "3: exec.variables: must be a mapping, got a list"},
	{"bad variable name", inExec(`variables: {A-B: x}`), `3: exec.variables: "A-B" cannot be the name of a variable`},
	{"unknown condition", inExec("when:\n  states: {}"), `4: exec.when: unknown key "states" (did you mean "state"?)`},
	{"unknown key of a condition", inExec("when:\n  state:\n    argv: [x]"), `5: exec.when.state: unknown key "argv"`},
	{"condition as list", inExec("when: {state: [x]}"), "3: exec.when.state: must be a mapping, got a list"},
	{"flags without a place", inExec("argv: [x]\nwhen: {sqs: {flags: [-y]}}"),
		"3: exec: when.sqs.flags are never used, since argv has no {flags}; add it, or set when without flags here"},
	{"flags without a place in an own argv", inExec("argv: [x, '{flags}']\nwhen: {sqs: {flags: [-y]}}") +
		"integrations:\n  a:\n    exec:\n      argv: [z]\n",
		"8: integrations.a.exec: when.sqs.flags are never used, since argv has no {flags}; add it, or set when without flags here"},
	{"no flags", inExec("when: {sqs: {flags: []}}"), "3: exec.when.sqs.flags: is empty; it needs at least one entry"},
	{"unknown placeholder in a flag", inExec("argv: [x, '{flags}']\nwhen: {sqs: {flags: ['{cmd}']}}"),
		"4: exec.when.sqs.flags[0]: unknown placeholder {cmd}"},
	{"config in a condition", inExec(`when: {sqs: {env: {A: "{config}"}}}`),
		"3: exec: {config} is used, but there is no config"},
	{"set and set by a condition", inExec("env: {A: x}\nwhen:\n  state: {env: {A: y}}"),
		`5: exec.when.state.env: "A" is set in env too; keep one of them`},
	{"passed by two conditions", inExec("when:\n  state: {pass_env: [A]}\n  sqs: {pass_env: [A]}"),
		`4: exec.when.sqs.pass_env: "A" is set in when.state.pass_env too; keep one of them`},
	{"set here and passed in general", inExec("pass_env: [A]") + "integrations:\n  a:\n    exec: {env: {A: x}}\n",
		`6: integrations.a.exec.pass_env: "A" is set in env too; keep one of them`},
	{"exec of one integration", inIntegration("exec: {agrv: [x]}"),
		`4: integrations.a.exec: unknown key "agrv" (did you mean "argv"?)`},

	// Paths.
	{"bad pattern", "version: 1\npaths: {ignore: ['a[']}\n", `2: paths.ignore: pattern "a[" is malformed`},
	{"pattern with slash", "version: 1\npaths: {ignore: [/docs/**]}\n",
		`2: paths.ignore: pattern "/docs/**" can never match: paths of the repository start without a slash`},
	{"pattern of folder", "version: 1\npaths: {ignore: [docs/]}\n",
		`2: paths.ignore: pattern "docs/" can never match: it names a folder, add ** for what is in it`},
	{"pattern going up", "version: 1\npaths: {ignore: [../a]}\n",
		`2: paths.ignore: pattern "../a" can never match: it has the part ".."`},
	{"costly pattern", "version: 1\npaths: {ignore: ['" + strings.Repeat("{a,b}", 5) + "']}\n",
		`2: paths.ignore: pattern "{a,b}{a,b}{a,b}{a,b}{a,b}" has more than 4 groups of alternatives`},
	{"long pattern", "version: 1\npaths: {ignore: [" + strings.Repeat("a", 201) + "]}\n",
		`2: paths.ignore: pattern "` + strings.Repeat("a", 80) + `"… is longer than 200 bytes`},
	{"rule without when", "version: 1\npaths:\n  select:\n    - run: [a]\n", "4: paths.select[0]: when is missing"},
	{"rule without run", "version: 1\npaths:\n  select:\n    - when: [a]\n", "4: paths.select[0]: run is missing"},
	{"rule runs nothing", "version: 1\npaths:\n  select:\n    - when: [a]\n      run: []\n",
		"5: paths.select[0].run: is empty; it needs at least one entry"},
	{"rule for nothing", "version: 1\npaths:\n  select:\n    - when: []\n      run: [a]\n",
		"4: paths.select[0].when: is empty; it needs at least one entry"},
	{"rule runs no name", "version: 1\npaths:\n  select:\n    - {when: [a], run: ['']}\n",
		`4: paths.select[0].run[0]: is empty`},
	{"select as mapping", "version: 1\npaths: {select: {when: [a]}}\n", "2: paths.select: must be a list, got a mapping"},
	{"definition schema", "version: 1\ndefinition_schema: ''\n", "2: definition_schema: is empty"},

	// Integrations.
	{"bad name", "version: 1\nintegrations:\n  '': {}\n", `3: integrations: an integration needs a name`},
	{"no queries", inIntegration("queries: []"), "4: integrations.a.queries: is empty; it needs at least one entry"},
	{"one query as text", inIntegration("queries: a.graphql"),
		`4: integrations.a.queries: must be a list, got the string "a.graphql"`},
	{"query outside", inIntegration("queries:\n  - ok\n  - ../a"),
		`6: integrations.a.queries: "../a" cannot be used: it has the part ".."`},
	{"absolute query", inIntegration("queries: [/etc/passwd]"),
		`4: integrations.a.queries: "/etc/passwd" cannot be used: it is not relative to the folder of this file`},
	{"query with backslash", inIntegration(`queries: ['a\b']`),
		`4: integrations.a.queries: "a\\b" cannot be used: it has a backslash; write slashes`},
	{"query twice", inIntegration("queries: [a, a]"), `4: integrations.a.queries[1]: "a" is already on line 4`},
	{"empty query", inIntegration(`queries: [""]`), "4: integrations.a.queries[0]: is empty"},
	{"list order", inIntegration("list_order: sorted"),
		`4: integrations.a.list_order: must be ignored or significant, got "sorted"`},
	{"trace", inIntegration("trace: true"),
		`4: integrations.a.trace: must be a string, got the truth value "true"; put it in quotes`},
	{"schemas", inIntegration("schemas: loose"), `4: integrations.a.schemas: must be believed or strict, got "loose"`},
	{"resources", inIntegration("resources: all"),
		`4: integrations.a.resources: must be none or a list of patterns such as resources/jenkins/**, got the string "all"`},
	{"no resources", inIntegration("resources: []"), `4: integrations.a.resources: is empty; it needs at least one entry`},
	{"resources as in a bundle", inIntegration("resources: [/r/**]"),
		`4: integrations.a.resources: pattern "/r/**" can never match: paths of the repository start without a slash`},
	{"resources elsewhere", inIntegration("resources: ['data/**']"),
		`4: integrations.a.resources: pattern "data/**" can never match: paths of resources start with resources/`},

	// Shards.
	{"shards without by", inIntegration("shards: {arg: --x}"), "4: integrations.a.shards: by is missing"},
	{"misspelled arg", inIntegration("shards:\n  by: ['a[*].b']\n  agr: --x"),
		`6: integrations.a.shards: unknown key "agr" (did you mean "arg"?)`},
	{"shards by nothing", inIntegration("shards: {by: []}"),
		"4: integrations.a.shards.by: is empty; it needs at least one entry"},
	{"selector twice", inIntegration("shards:\n  by:\n    - a[*].b\n    - $.a[*].'b'"),
		`7: integrations.a.shards.by: "$.a[*].'b'" says the same as "a[*].b" on line 6`},
	{"bad selector", inIntegration("shards: {by: ['a.b']}"),
		`4: integrations.a.shards.by: selector "a.b": names no elements; it needs a wildcard, [*] for each item or * for each member`},
	{"many selectors", inIntegration("shards: {by: [" + strings.Repeat("'a[*].b',", 101) + "]}"),
		"4: integrations.a.shards.by: has more than 100 selectors"},
	{"max", inIntegration("shards: {by: ['a[*].b'], max: 0}"),
		"4: integrations.a.shards.max: must be from 1 to 10000, got 0"},
	{"max as fraction", inIntegration("shards: {by: ['a[*].b'], max: 1.5}"),
		`4: integrations.a.shards.max: must be a whole number, got the number "1.5"`},
	{"fan_out", inIntegration("shards: {by: ['a[*].b'], fan_out: 1}"),
		`4: integrations.a.shards.fan_out: must be true or false, got the number "1"`},
	{"arg missing", inIntegration(`exec: {argv: [x, "{shard_args}"]}` + "\nshards: {by: ['a[*].b']}"),
		"5: integrations.a.shards: arg is missing: the option that {shard_args} puts before the shard"},
	{"arg unused", inIntegration(`exec: {argv: [x, "{shard}"]}` + "\nshards: {by: ['a[*].b'], arg: --x}"),
		"5: integrations.a.shards.arg: is never used, since exec.argv has no {shard_args}"},
	{"static shards unused",
		inIntegration(`exec: {argv: [x, "{shard_args}", "{shards}"]}` + "\nshards: {strategy: static}"),
		"5: integrations.a.shards: a process would not know its static shard: put {shards} and {shard_id} into argv, env or config of exec"},
	{"strategy", inIntegration("shards: {strategy: per-moon}"),
		`4: integrations.a.shards.strategy: must be per-aws-account or per-openshift-cluster or per-ocm-organization or static or managed, got "per-moon"`},
	{"shard unused", inIntegration(`exec: {argv: [x]}` + "\nshards: {by: ['a[*].b']}"),
		"5: integrations.a.shards: a process would not know its shard: exec.argv has neither {shard_args} nor {shard}"},

	{"all of them", "version: 1\nexec: {timeout: x}\nfoo: 1\npaths: 3\n",
		`2: exec.timeout: must be a duration such as 90s or 10m, got the string "x"
3: unknown key "foo"
4: paths: must be a mapping, got the number "3"`},
}

func TestReadMistakes(t *testing.T) {
	for _, tt := range mistakes {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read("prcheck.yaml", []byte(tt.text))
			if err == nil {
				t.Fatalf("read %+v", s)
			}
			want := "prcheck.yaml:" + strings.ReplaceAll(tt.want, "\n", "\nprcheck.yaml:")
			if err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}
