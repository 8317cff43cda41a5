package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
)

func commandEvent(name string) schemas.Event {
	return schemas.Event{ID: schemas.NewCanon("test").String(name).ID(), Payload: []byte(`{"command":"` + name + `"}`)}
}

// waitingAppender is an appender of nothing projected, over a log that the test is.
func waitingAppender(t *testing.T, log func(context.Context, ...schemas.Event) ([]schemas.Position, error)) *appender {
	t.Helper()
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := newAppender(nil, r, func(string, schemas.EventID) (schemas.Position, bool) { return schemas.Position{}, false })
	a.log = func(ctx context.Context, _ string, events ...schemas.Event) ([]schemas.Position, error) {
		return log(ctx, events...)
	}
	return a
}

// Before: who appended an id and went away took those with it who had sent the
// same id and waited, and the next to send it appended it again.
func TestWaitersLearnWhatBecameOfAnAppendWhoseCallerLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		appends := 0
		stored := make(chan struct{})
		at := schemas.Position{Topic: "recount.commands", Offset: 7}
		a := waitingAppender(t, func(ctx context.Context, _ ...schemas.Event) ([]schemas.Position, error) {
			appends++
			select {
			case <-stored:
				return []schemas.Position{at}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		go func() { _, _ = a.Append(ctx, []schemas.Event{commandEvent("make")}) }()
		synctest.Wait()
		second := make(chan error, 1)
		go func() {
			out, err := a.Append(t.Context(), []schemas.Event{commandEvent("make")})
			if err == nil && (out[0].Position != at || !out[0].Duplicate) {
				t.Errorf("the second got %+v", out[0])
			}
			second <- err
		}()
		synctest.Wait() // it waits for the first
		leave()
		synctest.Wait()
		close(stored)
		if err := <-second; err != nil {
			t.Errorf("the second: %v", err)
		}
		if appends != 1 {
			t.Errorf("appended %d times", appends)
		}
	})
}

// Before: one event too many in a request failed others who had sent one of its
// good events at the same time.
func TestWaitersTryThemselvesWhereAnotherFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waited := make(chan struct{})
		refused := schemas.Poisonf("event of another size")
		at := schemas.Position{Topic: "recount.commands", Offset: 8}
		a := waitingAppender(t, func(_ context.Context, events ...schemas.Event) ([]schemas.Position, error) {
			if len(events) == 1 {
				return []schemas.Position{at}, nil
			}
			<-waited
			return nil, refused
		})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := a.Append(t.Context(), []schemas.Event{commandEvent("make"), commandEvent("too large")})
			first <- err
		}()
		synctest.Wait()
		go func() {
			out, err := a.Append(t.Context(), []schemas.Event{commandEvent("make")})
			if err == nil && (out[0].Position != at || out[0].Duplicate) {
				t.Errorf("the second got %+v", out[0])
			}
			second <- err
		}()
		synctest.Wait() // it waits for the first
		close(waited)
		if err := <-first; !errors.Is(err, refused) {
			t.Errorf("the first: %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("the second: %v", err)
		}
	})
}
