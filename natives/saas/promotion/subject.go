package promotion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// A Subject is a target with all that the data say about what it may run.
type Subject struct {
	Label    string // for people
	Broken   string // why the target cannot be used, "" if it can
	Ref      string // as the data have it
	Channels []Channel
	Data     []saas.ChannelData // promotion_data of the target
	// SoakTime is for how long a commit must have run at the publishers.
	SoakTime time.Duration
	Soak     saas.Soak // how the time is counted over several publishers
	Schedule string    // when it may be promoted; "" is always
	Redeploy bool      // it is also promoted when the configuration of a publisher changes
	// Blocked and Hotfix are commits of its repository.
	Blocked, Hotfix []string
	// Own is the ledger of the target itself, nil if nobody read one, and OwnErr why it cannot be used.
	Own    *ledger.Book
	OwnErr error
	// Order is the commits of branches, each newest first, as far as they are known beside the ledger.
	Order [][]string
	// Back proposes the commit before one that a verification found bad.
	Back bool
	// Names are the names of publishers for people, by uid.
	Names map[string]string
}

// A Channel is a channel to which a subject subscribes.
type Channel struct {
	Name       string
	Publishers []string // uids
}

// Of returns the subject that a target of a model is. The target's own mistakes, and those of
// publishers that nobody can name, close its gate.
func Of(m *saas.Model, t *saas.Target, settings saas.Settings) Subject {
	of := m.Component(t)
	s := Subject{Label: t.Label(), Broken: cmp.Or(t.Template.File.Broken, t.Broken), Ref: t.Ref, Blocked: of.Blocked,
		Hotfix: of.Hotfix, Soak: settings.Soak}
	if v, ok := settings.VerificationOf(t); ok {
		s.Back = v.Back
	}
	p := t.Promotion
	if p == nil {
		return s
	}
	s.Names = map[string]string{}
	s.Data, s.SoakTime, s.Schedule, s.Redeploy = p.Data, days(p.SoakDays), p.Schedule, p.Redeploy
	for i, name := range p.Subscribe {
		if slices.Contains(p.Subscribe[:i], name) {
			continue
		}
		c := Channel{Name: name}
		for _, from := range m.Publishers(name) {
			c.Publishers = append(c.Publishers, from.UID())
			s.Names[from.UID()] = from.Label()
		}
		s.Channels = append(s.Channels, c)
	}
	return s
}

// publisher returns the name of a publisher for people.
func (s Subject) publisher(uid string) string { return cmp.Or(s.Names[uid], uid) }

// maxNamed is how many publishers a text names.
const maxNamed = 3

// publishers returns the names of all publishers, each once.
func (s Subject) publishers() string {
	var out []string
	for _, at := range s.places() {
		if name := s.publisher(at.UID); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if more := len(out) - maxNamed; more > 0 {
		out = append(out[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// places returns where the records of the publishers of a subject are.
func (s Subject) places() []RecordPlace {
	var out []RecordPlace
	for _, c := range s.Channels {
		for _, uid := range c.Publishers {
			out = append(out, RecordPlace{c.Name, uid})
		}
	}
	return out
}

// maxSoakDays keeps the sum of times from becoming too large for a [time.Duration].
const maxSoakDays = 36500

// days returns a time of some days.
func days(n int) time.Duration { return time.Duration(min(max(n, 0), maxSoakDays)) * 24 * time.Hour }
