package connect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// WaitFor waits until everything below w is visible to questions.
func WaitFor(ctx context.Context, b *Backend, w schemas.Watermark) error {
	ends := schemas.Watermark{}
	for tp, next := range w {
		if next > 0 && strings.HasSuffix(tp.Topic, schemas.TopicCommands) {
			ends[tp] = next
		}
	}
	_, err := commands.FindQuestion.Ask(ctx, b, commands.FindRequest{Limit: 1, AtLeast: ends, WaitMS: int(query.MaxWait / time.Millisecond)})
	return err
}

// awaitVisible waits until questions see the commands that the server had when it was found. It
// answers from its start on, also while its projections still catch up with the log, and would not know
// a command that was recorded just before.
func (con *Connector) awaitVisible(ctx context.Context, b *Backend) {
	st := b.then
	for until := time.Now().Add(max(drainPatience, con.Patience)); st.Unseen(b.then.Log.Ends); {
		if time.Now().After(until) {
			con.Note("the server has not caught up with the log yet: answers may lack commands; recount status shows how far it is")
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(firstPause):
		}
		var err error
		if st, err = b.Status(ctx, api.StatusRequest{}); err != nil {
			return // the question will fail as well, and say why
		}
	}
}

// ErrServesNot reports that the server does not answer questions.
var ErrServesNot = errors.New("the server does not have the role serve")

// Settle waits until the projections have applied everything that is on the log now.
func Settle(ctx context.Context, b *Backend) error {
	st, err := b.Status(ctx, api.StatusRequest{})
	if err != nil {
		return err
	}
	if b.Local == nil && !slices.Contains(st.Roles, node.RoleServe) {
		return ErrServesNot
	}
	return WaitFor(ctx, b, st.Log.Ends)
}

// CaughtUp waits until all projections have applied what is on the log now, so that the next
// question need not wait.
func (con *Connector) CaughtUp(ctx context.Context) error {
	return con.WithBackendFor(ctx, con.ToRead, func(b *Backend) error {
		defer con.ClearProgress()
		if b.Local != nil {
			return Settle(ctx, b)
		}
		tell := con.Progress()
		done := map[string]bool{}
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for most := int64(0); ; {
			st, err := b.Status(ctx, api.StatusRequest{})
			if err != nil {
				return err
			}
			var lag int64
			waits := []string{}
			for _, p := range st.Projections {
				if done[p.Name] = done[p.Name] || p.Lag == 0; !done[p.Name] {
					lag = max(lag, p.Lag)
					waits = append(waits, p.Name)
				}
			}
			if len(waits) == 0 {
				return nil
			}
			most = max(most, lag)
			if tell != nil {
				tell(api.Progress{Phase: "take in (" + strings.Join(waits, ", ") + ")", Done: most - lag, Total: most})
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	})
}
