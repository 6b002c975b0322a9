// Package conformance says, for each area of the shared conformance cases, which test
// covers it or why none does.
package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// tested lists the tests of an area, with their packages.
var tested = map[string][]string{
	"merge_proof":           {"queue/proving TestProofCases"},
	"merge_world":           {"queue/proving TestProofCases"},
	"owners_admission":      {"owners/decision TestWorldCases"},
	"owners_context":        {"owners/decision TestWorldCases"},
	"owners_cover":          {"owners/decision TestWorldCases"},
	"owners_decide":         {"owners/decision TestWorldCases"},
	"owners_expansion":      {"owners/decision TestWorldCases"},
	"owners_hole":           {"owners/decision TestWorldCases"},
	"owners_implicit":       {"owners/decision TestWorldCases"},
	"owners_inherit":        {"owners/decision TestWorldCases"},
	"owners_move":           {"owners/decision TestWorldCases"},
	"owners_priority":       {"owners/decision TestWorldCases"},
	"owners_resource":       {"owners/decision TestWorldCases"},
	"owners_roles":          {"owners/decision TestWorldCases"},
	"owners_split":          {"owners/decision TestWorldCases"},
	"owners_approvers":      {"owners/people TestApproverCases"},
	"owners_commands":       {"owners/decision TestCommandCases"},
	"owners_keep":           {"owners/approvals TestKeepCases"},
	"owners_labels":         {"owners/decision TestLabelCases"},
	"owners_diff":           {"owners/difference TestDifferenceCases"},
	"owners_jsonpath":       {"qontract/jsonpath TestSelectorCases"},
	"merge_batch":           {"queue TestBatchCases"},
	"merge_counts":          {"queue TestCountsCases"},
	"merge_protocol":        {"queue TestProtocolCases"},
	"merge_queue":           {"queue/peer TestQueueCases"},
	"merge_serial":          {"queue/peer TestLoopCases"},
	"merge_group":           {"queue/peer TestLoopCases"},
	"merge_rebase":          {"queue/peer TestRebaseCases"},
	"merge_health":          {"queue/peer TestHealthCases"},
	"merge_stale":           {"queue/peer TestStaleCases"},
	"merge_labels":          {"queue/peer TestLabelsCases"},
	"merge_foreign":         {"queue/peer TestForeignCases"},
	"import":                {"natives/generic/importer TestImportCases"},
	"request":               {"natives/generic/rest TestRequestCases"},
	"lro":                   {"natives/generic/operation TestLROCases"},
	"error_class":           {"natives/generic/rest TestErrorClassCases"},
	"merge_request":         {"natives/saas/promotions TestMergeRequestCases"},
	"ledger":                {"natives/saas/promotions TestLedgerCases"},
	"edit":                  {"natives/saas/edit TestEditCases"},
	"change_tester":         {"natives/saas/deploy TestChangeTesterCases"},
	"delete":                {"natives/saas/deploy TestDeleteCases"},
	"window":                {"natives/saas/schedule TestWindowCases"},
	"components":            {"natives/saas/promotion TestComponentsCases"},
	"candidate":             {"natives/saas/promotion TestCandidateCases"},
	"promotion_diff":        {"natives/saas/promotion TestDiffCases"},
	"promotion_head":        {"natives/saas/promotion TestHeadCases"},
	"record":                {"natives/saas/promotion TestRecordCases"},
	"promotion_publish":     {"natives/saas/promotion TestPublishCases", "natives/saas/deploy TestPublishCases"},
	"promotion_validate":    {"natives/saas/promotion TestValidateCases"},
	"actions":               {"natives/manifests TestActions"},
	"affected_shards":       {"affected TestConformance"},
	"prune_guard":           {"natives/manager TestPruneGuard"},
	"caller_pattern":        {"natives/reconcile TestCallerPattern"},
	"pipelinerun":           {"natives/saas/pipelines/executor TestPipelineRunCases"},
	"crash":                 {"natives/saas/pipelines TestCrashCases"},
	"take_over":             {"natives/saas/pipelines TestTakeOverCases"},
	"trigger_config":        {"natives/saas/pipelines TestConfigCases", "natives/saas/pipelines/decide TestConfigCases"},
	"trigger_config_slo":    {"natives/saas/pipelines TestConfigSLOCases"},
	"trigger_moving_commit": {"natives/saas/pipelines TestMovingCommitCases"},
	"trigger_upstream":      {"natives/saas/pipelines TestUpstreamCases"},
	"trigger_images":        {"natives/saas/pipelines TestImagesCases"},
	"decision":              {"natives/saas/pipelines/decide TestDecisionCases"},
	"admission":             {"natives/generic/admission TestAdmissionCases"},
	"offline_check":         {"natives/generic/check TestOfflineCheckCases"},
	"secret_name":           {"natives/openapi/classes TestSecretNameCases"},
	"class_judged":          {"natives/openapi/classes TestClassJudgedCases"},
	"classify_rule":         {"natives/openapi/classes TestClassifyRuleCases"},
	"classify_spec":         {"natives/openapi/classes TestClassifySpecCases"},
	"delete_decision":       {"natives/reconcile TestDeleteDecision"},
	"delete_flow":           {"natives/reconcile TestDeleteFlow"},
	"delete_gate":           {"natives/reconcile TestDeleteGate"},
	"delete_pattern":        {"natives/reconcile TestDeletePattern"},
	// its cases of generic resources wait for natives/generic
	"early_exit":              {"natives/manager TestEarlyExitCases", "natives/saas TestEarlyExitCases"},
	"plain_type":              {"natives/openapi/classes TestPlainTypeCases"},
	"failed":                  {"natives/generic TestFailedCases"},
	"outputs":                 {"natives/generic TestOutputCases"},
	"natural_key":             {"natives/generic TestNaturalKeyCases"},
	"credentials":             {"natives/systems TestCredentialCases"},
	"filter":                  {"natives/manager TestFilterCases"},
	"params":                  {"natives/manager TestParamsCases"},
	"shards":                  {"natives/manager TestShardsCases"},
	"image":                   {"natives/manager/render TestImageCases", "natives/manager TestRefCases"},
	"manifest":                {"natives/manager/render TestManifestCases"},
	"manifest_rule":           {"natives/manager/render TestManifestRuleCases"},
	"object_name":             {"natives/manager/render TestObjectNameCases"},
	"resources":               {"natives/manager/render TestResourcesCases", "natives/manager TestResourcesCases"},
	"image_check":             {"natives/saas/render TestImageCheckCases"},
	"image_tag":               {"natives/saas/render TestImageTagCases"},
	"images_of":               {"natives/saas/render TestImagesOfCases"},
	"managed_types":           {"natives/saas/render TestManagedTypesCases"},
	"parameters":              {"natives/saas/render TestParametersCases"},
	"order":                   {"natives/reconcile TestOrder"},
	"ownership":               {"natives/reconcile TestOwnership"},
	"wrapper_pool":            {"natives/reconcile TestWrapperPool"},
	"three_way":               {"natives/generic/threeway TestThreeWayCases"},
	"target_uid":              {"natives/saas TestUIDCases"},
	"state_key":               {"natives/saas TestStateKeyCases", "natives/saas/promotion TestStateKeyCases"},
	"config_hash":             {"natives/saas TestConfigHashCases"},
	"namespace_selector":      {"natives/saas TestNamespaceSelectorCases"},
	"saas_validate":           {"natives/saas TestSaasValidateCases"},
	"desired_state_diff_gate": {"affected TestDesiredStateGate"},
	"equal": {"natives/manifests TestEqual", "natives/generic/body TestEqualCases",
		"natives/generic/threeway TestSetCases"},
	"extract_diffs":         {"qontract/bundle TestExtractDiffs"},
	"gql_schema_validation": {"qontract/server TestSchemaValidation"},
	"pr_check_exit_code":    {"wrapper TestPRCheckExitCode"},
	"process":               {"natives/template TestProcessCases"},
	"rollout":               {"natives/manifests TestRollout"},
	"runner_flow":           {"affected TestRunnerFlow", "wrapper TestRunnerFlow"},
	"select_integrations":   {"schemafilter TestSelectIntegrations", "planner TestImagesOfShards"},
	"immutable":             {"natives/manifests TestImmutable"},
	"hierarchy":             {"natives/openapi/resources TestHierarchyCases"},
	"resource_id":           {"natives/openapi/resources TestResourceIDCases"},
	"is_in_shard":           {"integration/sharding TestIndex"},
	"shard_index":           {"integration/sharding TestIndex"},
	"sharding_filter":       {"integration/sharding TestFilter"},
	"sharding_strategy":     {"integration/sharding TestStrategy"},
	"task_result_is_error":  {"wrapper TestTaskResultIsError"},
}

