// Package ci talks to GitLab: it keeps the one note of a merge request true, sets
// commit statuses, and collects what the jobs of a child pipeline left.
//
// [ReadEnvironment] reads where a job runs. [Client.Publish] writes the note,
// [Client.Report] the statuses, [Client.Collect] fetches results. Nothing here
// renders: a [Note] and a [Status] come in ready.
//
// # Requests
//
//   - What can be repeated without harm is repeated: GET, DELETE and setting a
//     status, after connection errors, cut answers, 409, 425, 429 and 5xx, with
//     jittered back-off that honours Retry-After and RateLimit-Reset, at most six
//     times and three minutes. A wait that does not fit is an error at once.
//   - Creating and editing the note is never simply repeated; see below.
//   - Every request has a time limit and every answer a size limit. Redirects are
//     followed for artifacts only, and another host never gets the token.
//   - The token goes into one header and nowhere else. What a server says is cut,
//     freed of control characters and of the token in every usual form.
//
// # The note
//
// There is exactly one note per merge request and tool: the oldest one whose body
// begins with the marker and whose author is the token's own user. Notes of the
// system and of others are never touched, whatever they contain.
//
// GitLab has no conditional edit, so two pipelines can race. Each body carries the
// generation of its plan (a pipeline id), and every publisher follows one rule:
// look at all own notes; the newest generation seen so far, or one's own, is what
// the oldest note must show, or a newer one; write that if it does not, then remove
// the other notes; and look again after the settling time, until a look finds
// nothing to do. A publisher that is not the newest thereby repairs what it broke.
//
//   - Between reading a note and the end of editing it lie at most eight seconds,
//     less than the settling time of fifteen. So whoever overwrites a newer body
//     read before that body was written, and its writer looks after the overwriting.
//   - A write whose answer did not come may land late. Its publisher keeps looking,
//     at least every half settling time, until four settling times have passed, and
//     writes the newest body it saw; if it could not look that often, that is an
//     error. A note is created again only after such a look.
//   - Of several attempts with the same generation, the last to write wins.
//   - A body that is there already is not written again.
//
// Guaranteed, once all publishers returned without an error: one note, and it shows
// the newest generation that was published. Not guaranteed: anything while they
// work; what a publisher that was killed within its settling time, or that failed,
// would have repaired (the next one does); a write that GitLab carries out later
// than four settling times after it was sent; notes of another user, such as that
// of an access token before it was replaced by one with another bot user.
//
// # Statuses
//
// A status belongs to one pipeline, so that pipelines on one commit do not overwrite
// each other. It is set on the commit of the pipeline (CI_COMMIT_SHA, which GitLab
// wants together with the pipeline's id; in a merged-results pipeline that is not
// the commit of the source branch). At most [MaxStatuses] are set in one go, the
// failures first, the overall one last. Unfinished business of an earlier plan on
// the commit, a status that is not a success and is not set now, becomes a success
// that says that nothing had to run.
package ci
