package layers

import "slices"

// module is the path of our own packages.
const module = "github.com/app-sre/prcheck"

// A house is a part of the product that stands by itself: its packages import lower floors of their own house, and of
// other houses only what a door offers.
type house struct {
	name string
	dir  string // its packages are below it; "" is the root of the module
	page string // lists its packages
	// floors lists the packages, the lowest floor first. A name that ends with /* means every package below that folder.
	floors [][]string
	// doors lists the packages of other houses that any package of this one may import.
	doors []string
}

// houses lists the houses, the check last: its folder is the root.
var houses = []house{
	{
		name: "qontract", dir: "qontract", page: "docs/architecture/qontract.md",
		floors: [][]string{
			{"qontract/bundle", "qontract/bundler", "qontract/jsonpath"},
			{"qontract/gql", "qontract/server/metrics"},
			{"qontract/live", "qontract/validator"},
			{"qontract/server"},
		},
	},
	{
		name: "natives", dir: "natives", page: "docs/architecture/natives.md",
		floors: [][]string{
			{"natives/openapi", "natives/receiver", "natives/reconcile", "natives/systems/jsonapi", "natives/template",
				"natives/webhook"},
			{"natives/kube", "natives/openapi/resources", "natives/systems/*"},
			{"natives/kube/writer", "natives/manifests", "natives/native", "natives/openapi/classes", "natives/systems"},
			{"natives/openapi/catalog", "natives/rounds", "natives/writers"},
			integrations,
			{"natives"},
			{"natives/connect"},
		},
		doors: slices.Concat([]string{"qontract/*"}, contract),
	},
	{
		name: "cmd", dir: "cmd", page: "docs/ARCHITECTURE.md",
		floors: [][]string{{"cmd/planner", "cmd/reconciler", "cmd/runner"}},
		doors:  []string{"*"},
	},
	{
		name: "programs", dir: "programs", page: "docs/ARCHITECTURE.md",
		floors: [][]string{{"programs/moved"}, {"programs/planner", "programs/reconciler", "programs/runner"}},
		doors:  []string{"*"},
	},
	{
		name: "check", page: "docs/architecture/check.md",
		floors: [][]string{
			{"plan", "state", "world", "owners/difference", "owners/people", "queue"},
			{"settings", "owners/content", "queue/peer"},
			{"integration", "integration/services", "state/audits", "state/bases", "state/checks", "state/dependence",
				"state/durations",
				"state/files", "state/history", "state/lease", "state/pending", "state/statetest", "state/tally", "state/trains",
				"wrapper", "report", "ci/pipeline", "ci/revisions", "owners/rules", "queue/deltas", "queue/merging"},
			{"schemafilter", "integration/sharding", "state/loops", "planner/rules", "trace", "wrapper/forecast", "ci/note",
				"runner/place", "runner/submit/jobs", "owners/coverage"},
			{"affected", "planner/flip", "planner/proof", "report/board", "report/lines", "report/insights", "report/live",
				"report/proofs", "report/traces", "source", "runner/baseline", "runner/effects", "runner/findings",
				"runner/journal", "runner/memory",
				"runner/archive", "runner/parts", "runner/progress", "runner/guard", "owners/decision", "owners/folders",
				"owners/changelog", "owners/members"},
			{"planner", "planner/peer", "ci", "source/served", "runner/launch", "runner/recording", "runner/submit",
				"owners/approvals", "owners"},
			{"runner", "change", "planner/selftest", "setup", "doctor", "owners/review", "owners/comparison",
				"queue/forge"},
			{"owners/asking", "owners/forge", "queue/proving"},
		},
		doors: []string{"qontract/*"},
	},
}

// integrations lists the native integrations. The packages of one may import each other, and none of another.
var integrations = []string{
	"natives/generic", "natives/generic/*", "natives/manager", "natives/manager/*", "natives/namespaces", "natives/saas",
	"natives/saas/*",
}

// contract lists what the check offers to natives: the contract between both, and the documents that they share.
var contract = []string{"integration", "integration/services", "integration/sharding", "settings", "plan", "state",
	"state/lease", "state/loops"}

// alsoOpens lists doors of single packages, with the reason.
var alsoOpens = map[string]struct {
	to  []string
	why string
}{
	"natives/rounds": {[]string{"source", "runner/launch", "runner/findings", "report/lines"},
		"a round opens the data, answers queries and tells mistakes as the check does"},
	"natives/connect": {[]string{"ci"}, "its client of GitLab is the forge of saas-promotions"},
}

