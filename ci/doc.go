// Package ci talks to GitLab: it writes the note of a merge request, sets commit statuses,
// collects the artifacts of a child pipeline, and reads the labels of a merge request.
//
// [ReadEnvironment] reads the variables of a GitLab job. [Client.Publish] writes the note,
// [Client.SetStatuses] sets the statuses, [Client.Collect] fetches artifacts. This package
// does not render texts: a [Note] and a [CommitStatus] come from the caller.
//
// # Requests
//
//   - A request that does no harm if it is sent twice is repeated: GET, DELETE and setting a
//     status. It is repeated after connection errors, incomplete answers and the statuses
//     409, 425, 429 and 5xx, at most six times within three minutes. The pauses are partly
//     random and respect Retry-After and RateLimit-Reset. If a pause does not fit into the
//     three minutes, the request fails at once.
//   - Requests that create or edit the note are not repeated in this way; see below.
//   - Every request has a time limit, and every answer has a size limit. Redirects are
//     followed for artifacts only, and no other host gets the token.
//   - The token is in one header and nowhere else. Texts of a server are cut, and control
//     characters and all usual forms of the token are removed from them.
//
// # The note
//
// A merge request has one note per tool. A note belongs to the tool if its body begins with
// the marker and its author is the user of the token. If there are several such notes, the
// oldest one is kept. Notes of the system and of other users are never changed.
//
// GitLab cannot edit a note on the condition that it has not changed, so two pipelines can
// race. Each body therefore contains a generation: the pipeline id of its plan. Every
// publisher repeats these steps until there is nothing to do:
//
//  1. Read all own notes. The target is the body with the newest generation that was seen,
//     or the publisher's own body if that is newer.
//  2. If the oldest note shows an older generation than the target, write the target.
//  3. Remove the other own notes.
//  4. After a write, wait for the settling time and read again.
//
// So an older publisher repairs the note if it has overwritten a newer one.
//
//   - At most eight seconds lie between reading a note and the end of editing it, less than
//     the settling time of fifteen seconds. So a publisher that overwrites a newer body has
//     read the note before that body was written, and the writer of that body reads again
//     after it was overwritten.
//   - If a write gets no answer, GitLab may still carry it out. Its publisher reads the note
//     at least every half settling time until four settling times have passed, and writes
//     the newest body that it has seen. If it cannot read that often, it returns an error. A
//     note is created a second time only after such a reading.
//   - Of several runs with the same generation, the last one to write wins.
//   - A body that the note already shows is not written again.
//
// When all publishers have returned without an error, there is one note, and it shows the
// newest generation. There is no guarantee for
//
//   - the time while they work,
//   - a publisher that failed or was killed within its settling time; the next publisher
//     repairs the note,
//   - a write that GitLab carries out later than four settling times after it was sent,
//   - notes of another user, for example of an old access token with another bot user.
//
// # Statuses
//
// A status belongs to one pipeline, so that two pipelines of one commit do not overwrite
// each other's statuses. It is set on the commit of the pipeline (CI_COMMIT_SHA), since
// GitLab requires that the pipeline's id and the commit match. In a pipeline of merged
// results this is not the commit of the source branch. At most [MaxStatuses] statuses are
// set at once: failures first, the overall status last. If an earlier plan has left a status
// that is not a success, and the current plan does not set it, it becomes a success with the
// description that the latest plan did not select it.
package ci
