// Package effects finds the effects that a dry run announces: what the integration would
// create, change and delete.
//
// A [Finder] reads the output of one attempt of a task line by line, by the rules of the
// settings. The first rule that matches a line counts. It also takes the effects that a
// program writes as lines of JSON ([Finder.ReadFile]) and those of native integrations
// ([Finder.Announce]).
//
//   - An effect that is invented is as bad as one that is missed. So the ready rules know
//     exact forms of lines. A line of any other form is no effect.
//   - Output is foreign text. Its size, the length of a line, the number of effects and the
//     length of their subjects are bounded. Subjects are masked and made harmless.
//   - If there are too many effects, deletions are kept before all others.
//   - Equal effects are one effect that is announced several times.
//
// [Compare] tells which effects are announced on base as well.
package effects
