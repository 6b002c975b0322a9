package services

import (
	"context"
	"encoding/json"
	"time"
)

// A Notifier tells people and programs what happened. Several goroutines may use it at once.
type Notifier interface {
	// Event sends an event to an address. Who gets one of the same source and id again, knows it already.
	Event(ctx context.Context, to Address, e Event) error
	// Status sets a status of a commit at the forge of its repository. That it is there already is a success.
	Status(ctx context.Context, of CommitStatus) error
}

// An Address is where something is sent, with a bearer token; "" is none.
type Address struct{ URL, Token string }

// An Event is one thing that happened, as CloudEvents 1.0 has it.
type Event struct {
	ID, Source, Type, Subject string
	At                        time.Time
	Data                      json.RawMessage
}

// A CommitStatus is what a commit is told to be.
type CommitStatus struct {
	Kind       string // of the forge: github or gitlab
	Repository string // its address
	Token      string
	Commit     string // full sha
	Name       string // of what says so
	State      string // success, failure or pending
	Text, Link string // for people; "" for none
}