// side lists the packages beside the houses. Every package may import them, and they import
// only each other.
var side = []string{"examples/cloud", "examples/qontract-reconcile", "internal/cli", "internal/crash", "internal/git",
	"internal/sanitize", "internal/heap", "internal/hugepages", "internal/jsonpointer", "internal/layers",
	"internal/lazyregexp",
	"internal/listing", "internal/mapped", "internal/markdown", "internal/mask", "internal/names", "internal/objects",
	"internal/origin", "internal/outward", "internal/packed", "internal/phrase", "internal/pyjson",
	"internal/reads", "internal/refusal",
	"internal/retry",
	"internal/rlimit", "internal/safepath", "internal/script", "internal/shared", "internal/shellwords",
	"internal/suggest"}

// doubles is the house of the servers that tests play with. Tests import them, and programs that are not part of the
// product; the product itself never does. They import each other and packages of side.
const doubles = "doubles"

// programs lists folders with programs that are not part of the product. They import only
// each other. Of the other rules, only those about sizes and libraries hold for them.
var programs = []string{"bench", "examples", "conformance", "laws"}

// shownTo lists, for some folders with programs, what else they may import. The laws make the
// data that a program asks for by hand, and are else as strange to us as users are.
var shownTo = map[string][]string{
	"laws/*": {"qontract/bundle", "qontract/bundler", "qontract/server"},
	// This one plans with the product, and knows the truth from its own data.
	"laws/proofs": {"change", "internal/cli", "plan", "queue", "queue/proving", "state", "state/files", "state/history"},
	"laws/owners": {"qontract/bundle", "qontract/jsonpath", "owners", "owners/approvals", "owners/content",
		"owners/coverage", "owners/decision", "owners/difference", "owners/rules"},
	"laws/queue": {"queue", "queue/peer"},
	// This law runs the product in its own process, with services in memory.
	"laws/secrets": {"qontract/bundle", "qontract/bundler", "change", "ci", "ci/note", "integration",
		"integration/services", "settings", "natives/generic", "natives/generic/operation", "natives/saas/deploy",
		"natives/saas/pipelines",
		"natives", "natives/saas/promotions", "natives/saas/saastest", "internal/mask", "plan", "planner", "report", "runner",
		"runner/launch", "natives/rounds",
		"natives/systems", "natives/writers", "natives/systems/builds", "natives/systems/jsonapi",
		"natives/systems/measurements", "natives/systems/registry", "natives/systems/repositories", "state"},
	// These laws run one native in their own process, with services in memory.
	"laws/effects": {"examples/cloud", "integration", "natives/generic", "natives/generic/cloudtest",
		"natives/generic/operation", "natives/namespaces", "natives/reconcile", "plan", "settings", "state",
		"state/statetest"},
	"laws/specs": {"integration", "natives/generic", "natives/generic/check", "natives/generic/cloud",
		"natives/generic/cloudtest", "natives/generic/family", "natives/generic/operation", "plan", "settings",
		"state", "state/statetest"},
}

// never lists imports that the floors would allow, but that are forbidden because deciding
// and acting are separate: they meet in the plan.
var never = map[string][]string{
	"planner": {"wrapper", "report", "ci", "runner"},
	"runner":  {"planner", "schemafilter", "affected", "report", "ci"},
	"wrapper": {"qontract/bundle"},
}

// only lists, for some packages, the only packages of ours that they may import.
var only = map[string][]string{
	"natives/generic":   describes,
	"natives/generic/*": describes,
	// worlds for tests
	"natives/generic/cloudtest": {"qontract/bundle", "qontract/gql", "integration"},
	// nothing that it is to prove
	"planner/proof": {"qontract/bundle", "qontract/gql", "integration", "settings", "plan", "state/dependence",
		"trace"},
	// nothing that makes plans
	"planner/peer":          {"qontract/bundle", "qontract/gql", "qontract/live", "plan", "planner/proof", "trace"},
	"natives/saas/saastest": {"qontract/bundle", "qontract/gql", "integration"}, // worlds for tests
	"natives/manager":       deploys,
	"natives/manager/*":     deploys,
	"natives/namespaces":    deploys,
	"natives/saas":          append(deploys, "qontract/jsonpath"),
	"natives/saas/*":        deploys,
}

// deploys lists what a native integration imports that writes to clusters or repositories.
var deploys = []string{"integration", "settings", "natives/native", "natives/reconcile", "plan", "state",
	"integration/sharding", "natives/manifests", "integration/services", "natives/template"}

