package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/wrapper"
)

// The bounds of a session.
const (
	maxReaders  = 8                // pages that are told what happens
	maxRows     = 1000             // rows of one task that an open page is told; the rest it has when it is loaded again
	firstLiveID = 1_000_000        // of effects that are added to an open page, which has others
	maxLine     = 200              // characters of the line of a failed task
	copyEvery   = 3 * time.Second  // the page is written to the file
	lastState   = 5 * time.Second  // open pages have time to load the last state
	firstViewer = 10 * time.Second // a browser that was just started has time to come
)

// Options say what a session shows. Plan, Render and Rows are required.
type Options struct {
	Address string // HOST:PORT of this machine; "" is 127.0.0.1 and a free port
	Plan    *plan.Plan
	// Render writes the page with the results so far. Rows returns the effects of one result as rows of the page, whose
	// ids count on after those that are there, and how many effects they have.
	Render func(w io.Writer, results *plan.Results, running *report.Running) error
	Rows   func(result plan.Result, after int) (rows []string, effects int, err error)
	// Copy keeps the page while tasks run; nil keeps nothing.
	Copy func(page []byte) error
}

// A Session shows one run.
type Session struct {
	opts     Options
	listener net.Listener
	server   *http.Server
	keys     *keys
	policy   string // of the page
	events   *ring
	work     sync.WaitGroup // the server and what it tells
	copies   sync.WaitGroup // of the page
	watch    sync.WaitGroup // a browser that was started
	ended    chan struct{}  // closed by the end of the run
	more     chan struct{}  // wakes who tells the effects
	effects  int            // that open pages were told; of who tells them alone

	mu       sync.Mutex
	numbers  map[string]int // of tasks in the plan
	began    map[string]time.Time
	results  map[string][]byte // as JSON, since the run goes on changing its own
	failed   int
	pending  []endedTask   // whose effects no page was told
	readers  int           // open pages
	final    []byte        // the last page
	finals   int           // how often it was loaded
	viewed   chan struct{} // closed and made anew when the last page is loaded
	isOpened bool          // a browser was started
}

// Start listens and serves. The session must be ended.
func Start(ctx context.Context, opts Options) (*Session, error) {
	address := opts.Address
	if address == "" {
		address = "127.0.0.1:0"
	}
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("showing the page at %s: %w", address, err)
	}
	return startOn(listener, opts)
}

// startOn serves what comes to a listener, which is the session's from now on.
func startOn(listener net.Listener, opts Options) (*Session, error) {
	policy, err := report.LivePolicy()
	if err == nil {
		err = CheckAddress(listener.Addr().String()) // a name may lead anywhere
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &Session{opts: opts, listener: listener, keys: newKeys(), policy: policy, events: newRing(),
		ended: make(chan struct{}), more: make(chan struct{}, 1),
		numbers: map[string]int{}, began: map[string]time.Time{}, results: map[string][]byte{},
		viewed: make(chan struct{})}
	for i, t := range opts.Plan.Tasks {
		s.numbers[t.ID] = i
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: silentLog()}
	s.work.Go(func() { _ = s.server.Serve(listener) }) // it ends with Shutdown
	s.work.Go(s.tellEffects)
	if opts.Copy != nil {
		s.copies.Go(s.keepCopies)
	}
	return s, nil
}

// CheckAddress returns an error for an address that others could reach.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is no HOST:PORT, such as 127.0.0.1:8000", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q can be reached from other machines, and the page is for this one: give 127.0.0.1 or localhost, "+
		"and forward the port to look from elsewhere", address)
}

// Address returns the address of the page, with the token.
func (s *Session) Address() string { return s.base() + s.keys.token + "/" }

func (s *Session) base() string { return "http://" + s.listener.Addr().String() + "/" }

// Observe takes an event of the run. It never waits for a reader.
func (s *Session) Observe(e wrapper.Event) {
	switch {
	case e.Result != nil:
		s.taskEnded(e.Task, *e.Result)
	case e.WaitsFor == "":
		s.taskStarted(e.Task)
	}
}

// A taskNews is what a page is told of one task, and of the whole run.
type taskNews struct {
	Number   int    `json:"n"`
	Task     string `json:"task"`
	State    string `json:"state"`
	Line     string `json:"line,omitempty"`
	Bad      bool   `json:"bad,omitempty"`
	Ended    int    `json:"ended"`
	Headline string `json:"headline"`
}

func (s *Session) taskStarted(t plan.Task) {
	s.mu.Lock()
	s.began[t.ID] = time.Now()
	news := s.newsOf(t, "running")
	s.mu.Unlock()
	s.events.add("task", news)
}

// newsOf returns what is told of a task. The caller holds the lock.
func (s *Session) newsOf(t plan.Task, state string) taskNews {
	return taskNews{Number: s.numbers[t.ID], Task: report.Printable(t.ID), State: report.Printable(state),
		Ended: len(s.results), Headline: s.progress().Headline()}
}

func (s *Session) taskEnded(t plan.Task, result plan.Result) {
	raw, err := json.Marshal(result)
	if err != nil {
		return // a result can always be written
	}
	s.mu.Lock()
	delete(s.began, t.ID)
	s.results[t.ID] = raw
	if result.Blocks() {
		s.failed++
	}
	news := s.newsOf(t, strings.ReplaceAll(string(result.Status), "_", " "))
	s.pending = append(s.pending, endedTask{raw, len(s.results)})
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default: // it is awake
	}
	if news.Bad = result.Blocks(); news.Bad {
		news.Line = lastLine(result)
	}
	s.events.add("task", news)
}

