// Package rules decides by which rules a change is planned. Settings, query files, programs
// and CI files lie in the same repository as the data, so a merge request can edit the very
// rules that decide how it is checked. The package answers three questions:
//
//   - Which settings hold? Those of base, or settings from outside of the repository: see
//     [JobCheckout.Settings] and [SettingsOfPlan].
//   - Which rules does head edit? [FindEdits] finds them. Every integration that an edit
//     concerns runs in full, as base's rules say.
//   - Which files may a command use? [Workplace.Programs] digests them: all files of the
//     repository that are no data, or those that the settings name. A command of which a
//     file changed is another command, so that it passed before proves nothing.
//
// The package decides and reads no file by itself: it is given functions that read. Its
// decisions stand in docs/trust.md.
package rules
