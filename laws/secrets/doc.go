// Package main holds the law of non-interference over random merge requests: the check of a change
// sends the same bytes to everything but the store of secrets, and says the same, whatever the
// values of the secrets are. "make laws" runs it. It is no part of the product.
//
// # A merge request
//
// A merge request is a scene of one native with some edits. The scene is a small world that works,
// with the services that the native asks. An edit changes the data of head, of both sides, the
// settings of base, or what the services have: a secret parameter in a name, a credential that head
// names, a host that only head has, a target that goes, an object that is there. Everything follows
// from the seed and the number of the merge request.
//
// # Two runs
//
// The plan is made once. It is run twice, by the code of "runner run" with all natives, clients and
// reports, in this process. The store of secrets makes each value up when it is asked for, another
// one in each run: of other length and alphabet, numbers, words that YAML, templates or the product
// know, several lines, nothing. So no secret can be forgotten. All requests go to stand-ins in memory,
// which write down the address, the method, the path, all headers and the body, and also each
// connection. Requests have no order, since most run side by side; each counts as often as it is sent.
// What is said is results, logs, notes, all reports, the note on the merge request, the exit status,
// and the documents that the check leaves in the state.
//
// The checks of saas-pipelines and saas-promotions ask nobody. Most of their merge requests, and some
// of the others, are a dry run of "reconciler run" over the data of head, as after the merge.
//
// # What may differ
//
//   - A credential that base gives to a system of base, as a whole: a bearer token, or the user or
//     the password of a basic login. Its name stands there instead. Everywhere else it counts.
//   - What a clock says.
//   - The order of the lines of logs.
//
// # What differs and breaks nothing
//
// These differences are known, and each has a row of the table:
//
//   - masked: a secret is a word of the output, such as the name of an app. Then the word is masked.
//   - absent: the store has no value, which a check must tell.
//   - unsteady: two runs with one set differ as well. There should be none.
//
// # What the law does not look at
//
// Time, memory and the size of masks. The programs git and helm are doubles, because both start processes: what git
// would fetch and what helm is given is written down, and compared as what is sent. Branches are asked for by the real
// client, at a server of git in memory. Each service fails once and is asked again: clusters and the forge for some
// requests alone, because their clients wait between attempts. The bucket with records of promotions is a double of
// what package systems hands out.
//
// # Where to find what
//
//   - scene.go: what a merge request is, and how it is drawn; values.go: the secrets.
//   - generic.go, namespaces.go, manager.go, saas.go, secretedits.go, dataedits.go, templates.go: scenes and edits.
//   - wire.go, cluster.go, code.go, records.go: what answers, and what was sent; world.go: the data.
//   - run.go: one run; law.go: two runs, their difference and its class, and the smallest one.
//   - workers.go, main.go: many merge requests; mutants.go: broken engines, which the law must catch.
package main