// describes lists what a native integration imports whose resources are described by
// specifications.
var describes = []string{"integration", "settings", "natives/native", "natives/reconcile", "plan", "state",
	"state/lease", "integration/sharding", "natives/manifests",
	"integration/services", "natives/openapi", "natives/openapi/resources", "natives/openapi/classes",
	"natives/openapi/catalog"}

// owners lists, for each outside library, the packages that may import it. Packages below
// the path of a library belong to it.
var owners = map[string][]string{
	"github.com/bmatcuk/doublestar/v4":         {"settings"},
	"github.com/aws/aws-sdk-go-v2":             {"internal/objects"},
	"github.com/aws/smithy-go":                 {"internal/objects"},
	"github.com/dlclark/regexp2":               {"qontract/validator"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"qontract/validator"},
	"github.com/hashicorp/go-multierror":       {"natives/reconcile", "wrapper"},
	"github.com/hashicorp/vault/api":           {"natives/systems"},
	"github.com/mattn/go-runewidth":            {"runner/progress"},
	"github.com/prometheus":                    {"qontract/server/metrics"},
	"github.com/spf13/cobra": {"programs/moved", "programs/planner", "programs/reconciler",
		"programs/runner", "internal/cli"},
	"github.com/spf13/pflag": {"programs/moved", "programs/planner", "programs/reconciler",
		"programs/runner", "internal/cli"},
	"github.com/vbauerster/mpb/v8": {"runner/progress"},
	"github.com/robfig/cron/v3":    {"natives/manifests"},
	"k8s.io": {"natives/kube", "natives/kube/writer", "runner/submit/jobs",
		"natives/manifests", "doubles/kubetest"},
	"sigs.k8s.io/structured-merge-diff/v6": {"natives/kube", "natives/manifests", "doubles/kubetest"},
	"github.com/wI2L/jsondiff":             {"qontract/bundle"},
	"github.com/cespare/xxhash/v2":         {"qontract/bundle"},
	"github.com/xanzy/go-gitlab":           {"ci"},
	"github.com/yuin/goldmark":             {"internal/markdown", "ci/note"}, // in tests
	"go.yaml.in/yaml/v3": {"qontract/bundler", "integration", "settings", "natives/template",
		"natives/generic/importer", "natives/saas/edit", "natives/saas/jobs", "ci/pipeline", "natives/openapi",
		"qontract/validator"},
	"golang.org/x/sync": {"qontract/bundler", "runner/archive", "qontract/live", "world", "wrapper",
		"bench"},
	"golang.org/x/oauth2":             {"natives/systems"},
	"golang.org/x/sys":                {"internal/reads", "world"},
	"github.com/rogpeppe/go-internal": {"qontract/bundle", "internal/script"},
	// git has one owner, beside the test server that has repositories: nobody else starts it
	"os/exec": {"internal/git", "internal/reads", "internal/rlimit", "natives/systems/helm", "wrapper", "runner/guard",
		"report/live", "doubles/kubetest", "internal/script", "doubles/gitlabtest", "internal/shared", "bench", "laws/worlds",
		"laws/secrets", "laws/specs", "laws/mutants", "laws/broken", "laws/proofs"},
}

