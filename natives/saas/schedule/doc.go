// Package schedule reads the schedules of promotions and says when they are open.
//
// A schedule has the five fields of a crontab: minute, hour, day of the month, month, day of the
// week, in UTC. Other than in a crontab, a day must match both the day of the month and the day
// of the week, as in qontract-reconcile.
//
// A minute that matches opens a window. Whoever looks every few minutes would miss most of them,
// so [Schedule.Window] also looks at the time since the last look, up to a limit.
package schedule