// later names the package that will test an area once the package exists.
var later = map[string]string{}

// waiting says, for each area of the newer cases that no driver reads yet, with which work its engine is built. An area
// may have older cases that are tested.
var waiting = map[string]string{}

// untested says why an area does not apply to us.
var untested = map[string]string{
	"apply_constraint": "how the reference lays a changed path over a selector; attribution goes from selectors to elements and never compares paths",
	"gql_error_mapping": "how often the reference's client tries again and what it calls an error. The client of a live server has bounds of its own, " +
		"which the tests of live hold; the stand-in for that client in cmd/runner behaves like it",
	"gql_urls":       "an address that the reference's client asks; server answers it, and the tests of live and server hold both sides",
	"jsonpath_parts": "how the reference takes a path apart; selectors are parsed by settings.ParseSelector, which refuses positions and filters",
	"mr_commands": "who said /lgtm or /hold in a comment. Nothing here reads what people write in a merge request: ci looks for its own note only, " +
		"and approvals by comment stay with the reference's change-owners",
	"narrow_node": "a step of apply_constraint",
	"params_have_shard_info": "whether the reference is called with a shard already; here the shard is added to the command by {shard_args} alone. " +
		"A pr_check.cmd that names a shard itself must not be given shards in the settings, and nothing checks that yet",
	"path_display":      "how the reference writes paths; changed fields are JSON pointers, which have one form only",
	"path_translation":  "how the reference reads the paths of its diff library; ours gives JSON pointers",
	"remove_prefix":     "arithmetic on the paths of the reference, which ours does not need",
	"round_robin_shard": "a way to share out work that deployed processes no longer use",
	"runner_pool":       "a pool for the shards of one integration; all tasks of a plan share one pool (Jobs, held by wrapper TestLimitIsRespected)",
	"sortable_path":     "how the reference sorts paths; changed fields are sorted as text",
}

