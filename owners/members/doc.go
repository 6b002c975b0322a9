// Package members finds out who the members are whom other systems know, so that they can approve as people whom base
// names:
//
//	s := members.Sources{Authorization: authorization, State: state, Now: time.Now}
//	silent, err := s.Join(ctx, files)
//
// A role names a group of another qontract-server, as base says where that is. Only the sources of roles are asked that
// cover a place of the change, each for all its groups at once.
//
//   - A source that answers says who its members are now. Its answer is kept in the state.
//   - A source that is silent has its members as they were known last, for 24 hours. What they said before that time
//     still holds; of what they said since nobody knows whether they may say it. [Silence] tells.
//   - A source that refuses, or answers something else, is an error.
//   - A source for which no authorization is at hand is not asked: its members stay unknown.
package members
