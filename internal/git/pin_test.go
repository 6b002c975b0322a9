package git

import "testing"

// TestPin checks that a branch that moves during a check leaves the check at its first commit, and that an error is
// asked again.
func TestPin(t *testing.T) {
	dir := commitAll(t, map[string]string{"a.txt": "one"})
	ctx := Pin(t.Context())
	if _, err := OpenCommit(ctx, dir, "later"); err == nil {
		t.Fatal("a branch is opened that does not exist")
	}
	first, err := OpenCommit(ctx, dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "two")
	runGit(t, dir, "branch", "later")
	again, err := OpenCommit(ctx, dir, "HEAD")
	if err != nil || again.Hash() != first.Hash() {
		t.Errorf("HEAD names %s after it named %s: %v", again.Hash(), first.Hash(), err)
	}
	now, err := OpenCommit(t.Context(), dir, "HEAD")
	if err != nil || now.Hash() == first.Hash() {
		t.Errorf("HEAD names %s without a pin: %v", now.Hash(), err)
	}
	later, err := OpenCommit(ctx, dir, "later")
	if err != nil || later.Hash() != now.Hash() {
		t.Errorf("after an error, later names %v: %v", later, err)
	}
	t.Chdir(dir)
	if here, err := OpenCommit(ctx, ".", "HEAD"); err != nil || here.Hash() != first.Hash() || here.Dir() != "." {
		t.Errorf("by another name of the folder, HEAD is %v: %v", here, err)
	}
}
