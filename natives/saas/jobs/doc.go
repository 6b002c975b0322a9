// Package jobs finds the jobs that definitions of jenkins-job-builder make, as far as they can be
// known without the program: their names, repositories and branches.
//
//	found := jobs.Expand(configs) // all of one build server
//	found.Jobs["shop-gh-build-main"]
//
// Read are job, job-template, job-group, project and defaults: lists of values in names, values of
// entries, groups and templates, excluded combinations, {name}, {name|default}, {obj:name} and
// {{ }}. All other items make no jobs and are passed over.
//
// Whatever cannot be read is a [Problem], and then a job that is missing may exist: tags such as
// !include, a variable that nobody sets, a template that is not there, two definitions of one
// name, a name that is no text. A repository or a branch that cannot be read, because it is a
// macro or a pattern, is "" and is no problem.
package jobs
