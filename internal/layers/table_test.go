package layers

// module is the path of our own packages.
const module = "github.com/app-sre/prcheck"

// floors lists the packages, the lowest floor first. A package imports only packages of
// lower floors, and packages of side. A name that ends with /* means every package below
// that folder. A package marked "later" does not exist yet.
var floors = [][]string{
	{"bundle", "bundle/bundler", "openapi", "plan", "state", "world", "runner/systems/outward"},
	{"gql", "server/metrics", "integration", "integration/services", "reconcile", "state/audits", "state/bases", "state/dependence", "state/durations", "state/files", "state/history", "state/lease", "state/pending", "state/statetest", "state/tally", "state/trains", "integration/template", "openapi/resources", "wrapper", "report", "ci/pipeline", "ci/revisions"},
	{"schemafilter", "live", "integration/manifests", "integration/sharding", "kube", "runner/systems/jsonapi", "openapi/classes", "planner/rules", "trace", "validator", "wrapper/forecast", "ci/note", "runner/place"},
	{"affected", "openapi/catalog", "planner/flip", "planner/proof", "report/lines", "report/insights", "report/proofs", "report/traces", "server", "source", "native", "runner/systems", "runner/systems/helm", "runner/systems/registry", "runner/systems/repositories", "runner/systems/builds", "runner/systems/measurements", "runner/baseline", "runner/effects", "runner/findings", "runner/journal", "runner/memory", "runner/archive", "runner/parts", "runner/progress", "runner/guard", "runner/webhook"},
	{"planner", "planner/peer", "integrations/*", "ci", "server/sources", "runner/launch", "runner/recording", "runner/submit"},
	{"runner", "runner/rounds", "change", "planner/selftest", "setup", "doctor"},
	{"cmd/planner", "cmd/runner"},
}

// side lists the packages beside the floors. Every package may import them, and they import
// only each other.
var side = []string{"examples/cloud", "examples/qontract-reconcile", "internal/cli", "internal/crash", "internal/git", "internal/sanitize", "internal/heap", "internal/hugepages", "internal/jsonpointer", "internal/layers", "internal/lazyregexp",
	"internal/listing", "internal/mapped", "internal/markdown", "internal/mask", "internal/names", "internal/objects", "internal/origin", "internal/reads", "internal/retry", "internal/rlimit", "internal/safepath", "internal/script", "internal/shared", "internal/shellwords", "internal/suggest"}

// doubles is the house of the servers that tests play with. Tests import them, and programs that are not part of the
// product; the product itself never does. They import each other and packages of side.
const doubles = "doubles"

// qontract lists the packages of a qontract-server and a bundler that others can use without the rest: they import each
// other and packages of side.
var qontract = []string{"bundle", "bundle/bundler", "gql", "live", "server", "server/metrics", "validator"}

// programs lists folders with programs that are not part of the product. They import only
// each other. Of the other rules, only those about sizes and libraries hold for them.
var programs = []string{"bench", "examples", "conformance", "laws"}

// shownTo lists, for some folders with programs, what else they may import. The laws make the
// data that a program asks for by hand, and are else as strange to us as users are.
var shownTo = map[string][]string{
	"laws/*": {"bundle", "bundle/bundler", "server"},
	// This law runs the product in its own process, with services in memory.
	"laws/secrets": {"bundle", "bundle/bundler", "change", "ci", "ci/note", "integration", "integration/services", "integrations/saas/deploy", "integrations/saas/pipelines",
		"integrations/saas/promotions", "integrations/saas/saastest", "internal/mask", "plan", "planner", "report", "runner", "runner/launch", "runner/rounds",
		"runner/systems", "runner/systems/builds", "runner/systems/jsonapi", "runner/systems/measurements", "runner/systems/registry", "runner/systems/repositories", "state"},
}

// never lists imports that the floors would allow, but that are forbidden because deciding
// and acting are separate: they meet in the plan.
var never = map[string][]string{
	"planner": {"wrapper", "report", "ci", "runner"},
	"runner":  {"planner", "schemafilter", "affected", "report", "ci"},
	"wrapper": {"bundle"},
}

