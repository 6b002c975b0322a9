package gitlabtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// zero stands for no commit.
const zero = "0000000000000000000000000000000000000000"

// moveRef answers a push of git that moves or deletes one branch and brings no objects, as git
// does, without a process of git. It reports whether the request was such a one.
func (r *Repository) moveRef(w http.ResponseWriter, q *http.Request) bool {
	if r.AskGit == 1 || !strings.HasSuffix(q.URL.Path, "/git-receive-pack") || q.Method != http.MethodPost {
		return false
	}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return false
	}
	q.Body = io.NopCloser(bytes.NewReader(body))
	was, is, ref, ok := readMove(body)
	if !ok {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh()
	if _, has := r.git.commit(is); is != zero && !has {
		return false
	}
	word := "ng " + ref + " failed to update ref"
	if head := r.git.allRefs()[ref]; head == was || head == "" && was == zero {
		if is == zero {
			is = ""
		}
		r.git.point(ref, is)
		word = "ok " + ref
	}
	r.refresh()
	w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
	for _, line := range []string{"unpack ok\n", word + "\n"} {
		_, _ = fmt.Fprintf(w, "%04x%s", len(line)+4, line) // nobody may be listening any more
	}
	_, _ = io.WriteString(w, "0000")
	return true
}

// readMove reads a push of one branch without objects.
func readMove(body []byte) (was, is, ref string, ok bool) {
	if len(body) < 4 {
		return "", "", "", false
	}
	size, err := strconv.ParseUint(string(body[:4]), 16, 16)
	if err != nil || size < 4 || int(size)+4 > len(body) || string(body[size:size+4]) != "0000" {
		return "", "", "", false
	}
	line, _, _ := strings.Cut(string(body[4:size]), "\x00")
	parts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
	const empty = 32 // bytes of a pack without objects
	if rest := len(body) - int(size) - 4; len(parts) != 3 || rest != 0 && rest != empty ||
		!strings.HasPrefix(parts[2], heads) {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}
