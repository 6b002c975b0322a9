package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A pipeListener always has a connection.
type pipeListener struct{ net.Listener }

func (pipeListener) Accept() (net.Conn, error) {
	conn, _ := net.Pipe()
	return conn, nil
}

func (pipeListener) Close() error { return nil }

// The number of open connections is limited, and further connections wait.
func TestLimitConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limitConnections(pipeListener{}, 1)
		first, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		accepted := make(chan error)
		accept := func() {
			_, err := l.Accept()
			accepted <- err
		}
		go accept()
		synctest.Wait()
		select {
		case <-accepted:
			t.Error("two connections are open")
		default:
		}
		for range 2 { // closing a connection twice frees one place only
			if err := first.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := <-accepted; err != nil {
			t.Error(err)
		}
		go accept()
		synctest.Wait()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-accepted; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want that the listener is closed", err)
		}
	})
}

// An evaluationLimiter limits the running and the waiting requests, and a request waits
// for a limited time.
func TestEvaluationLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newEvaluationLimiter(Limits{Evaluations: 1, Waiting: 1, Evaluation: time.Minute}.withDefaults())
		ask := func(evaluate func(context.Context) *reply) chan int {
			status := make(chan int, 1)
			go func() {
				p := g.run(context.Background(), evaluate)
				if p.afterSend != nil {
					p.afterSend()
				}
				status <- p.status
			}()
			synctest.Wait()
			return status
		}
		release := make(chan bool)
		slow := func(context.Context) *reply {
			<-release
			return emptyReply()
		}
		first := ask(slow)
		second := ask(slow)
		if got := <-ask(slow); got != http.StatusServiceUnavailable {
			t.Errorf("a third may wait: %d", got)
		}
		release <- true
		if got := <-first; got != http.StatusOK {
			t.Errorf("the first got %d", got)
		}
		synctest.Wait()
		late := ask(slow)
		time.Sleep(2 * time.Minute) // of the bubble's own clock
		if got := <-late; got != http.StatusServiceUnavailable {
			t.Errorf("who waited too long got %d", got)
		}
		release <- true
		if got := <-second; got != http.StatusOK {
			t.Errorf("the second got %d", got)
		}
		ends := ask(func(ctx context.Context) *reply {
			<-ctx.Done()
			return errorPage(http.StatusTeapot, "late")
		})
		if got := <-ends; got != http.StatusTeapot {
			t.Errorf("an evaluation that is too slow got %d", got)
		}
	})
}

// Unsent answers share a budget. An answer that is larger than the budget takes all of it.
func TestByteBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newByteBudget(3 * budgetUnit)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if got, ok := b.reserve(ctx, 100*budgetUnit); got != 3 || !ok {
			t.Fatalf("got %d, %v, want the whole budget", got, ok)
		}
		if got, ok := b.reserve(ctx, budgetUnit-1); got != 0 || !ok {
			t.Errorf("small answers do not count: got %d, %v", got, ok)
		}
		if got, ok := b.reserve(ctx, budgetUnit); got != 0 || ok {
			t.Errorf("got %d, %v from an empty budget", got, ok)
		}
		b.release(2)
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, ok := b.reserve(ctx, 3*budgetUnit); ok {
			t.Error("got more than there is")
		}
		if got, ok := b.reserve(t.Context(), 2*budgetUnit); got != 2 || !ok {
			t.Errorf("who gave up kept something: got %d, %v", got, ok)
		}
	})
}