// Deciding packages are pure: they get readers, writers and clocks as arguments.
var (
	pure = []string{"queue", "queue/peer",
		"owners", "owners/changelog", "owners/comparison", "owners/folders", "owners/review",
		"owners/approvals", "owners/content", "owners/coverage",
		"owners/decision", "owners/difference", "owners/people", "owners/rules", "natives/openapi",
		"natives/openapi/resources", "natives/openapi/classes", "natives/openapi/catalog", "schemafilter", "affected",
		"planner", "planner/flip", "planner/peer", "planner/proof", "planner/rules", "planner/selftest", "plan", "report",
		"report/insights", "report/lines", "report/proofs", "report/traces", "ci/note", "qontract/validator", "ci/pipeline",
		"runner/baseline", "runner/effects", "runner/findings"}
	impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "log"}
	disk   = []string{"path/filepath.Abs", "path/filepath.EvalSymlinks", "path/filepath.Glob", "path/filepath.Walk",
		"path/filepath.WalkDir"}
	clocks = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.NewTimer",
		"time.NewTicker"}
	ways = []string{
		"net.Dial", "net.DialTimeout", "net.DialTCP", "net.DialUDP", "net.DialIP", "net.DialUnix", "net.Dialer", "net.Listen",
		"net.ListenPacket", "net.ListenConfig",
		"net.Resolver", "net.DefaultResolver", "net.LookupHost", "net.LookupIP", "net.LookupAddr", "net.LookupTXT",
		"net.LookupCNAME", "net.LookupSRV", "net.LookupMX", "net.LookupNS",
		"net/http.DefaultClient", "net/http.DefaultTransport", "net/http.Get", "net/http.Head", "net/http.Post",
		"net/http.PostForm", "net/http.Client", "net/http.Transport",
		"net/http.Server", "net/http.Serve", "net/http.ListenAndServe", "net/http.ListenAndServeTLS", "crypto/tls.Dial",
		"crypto/tls.Dialer", "crypto/tls.Listen",
		"os/exec.Command", "os/exec.CommandContext", "os/exec.Cmd", "os.StartProcess", "syscall.Exec", "syscall.ForkExec",
		"syscall.Socket", "syscall.Connect",
		"k8s.io/client-go/rest.HTTPClientFor", "k8s.io/client-go/rest.RESTClientFor",
		"k8s.io/client-go/rest.RESTClientForConfigAndClient", "k8s.io/client-go/rest.TransportFor",
		"github.com/hashicorp/vault/api.NewClient", "github.com/xanzy/go-gitlab.NewClient",
		"github.com/aws/aws-sdk-go-v2/aws/transport/http.NewBuildableClient",
		"golang.org/x/sys/unix.Socket", "golang.org/x/sys/unix.Connect", "golang.org/x/sys/unix.Exec",
	}
	// may start goroutines: tasks, a listener that blocks, and hooks that may overrun their time
	starters = []string{"wrapper", "qontract/server", "natives/generic/hooks"}
	world    = []string{"os.Args", "os.Stdin", "os.Stdout", "os.Stderr", "os.Getenv", "os.LookupEnv", "os.Environ"}
	fatal    = []string{"log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln"}
	// They hand out the world, the last three to tests; the second asks whether it is in a test.
	worldBook = []string{"internal/cli", "internal/lazyregexp", "doubles/kubetest", "internal/script", "internal/shared"}
)

// way is the package on which all requests of natives leave, and leavers are the packages that send them there. They
// neither import net nor use what opens a connection of net, net/http and crypto/tls, whatever the next table says.
const way = "internal/outward"

var leavers = []string{"natives/kube", "natives/kube/writer", "natives/systems", "natives/systems/*", "natives/writers"}

// writers lists the packages that open what changes live systems, and openings the names that they alone may use: they
// let a connection send every request. Package natives/kube itself opens readers and trials.
var writers = []string{"natives/kube/writer", "natives/writers"}

var openings = []string{module + "/" + way + ".Anything", module + "/natives/kube.Dial"}

// partyMakers lists the packages that make a party beside those that send requests.
var partyMakers = []string{"integration"}

// openers lists the packages that open a connection, listen for one or start a program, with the reason. A name
// that ends with /* means every package below that folder. What a native integration sends goes through
// internal/outward, which looks at each request.
var openers = map[string]string{
	"runner/submit/jobs": "the cluster in which the parts of a plan run, by the kubeconfig or the pod of the runner; " +
		"client-go reads both, and makes the connection",
	"natives/systems": "the client of Vault, which sends through what internal/outward gives it",
	"internal/outward": "all that natives send: each request to the server, with the methods and the credential " +
		"that it is given for",
	"natives/systems/helm": "the program helm, without a cluster",
	"integration": "the clients that an environment and actors hand to natives of others, who say where to; " +
		"before a merge GET and HEAD alone",
	"internal/objects":   "buckets of flags and settings, with the keys of the job",
	"internal/git":       "the program git, on the checkout; it fetches base from the remote of the checkout alone",
	"internal/reads":     "a program that is recorded, which the runner starts",
	"internal/rlimit":    "this program again, with limits",
	"wrapper":            "the commands of tasks",
	"runner/guard":       "this program again, as the worker",
	"runner/launch":      "the loopback server of a task asks itself",
	"natives/rounds":     "status and metrics of reconcile, at the address of a flag",
	"natives/receiver":   "events that others push, at the address of a flag",
	"natives/webhook":    "the webhook, at the address of a flag",
	"qontract/server":    "the server of data, on the loopback or at the address of a flag",
	"report/live":        "the page of a run, on the loopback, and the user's browser for it",
	"ci":                 "GitLab, at the address of the job; for writes of saas-promotions at that of the settings",
	"qontract/live":      "a live server of data, at the address of a flag",
	"programs/*":         "addresses of flags; the program reconciler in place of this one, for old spellings",
	"doubles/kubetest":   "tests",
	"doubles/gitlabtest": "tests",
	"internal/shared":    "tests, which start judges",
	"internal/script":    "tests",
}

// The largest file and function, in lines.
const (
	maxFile     = 500
	maxFunction = 60
)