// tellEffects tells open pages the effects of tasks that ended, until the run ends. It is not done while the run waits
// for [Session.Observe].
func (s *Session) tellEffects() {
	for {
		select {
		case <-s.ended:
			return
		case <-s.more:
		}
		s.mu.Lock()
		pending := s.pending
		s.pending = nil
		s.mu.Unlock()
		for _, p := range pending {
			if s.hasEnded() {
				return
			}
			s.tellEffectsOf(p)
		}
	}
}

// hasEnded reports whether the run has ended.
func (s *Session) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// tellEffectsOf tells the effects of one result.
func (s *Session) tellEffectsOf(p endedTask) {
	var result plan.Result
	if json.Unmarshal(p.raw, &result) != nil || result.Effects == nil || len(result.Effects.Items) == 0 {
		return
	}
	rows, n, err := s.opts.Rows(result, firstLiveID+s.effects)
	if err != nil || n == 0 {
		return // the page has them when it is loaded again
	}
	s.effects += n
	s.events.add("effects", effectNews{rows[:min(len(rows), maxRows)], n, p.place})
}

// An endedTask is a result as JSON, with its place in the order in which tasks ended.
type endedTask struct {
	raw   []byte
	place int
}

// effectNews are the rows of the effects of one task. Place is its place in the order in which tasks ended: a page that
// was made later has them.
type effectNews struct {
	Rows    []string `json:"rows"`
	Effects int      `json:"effects"`
	Place   int      `json:"place"`
}

// lastLine returns the line of a failed task that says most.
func lastLine(r plan.Result) string {
	lines := strings.FieldsFunc(r.Tail, func(c rune) bool { return c == '\n' })
	text := r.Reason
	if len(lines) > 0 {
		text = lines[len(lines)-1]
	}
	shown := []rune(report.Printable(text))
	return string(shown[:min(len(shown), maxLine)])
}

// progress returns how far the run is. The caller holds the lock.
func (s *Session) progress() *report.Running {
	return &report.Running{All: len(s.opts.Plan.Tasks), Ended: len(s.results), Failed: s.failed}
}

// running returns how far the run is, and what runs. The caller holds the lock.
func (s *Session) running() *report.Running {
	r := s.progress()
	for _, t := range s.opts.Plan.Tasks {
		if began, runs := s.began[t.ID]; runs {
			r.Now = append(r.Now, report.RunningTask{Name: t.ID, Number: s.numbers[t.ID],
				Seconds: int(time.Since(began).Seconds())})
		}
	}
	return r
}

// render returns the page as it is now.
func (s *Session) render(isLive bool) ([]byte, error) {
	after := s.events.lastID() // what happens from here on is told again
	s.mu.Lock()
	if s.final != nil {
		defer s.mu.Unlock()
		return s.final, nil
	}
	running := s.running()
	raws := make([][]byte, 0, len(s.results))
	for _, t := range s.opts.Plan.Tasks {
		if raw, ok := s.results[t.ID]; ok {
			raws = append(raws, raw)
		}
	}
	s.mu.Unlock()
	running.Live, running.After = isLive, after
	results := &plan.Results{Version: plan.Version, Plan: s.opts.Plan.Digest}
	for _, raw := range raws {
		var result plan.Result
		if err := json.Unmarshal(raw, &result); err != nil {
			return nil, err
		}
		results.Results = append(results.Results, result)
	}
	var page bytes.Buffer
	if err := s.opts.Render(&page, results, running); err != nil {
		return nil, err
	}
	return page.Bytes(), nil
}

// keepCopies writes the page again and again while something changes, until the run ends.
func (s *Session) keepCopies() {
	ticker := time.NewTicker(copyEvery)
	defer ticker.Stop()
	written := uint64(0)
	for {
		select {
		case <-s.ended:
			return
		case <-ticker.C:
		}
		id := s.events.lastID()
		if id == written {
			continue
		}
		if page, err := s.render(false); err == nil && s.opts.Copy(page) == nil {
			written = id
		}
	}
}

// StopCopies ends the writing of copies, and waits for one that is being written: what is written from now on is the
// last state. It may be called twice.
func (s *Session) StopCopies() {
	s.mu.Lock()
	if !s.hasEnded() {
		close(s.ended)
	}
	s.mu.Unlock()
	s.copies.Wait() // without the lock, which a copy takes
}

// End shows the last page and ends the session: when all open pages have it, or after some seconds, or when the context
// ends. A nil page says that there is none.
func (s *Session) End(ctx context.Context, page []byte) error {
	s.StopCopies()
	if len(page) == 0 {
		page = nil
	}
	s.mu.Lock()
	s.final = page
	waitFor := s.readers
	patience := lastState
	if s.isOpened && s.keys.isUnused() {
		waitFor, patience = max(1, waitFor), firstViewer
	}
	s.mu.Unlock()
	name := "verdict"
	if page == nil {
		name, waitFor = "gone", 0
	}
	s.events.finish(name, struct{}{})
	s.awaitViewers(ctx, waitFor, patience)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	s.work.Wait()
	return err
}

// awaitViewers waits until the last page was loaded so many times.
func (s *Session) awaitViewers(ctx context.Context, times int, patience time.Duration) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		s.mu.Lock()
		done, viewed := s.finals >= times, s.viewed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-viewed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// hosts returns the names by which the page may be asked for.
func (s *Session) hosts() []string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return []string{"127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port, s.listener.Addr().String()}
}

// isOurs reports whether a request is for this server, and from this page or from nobody.
func (s *Session) isOurs(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return slices.Contains(s.hosts(), r.Host) && (origin == "" || origin == "http://"+r.Host)
}