// only lists, for some packages, the only packages of ours that they may import.
var only = map[string][]string{
	"integrations/generic":           describes,
	"integrations/generic/*":         describes,
	"integrations/generic/cloudtest": {"bundle", "gql", "integration"},                                      // worlds for tests
	"planner/proof":                  {"bundle", "gql", "integration", "plan", "state/dependence", "trace"}, // nothing that it is to prove
	"planner/peer":                   {"bundle", "gql", "live", "plan", "planner/proof", "trace"},           // nothing that makes plans
	"integrations/saas/saastest":     {"bundle", "gql", "integration"},                                      // worlds for tests
	"integrations/*":                 {"integration", "native", "reconcile", "plan", "state", "integration/sharding", "integration/manifests", "integration/services", "integration/template"},
}

// describes lists what a native integration imports whose resources are described by
// specifications.
var describes = []string{"integration", "native", "reconcile", "plan", "state", "state/lease", "integration/sharding", "integration/manifests",
	"integration/services", "openapi", "openapi/resources", "openapi/classes", "openapi/catalog"}

// owners lists, for each outside library, the packages that may import it. Packages below
// the path of a library belong to it.
var owners = map[string][]string{
	"github.com/bmatcuk/doublestar/v4":         {"integration"},
	"github.com/aws/aws-sdk-go-v2":             {"internal/objects"},
	"github.com/aws/smithy-go":                 {"internal/objects"},
	"github.com/dlclark/regexp2":               {"validator"},
	"github.com/santhosh-tekuri/jsonschema/v6": {"validator"},
	"github.com/hashicorp/go-multierror":       {"reconcile", "wrapper"},
	"github.com/hashicorp/vault/api":           {"runner/systems"},
	"github.com/mattn/go-runewidth":            {"runner/progress"},
	"github.com/prometheus":                    {"server/metrics"},
	"github.com/spf13/cobra":                   {"cmd/planner", "cmd/runner", "internal/cli"},
	"github.com/spf13/pflag":                   {"cmd/planner", "cmd/runner", "internal/cli"},
	"github.com/vbauerster/mpb/v8":             {"runner/progress"},
	"github.com/robfig/cron/v3":                {"integration/manifests"},
	"k8s.io":                                   {"kube", "integration/manifests", "doubles/kubetest"},
	"sigs.k8s.io/structured-merge-diff/v6":     {"kube", "integration/manifests", "doubles/kubetest"},
	"github.com/wI2L/jsondiff":                 {"bundle"},
	"github.com/cespare/xxhash/v2":             {"bundle"},
	"github.com/xanzy/go-gitlab":               {"ci"},
	"github.com/yuin/goldmark":                 {"internal/markdown", "ci/note"}, // in tests
	"go.yaml.in/yaml/v3":                       {"bundle/bundler", "integration", "integration/template", "integrations/generic/importer", "integrations/saas/edit", "integrations/saas/jobs", "ci/pipeline", "openapi", "validator"},
	"golang.org/x/sync":                        {"bundle/bundler", "runner/archive", "live", "world", "wrapper", "bench"},
	"golang.org/x/sys":                         {"internal/reads", "world"},
	"github.com/rogpeppe/go-internal":          {"bundle", "internal/script"},
	"os/exec":                                  {"internal/git", "internal/reads", "internal/rlimit", "runner/systems/helm", "wrapper", "runner/guard", "doubles/kubetest", "internal/script", "doubles/gitlabtest", "internal/shared", "bench", "laws/worlds", "laws/secrets", "laws/mutants"}, // git has one owner, beside the test server that has repositories: nobody else starts it
}

