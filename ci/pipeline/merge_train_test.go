package pipeline_test

import (
	"testing"
)

// One merge request that goes into a merge train behind another one. The plan of the train's
// pipeline is that of the combined bundle, and all that people read says which results of the
// own pipeline hold there.
func TestMergeTrain(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole story with binaries of their own is left out of a short run")
	}
	s := newStage(t)
	s.git("init", "-q", "-b", "main", ".")
	files, key := users(), s.TempDir()+"/state.key"
	files["prcheck.yaml"] += "integrations: {github: {queries: [bob.graphql]}, quay: {trace: none}, slack: {trace: none}}\n" + s.signedWith(key)
	files["bob.graphql"] = `{ users_v1(path: "/users/bob.yml") { name } }`
	s.commit(files)

	s.git("switch", "-q", "-c", "feature")
	source := s.commit(map[string]string{"data/users/bob.yml": "$schema: /access/user-1.yml\nname: bob\n"})
	remember := map[string]string{
		"PRCHECK_STATE": s.TempDir(), "PRCHECK_STATE_KEY": key, "CI_MERGE_REQUEST_PROJECT_PATH": "shop/data",
		"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": source, "CI_MERGE_REQUEST_EVENT_TYPE": "detached",
	}
	own := s.pipeline(100, remember)
	s.everyTaskOnce(own, 3)

	// GitLab merges the change into the ref of the merge request ahead, which no branch has.
	s.git("switch", "-q", "-c", "ahead", "main")
	ahead := s.commit(map[string]string{"data/users/zoe.yml": "$schema: /access/user-1.yml\nname: zoe\n"})
	s.git("update-ref", "refs/merge-requests/6/train", ahead)
	s.git("merge", "-q", "--no-ff", "--no-edit", source)
	s.git("switch", "-q", "-C", "feature", "ahead")
	s.git("branch", "-q", "-D", "ahead")
	remember["CI_MERGE_REQUEST_EVENT_TYPE"], remember["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] = "merge_train", ahead
	train := s.pipeline(200, remember)
	s.everyTaskOnce(train, 2)
	const hold, why = "1 of 3 results of the merge request's pipeline holds in this train", "other changes since that pipeline changed what it sees"
	s.has(train.plan.log, "(CI_MERGE_REQUEST_TARGET_BRANCH_SHA)", "Changed: 1 datafile (1 added)", "Merge train: "+hold,
		"quay   "+why, "slack  "+why)
	s.has(s.note(), "Merge train: "+hold+".", "| `quay` | "+why+" |")
	s.has(train.child.files["prcheck/report.html"],
		"1 of 3 results of the merge request&#39;s pipeline holds in this train", "<code>slack</code>: "+why)

	// The pipeline of the train runs again: its own tasks have passed, which is not what the
	// merge request's pipeline has shown.
	again := s.pipeline(300, remember)
	s.everyTaskOnce(again, 0)
	s.has(again.plan.log, "3 tasks passed before with the same inputs", "Merge train: "+hold)

	// Without a key nothing counts, and nothing is said.
	delete(remember, "PRCHECK_STATE_KEY")
	remember["PRCHECK_STATE"] = s.TempDir()
	s.everyTaskOnce(s.pipeline(400, remember), 3)
}
