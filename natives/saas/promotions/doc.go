// Package promotions is the native integration saas-promotions: it opens and keeps the merge
// requests that promote targets to newer commits.
//
// Which commit a target is promoted to says package promotion; how a file is changed, package
// edit. Here is what is between: who is asked, and what becomes of merge requests.
//
// Its settings, beside those of package saas:
//
//	forge: {url: https://gitlab.example.com, project: group/project, token: {path, field}}
//	folder: data            # of the datafiles in the project; none if it is not said
//	branch: main            # that the merge requests are for
//	labels: [bot, approved] # of the merge requests
//	note: /lgtm             # a note after each push, for bots that merge
//	auto_merge: true        # GitLab merges as soon as it may
//	candidate: head         # or newest: see package promotion
//	patience: 1h            # for so long an open merge request is not changed for something newer
//	retry: [DIGEST]         # contents to try again though their checks failed
//	retry_after: 24h        # after which they are tried again by themselves; 0s is never
//
// There is one merge request for each stage: a component of files and those who approve. Its branch is
// named by both, and has one commit, made on the head of main:
//
//   - A target in an open one is not changed for something newer within the patience, and for 24 times as
//     long once its checks passed, because then it waits for people. What is due for other targets of the
//     stage is added at once. One that somebody approved is left alone.
//   - It is pushed if its content differs, if its files changed on main, or if there are conflicts,
//     and left alone otherwise: a push starts all checks anew.
//   - A branch with a commit of somebody else is never overwritten, also if it came just before a
//     push, and gets one note. A commit of ours that somebody put on a newer main is still ours: its
//     changes are those of its message.
//   - A merge request that a person closed rejects each of its commits at its target, and nothing else, until
//     a person takes that back. The ledger has that and what else people say, see package ledger; a loop
//     notes there what became of its merge requests before it decides.
//   - If checks fail, each half of the targets goes on in a merge request of its own, until the one
//     that fails is alone. It gets a note, and is held until something newer can be promoted, a day is
//     over, or a person names it under retry.
//   - A window says when a promotion begins. What began goes on until the data have it, also if the
//     open merge request was left alone then, or if its checks failed and something else was tried.
//     It begins anew in the next window if its commit may not be promoted any more, or if the service
//     misses an objective.
//   - What is not known changes nothing.
//   - Each commit that waits is told in a line of its own, with a code and an end.
//
// A dry run prints how the files would differ from main. It only reads files of the forge.
//
// In a merge request of a person it asks nobody: package saas says what the merge would do.
package promotions