const root = "../.."

// The three tables together list every area of the shared cases once, and nothing else.
func TestLedger(t *testing.T) {
	areas := shared.Areas(t)
	for area := range areas {
		n := 0
		for _, in := range []bool{len(tested[area]) > 0, later[area] != "", untested[area] != ""} {
			if in {
				n++
			}
		}
		if n != 1 {
			t.Errorf("area %q stands in the ledger %d times, want once: test it, or say why not", area, n)
		}
	}
	for _, area := range ledger() {
		if !areas[area] {
			t.Errorf("area %q stands in the ledger and not in the shared cases", area)
		}
	}
}

// Each area of the newer cases that no driver reads stands among those that wait, and no other.
func TestWaiting(t *testing.T) {
	areas := shared.Waiting(t)
	for area := range areas {
		if waiting[area] == "" {
			t.Errorf("no driver reads the newer cases of the area %q, and the ledger does not say what they wait for", area)
		}
	}
	for area := range waiting {
		if len(areas) > 0 && !areas[area] {
			t.Errorf("the area %q stands among those that wait, and a driver reads it or nobody has cases", area)
		}
	}
}

// The tests in the tables exist, and the packages that are to come do not.
func TestLedgerIsTrue(t *testing.T) {
	for area, tests := range tested {
		for _, one := range tests {
			pkg, name, _ := strings.Cut(one, " ")
			if err := hasTest(pkg, name, area); err != nil {
				t.Errorf("area %q: %v", area, err)
			}
		}
	}
	for area, pkg := range later {
		if files, _ := filepath.Glob(filepath.Join(root, pkg, "*.go")); len(files) > 0 {
			t.Errorf("area %q: package %s is there now; test the area and move it to tested", area, pkg)
		}
	}
}

// hasTest reports whether the tests of a package have a test, and name its area.
func hasTest(pkg, name, area string) error {
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if text := string(raw); strings.Contains(text, "func "+name+"(") && strings.Contains(text, `"`+area+`"`) {
			return nil
		}
	}
	return fmt.Errorf("package %s has no test %s of it", pkg, name)
}

func ledger() []string {
	var out []string
	for area := range tested {
		out = append(out, area)
	}
	for area := range later {
		out = append(out, area)
	}
	for area := range untested {
		out = append(out, area)
	}
	return out
}