// Deciding packages are pure: they get readers, writers and clocks as arguments.
var (
	pure   = []string{"openapi", "openapi/resources", "openapi/classes", "openapi/catalog", "schemafilter", "affected", "planner", "planner/flip", "planner/peer", "planner/proof", "planner/rules", "planner/selftest", "plan", "report", "report/insights", "report/lines", "report/proofs", "report/traces", "ci/note", "validator", "ci/pipeline", "runner/baseline", "runner/effects", "runner/findings"}
	impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "log"}
	disk   = []string{"path/filepath.Abs", "path/filepath.EvalSymlinks", "path/filepath.Glob", "path/filepath.Walk", "path/filepath.WalkDir"}
	clocks = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.NewTimer", "time.NewTicker"}
	ways   = []string{
		"net.Dial", "net.DialTimeout", "net.DialTCP", "net.DialUDP", "net.DialIP", "net.DialUnix", "net.Dialer", "net.Listen", "net.ListenPacket", "net.ListenConfig",
		"net.Resolver", "net.DefaultResolver", "net.LookupHost", "net.LookupIP", "net.LookupAddr", "net.LookupTXT", "net.LookupCNAME", "net.LookupSRV", "net.LookupMX", "net.LookupNS",
		"net/http.DefaultClient", "net/http.DefaultTransport", "net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm", "net/http.Client", "net/http.Transport",
		"net/http.Server", "net/http.Serve", "net/http.ListenAndServe", "net/http.ListenAndServeTLS", "crypto/tls.Dial", "crypto/tls.Dialer", "crypto/tls.Listen",
		"os/exec.Command", "os/exec.CommandContext", "os/exec.Cmd", "os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.Socket", "syscall.Connect",
		"k8s.io/client-go/rest.HTTPClientFor", "k8s.io/client-go/rest.RESTClientFor", "k8s.io/client-go/rest.RESTClientForConfigAndClient", "k8s.io/client-go/rest.TransportFor",
		"github.com/hashicorp/vault/api.NewClient", "github.com/xanzy/go-gitlab.NewClient", "github.com/aws/aws-sdk-go-v2/aws/transport/http.NewBuildableClient",
		"golang.org/x/sys/unix.Socket", "golang.org/x/sys/unix.Connect", "golang.org/x/sys/unix.Exec",
	}
	starters = []string{"wrapper", "server", "integrations/generic/hooks"} // may start goroutines: tasks, a listener that blocks, and hooks that may overrun their time
	world    = []string{"os.Args", "os.Stdin", "os.Stdout", "os.Stderr", "os.Getenv", "os.LookupEnv", "os.Environ"}
	fatal    = []string{"log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln"}
	// They hand out the world, the last three to tests; the second asks whether it is in a test.
	worldBook = []string{"internal/cli", "internal/lazyregexp", "doubles/kubetest", "internal/script", "internal/shared"}
)

// way is the package on which all requests of natives leave, and leavers are the packages that send them there. They
// neither import net nor use what opens a connection of net, net/http and crypto/tls, whatever the next table says.
const way = "runner/systems/outward"

var leavers = []string{"kube", "runner/systems", "runner/systems/*"}

// openers lists the packages that open a connection, listen for one or start a program, with the reason. A name
// that ends with /* means every package below that folder. What a native integration sends goes through
// runner/systems/outward, which looks at each request.
var openers = map[string]string{
	"kube":                   "the cluster in which the parts of a plan run, by the kubeconfig or the pod of the runner; client-go reads both, and makes the connection",
	"runner/systems":         "the client of Vault, which sends through what runner/systems/outward gives it",
	"runner/systems/outward": "all that natives send: each request to the server, with the methods and the credential that it is given for",
	"runner/systems/helm":    "the program helm, without a cluster",
	"integration":            "the clients that an environment and actors hand to natives of others, who say where to; before a merge GET and HEAD alone",
	"internal/objects":       "buckets of flags and settings, with the keys of the job",
	"internal/git":           "the program git, on the checkout; it fetches base from the remote of the checkout alone",
	"internal/reads":         "a program that is recorded, which the runner starts",
	"internal/rlimit":        "this program again, with limits",
	"wrapper":                "the commands of tasks",
	"runner/guard":           "this program again, as the worker",
	"runner/launch":          "the loopback server of a task asks itself",
	"runner/rounds":          "status and metrics of reconcile, at the address of a flag",
	"runner/webhook":         "the webhook, at the address of a flag",
	"server":                 "the server of data, on the loopback or at the address of a flag",
	"ci":                     "GitLab, at the address of the job; for writes of saas-promotions at that of the settings",
	"live":                   "a live server of data, at the address of a flag",
	"cmd/*":                  "addresses of flags",
	"doubles/kubetest":       "tests",
	"doubles/gitlabtest":     "tests",
	"internal/shared":        "tests, which start judges",
	"internal/script":        "tests",
}

// The largest file and function, in lines.
const (
	maxFile     = 300
	maxFunction = 60
)
