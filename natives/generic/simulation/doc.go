// Package simulation plays the life of resources in a cloud in tests: quiet months, colleagues who
// edit at the worst moment, processes that die, limits of requests. It has tests alone.
//
// The cloud is doubles/armtest, which shares no code with what is tested. Time is virtual
// (testing/synctest), and requests go over no network, so a day of passes takes seconds. What the
// integration says of itself does not count: the cloud knows what it keeps, and which requests came.
package simulation
