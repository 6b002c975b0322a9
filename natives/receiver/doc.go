// Package receiver takes events that others push, such as a forge after a push, and wakes a loop that waits for its
// next round. An event decides nothing: the round reads everything itself, so an event that is lost costs time alone.
//
//   - [Receiver.Watch] says which names matter: addresses of repositories, ids of resources. An event that names none
//     of them wakes nobody. Before the first round, every event wakes.
//   - An event counts only if its sender knows the token: by a signature of the body, as GitHub makes it, by the header
//     of GitLab, or as a bearer token or password of anybody else.
//   - The same event again is refused: whoever recorded one cannot wake a loop with it.
//   - Bodies are bounded, and so is how many are read at once. However many events come, a loop is woken once.
package receiver
