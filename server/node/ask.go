package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/processors/source"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/objects"
	runtimegraph "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/query/look"
	"github.com/recountdb/recount/query/recall"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/query/sessions"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// Append implements api.Backend.
func (n *Node) Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error) {
	return n.app.Append(ctx, events)
}

// known returns the position of an event that is projected, or that was before it was erased. It
// looks up ids by schemas.SeenAs. Including erased events keeps an import from bringing them back.
func (n *Node) known(topic string, id schemas.EventID) (schemas.Position, bool) {
	if at, ok := n.log.ErasedID(id); ok {
		return at, true
	}
	return n.position(topic, id)
}

// position returns the position of an event that is projected.
func (n *Node) position(topic string, id schemas.EventID) (pos schemas.Position, found bool) {
	if n.set == nil {
		return pos, false
	}
	p, release, err := n.set.Acquire(knownBy(topic))
	if err != nil {
		return pos, false
	}
	defer release()
	// If a lookup fails, the log gets a second copy of the event, which is applied once.
	switch p := p.(type) {
	case *segment.Projection:
		_ = p.ViewID(context.Background(), id, func(v *segment.View) error {
			pos, found = v.Position(), true
			return nil
		})
	case interface {
		Position(id schemas.EventID) (schemas.Position, bool, error)
	}:
		pos, found, _ = p.Position(id)
	}
	return pos, found
}

// knownBy returns the name of the projection that knows the ids of a topic's events.
func knownBy(topic string) string {
	switch topic {
	case schemas.TopicSpans:
		return runtimegraph.Name
	case schemas.TopicAgents:
		return objects.Name
	}
	return segment.Name
}

// nextKnown returns the watermark up to which a projection knows the ids of a topic's events; known
// is false if no projection does.
func (n *Node) nextKnown(topic string) (w schemas.Watermark, known bool) {
	if n.set == nil || !n.set.Subscribes(knownBy(topic), topic) {
		return nil, false
	}
	p, release, err := n.set.Acquire(knownBy(topic))
	if err != nil {
		return nil, false
	}
	defer release()
	return p.Watermark(), true
}

func (n *Node) sources() commands.Sources {
	since, _ := n.knownSince(schemas.TopicCommands)
	return commands.Sources{Set: n.set, Embedder: n.chain.Embedder, Concepts: embed.Concepts, Event: n.log.Read, Events: n.log.ReadEach, Since: since, History: &n.history, Erased: n.mayTellErased}
}

// mayTellErased tells of an erased event whoever may see all of the log.
func (n *Node) mayTellErased(ctx context.Context, ref string) error {
	if _, some := restricted(ctx); some {
		return nil
	}
	return n.tellErased(ctx, ref)
}

// answerable waits until the projections have caught up with the log. It fails if the node has
// none.
func (n *Node) answerable(ctx context.Context) error {
	if n.set == nil {
		return noRole(RoleProject)
	}
	return n.catchUp(ctx)
}

// Show implements api.Backend.
func (n *Node) Show(ctx context.Context, ref string) (commands.ShowResponse, error) {
	src := n.sources()
	if p, some := restricted(ctx); some {
		src.Sees = seesCommands(p)
	} else if err := n.tellErased(ctx, ref); err != nil { // also before the projections are without it
		return commands.ShowResponse{}, err
	}
	if err := n.answerable(ctx); err != nil {
		return commands.ShowResponse{}, err
	}
	allowed := n.discreet()
	r, err := commands.Show(ctx, src, ref)
	var missing *query.NotFoundError
	if src.Sees != nil && errors.As(err, &missing) {
		return commands.ShowResponse{}, unseen(ref)
	}
	if err := allowed(r, err); err != nil {
		return commands.ShowResponse{}, err
	}
	return r, nil
}

// Event implements api.Backend. It reads the log and no projection.
func (n *Node) Event(ctx context.Context, at schemas.Position) (api.StoredEvent, error) {
	p, some := restricted(ctx)
	at.Topic = n.log.Topic(at.Topic)
	if !some {
		if err := n.tellErased(ctx, at.String()); err != nil {
			return api.StoredEvent{}, err
		}
	}
	record, err := n.log.Read(ctx, at)
	if errors.Is(err, schemas.ErrPoison) {
		if some {
			return api.StoredEvent{}, unseen(at.String())
		}
		return api.StoredEvent{}, &query.NotFoundError{Ref: at.String(), Hint: err.Error()}
	}
	if err != nil {
		return api.StoredEvent{}, err
	}
	if some {
		if sees, err := n.sees(ctx, p, record); err != nil || !sees {
			return api.StoredEvent{}, cmp.Or(err, unseen(at.String()))
		}
	}
	return api.NewStoredEvent(record)
}

// Answer implements api.Backend.
func (n *Node) Answer(ctx context.Context, path string, request, response any) error {
	if err := n.answerable(ctx); err != nil {
		return err
	}
	allowed, lacks := n.discreet(), n.lacks()
	err := n.ask(ctx, path, request, response)
	if r, ok := response.(interface{ AddHint(string) }); ok && err == nil && lacks != "" {
		r.AddHint(lacks)
	}
	if err == nil {
		err = n.announce(ctx, request, response)
	}
	return n.early(ctx, path, allowed(response, err))
}

// early adds to an error about code that was not found how many events the answer does not know yet.
func (n *Node) early(ctx context.Context, path string, err error) error {
	var missing *query.NotFoundError
	if !errors.As(err, &missing) || !strings.HasPrefix(path, "code/") && path != packing.Question.Path {
		return err
	}
	ends, failed := n.log.Ends(ctx, n.log.Topic(schemas.TopicCommits))
	if failed != nil {
		return err
	}
	p, release, failed := n.set.Acquire(snapshots.Name)
	if failed != nil {
		return err
	}
	defer release()
	return notYet(missing, ends, p.Watermark())
}

// notYet adds to an error how many events of a log that ends somewhere are not read yet.
func notYet(missing *query.NotFoundError, ends, read schemas.Watermark) *query.NotFoundError {
	unread := int64(0)
	for tp, end := range ends {
		unread += max(end-read[tp], 0)
	}
	if unread == 0 {
		return missing
	}
	late := *missing
	late.Unread = unread
	late.Hint += fmt.Sprintf("; events about code are still being read, %d to go: ask again in a moment", unread)
	return &late
}

// announce adds to an answer about symbols who has announced work on them. If that cannot be read,
// the proof says so, and the answer stands.
func (n *Node) announce(ctx context.Context, request, response any) error {
	answer, ok := response.(query.SubjectsAnswer)
	if _, known := access.FromContext(ctx); !ok || !n.local && !known {
		return nil
	}
	asked, err := n.asked(ctx)
	if err != nil {
		return err
	}
	var now time.Time
	if r, ok := request.(query.TimedRequest); ok {
		now = r.AskedAt()
	}
	if err := evidence.AnnounceIn(ctx, asked.Sources, asked.Principal, now, answer); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		answer.AddStep(query.Step{Operator: "announced", Inputs: map[string]string{"failed": err.Error()}})
	}
	return nil
}

func (n *Node) ask(ctx context.Context, path string, request, response any) error {
	switch {
	case slices.Contains(evidence.Questions.Paths(), path):
		asked, err := n.asked(ctx)
		if err != nil {
			return err
		}
		return evidence.Questions.Answer(ctx, asked, path, request, response)
	case path == look.Question.Path:
		asked, err := n.asked(ctx)
		if err != nil {
			return err
		}
		return look.Questions.Answer(ctx, asked, path, request, response)
	case path == sessions.Question.Path:
		for _, topic := range []string{schemas.TopicCommands, schemas.TopicAgents} {
			if err := n.summing(topic); err != nil {
				return err
			}
		}
		asked, err := n.asked(ctx)
		if err != nil {
			return err
		}
		return sessions.Questions.Answer(ctx, asked, path, request, response)
	case path == packing.Question.Path:
		return n.context(ctx, path, request, response)
	case path == recall.RecallQuestion.Path, path == recall.BriefQuestion.Path:
		asked, err := n.asked(ctx)
		if err != nil {
			return err
		}
		return recall.Questions.Answer(ctx, asked, path, request, response)
	case slices.Contains(feedback.Questions.Paths(), path):
		asked, err := n.feedback(ctx)
		if err != nil {
			return err
		}
		return feedback.Questions.Answer(ctx, asked, path, request, response)
	case slices.Contains(replays.Questions.Paths(), path):
		return replays.Questions.Answer(ctx, replays.Sources{Set: n.set, Event: n.log.Read}, path, request, response)
	case strings.HasPrefix(path, "runtime/"):
		if err := n.summing(schemas.TopicSpans); err != nil {
			return err
		}
		return runtime.Questions.Answer(ctx, n.runtimeSources(), path, request, response)
	case strings.HasPrefix(path, "code/"):
		s := n.codeSources()
		if p, known := access.FromContext(ctx); known && !p.Granted(schemas.GrantRuntime) {
			s.Running = nil
		}
		return code.Questions.Answer(ctx, s, path, request, response)
	case path == plan.Question.Path:
		return plan.Questions.Answer(ctx, n.readable(ctx), path, request, response)
	case path == commands.InsightsQuestion.Path, path == commands.SearchQuestion.Path, path == commands.StatsQuestion.Path:
		if err := n.summing(schemas.TopicCommands); err != nil {
			return err
		}
	}
	if p, some := restricted(ctx); some && !p.InWorkspace("*") {
		return n.list(ctx, p, path, request, response)
	}
	return commands.Questions.Answer(ctx, n.sources(), path, request, response)
}

// feedback returns the sources of a question for feedback and its principal.
func (n *Node) feedback(ctx context.Context) (feedback.Asked, error) {
	p, known := access.FromContext(ctx)
	switch {
	case n.local:
		p = schemas.Principal{Operator: true}
	case !known:
		return feedback.Asked{}, errors.New("a question for feedback without a principal: put one into the context (access.With)")
	}
	return feedback.Asked{Set: n.set, Principal: p}, n.summing(schemas.TopicFacts)
}

// asked returns the sources of a question for evidence and its principal. Commands, code and spans
// are used only as far as the principal is granted them.
func (n *Node) asked(ctx context.Context) (evidence.Asked, error) {
	p, known := access.FromContext(ctx)
	switch {
	case n.local: // the data directory belongs to the caller
		p = schemas.Principal{Operator: true}
	case !known:
		return evidence.Asked{}, errors.New("a query for evidence without a principal: put one into the context (access.With)")
	}
	s := evidence.Sources{
		Set: n.set, Embedder: n.chain.Embedder, Turns: n.turns,
		Commands: n.sources(), Code: n.codeSources(),
	}
	s.Since, _ = n.knownSince(schemas.TopicAgents)
	if n.summing(schemas.TopicSpans) == nil {
		s.Runtime = n.runtimeSources()
	}
	return evidence.Asked{Sources: s, Principal: p}, nil
}

// Objects implements api.Backend.
func (n *Node) Objects(ctx context.Context, r evidence.ExportRequest, w io.Writer) error {
	if err := n.answerable(ctx); err != nil {
		return err
	}
	if err := n.summing(schemas.TopicAgents); err != nil {
		return err
	}
	asked, err := n.asked(ctx)
	if err != nil {
		return err
	}
	ctx, w, done := n.exporters.exporting(ctx, w)
	defer done()
	return evidence.Export(ctx, asked.Sources, asked.Principal, r, w)
}

// codeSources returns the sources of questions about code, including runtime data if it is
// complete.
func (n *Node) codeSources() code.Sources {
	s := code.Sources{Set: n.set, Graphs: n.graphs, Contents: n.compared}
	if n.summing(schemas.TopicSpans) == nil {
		s.Running = runtime.Callers(n.runtimeSources())
	}
	return s
}

// packingSources returns the sources of questions for context.
func (n *Node) packingSources() packing.Sources {
	return packing.Sources{Code: code.Sources{Set: n.set, Graphs: n.graphs}, Cache: n.packed, Content: n.content, Contents: n.contents}
}

// content reads the content of a file from its event; nil if the event was erased or has none.
func (n *Node) content(ctx context.Context, of packing.Content) ([]byte, error) {
	return n.contentUpTo(ctx, of.At, source.MaxContent)
}

// compared reads the contents of files that are compared with others, without those of events that
// were erased, or that have none or a large one.
func (n *Node) compared(ctx context.Context, at []schemas.Position, yield func(schemas.Position, []byte) error) error {
	return n.eachContent(ctx, at, code.MaxContent, yield)
}

// contents reads the contents of files for contexts.
func (n *Node) contents(ctx context.Context, of []packing.Content, yield func(packing.Content, []byte) error) error {
	at, files := make([]schemas.Position, len(of)), make(map[schemas.Position]packing.Content, len(of))
	for i, x := range of {
		at[i], files[x.At] = x.At, x
	}
	return n.eachContent(ctx, at, source.MaxContent, func(at schemas.Position, content []byte) error {
		return yield(files[at], content)
	})
}

// eachContent reads the contents of events, without those that were erased or have more than limit
// bytes.
func (n *Node) eachContent(ctx context.Context, at []schemas.Position, limit int, yield func(schemas.Position, []byte) error) error {
	return n.log.ReadEach(ctx, at, func(lr schemas.LogRecord) error {
		if _, erased := n.log.ErasedAt(lr.Position); erased {
			return nil
		}
		content, err := code.ContentOf(lr, limit)
		if err != nil {
			return fmt.Errorf("event at %s: %w", lr.Position, err)
		}
		if content == nil {
			return nil
		}
		return yield(lr.Position, content)
	})
}

func (n *Node) contentUpTo(ctx context.Context, at schemas.Position, limit int) ([]byte, error) {
	if _, erased := n.log.ErasedAt(at); erased {
		return nil, nil
	}
	lr, err := n.log.Read(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("read the event at %s: %w", at, err)
	}
	content, err := code.ContentOf(lr, limit)
	if err != nil {
		return nil, fmt.Errorf("event at %s: %w", at, err)
	}
	return content, nil
}

func (n *Node) runtimeSources() runtime.Sources {
	since, sums := n.knownSince(schemas.TopicSpans)
	return runtime.Sources{
		Set: n.set, Code: code.Sources{Set: n.set, Graphs: n.graphs}, Commands: n.sources(),
		Event: n.log.Read, Events: n.log.ReadEach, Observe: n.observe, Services: n.cfg.Services,
		Since: since, SumsSince: sums,
	}
}

// observe processes the spans of an event in the same way as the stream.
func (n *Node) observe(ctx context.Context, lr schemas.LogRecord) (*recountv1.SpanBatch, error) {
	recs, err := processors.Records(ctx, []schemas.LogRecord{lr}, n.chain)
	if err != nil {
		return nil, err
	}
	return recs[0].GetSpans(), nil
}

// Export implements api.Backend.
func (n *Node) Export(ctx context.Context, r code.ExportRequest, w io.Writer) error {
	if err := n.answerable(ctx); err != nil {
		return err
	}
	ctx, w, done := n.exporters.exporting(ctx, w)
	defer done()
	return code.Export(ctx, code.Sources{Set: n.set, Graphs: n.graphs}, r, w)
}

// Follow implements api.Backend. It ends with api.ErrUnavailable when the node stops.
func (n *Node) Follow(ctx context.Context, q commands.FollowRequest, each func(commands.Followed) error) error {
	if n.set == nil {
		return noRole(RoleProject)
	}
	if n.local {
		return fmt.Errorf("follow: %w: no events can arrive while this command has the data directory open: start recount up", api.ErrUnavailable)
	}
	// A position beyond the log's end belongs to another log: following would wait for a long time
	// and then begin in the middle.
	if len(q.From) > 0 {
		ends, err := n.log.Ends(ctx, n.topics()...)
		if err != nil {
			return err
		}
		for _, tp := range q.From.Partitions() {
			if end := ends[tp]; q.From[tp] > end {
				return &query.RequestError{Field: "from", Value: fmt.Sprintf("%s:%d", tp, q.From[tp]), Reason: fmt.Sprintf("beyond the end of the log, offset %d: the position belongs to another log", end)}
			}
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.stopping, cancel)()
	q.Pass = func(c *commands.Scanned) bool { return n.discreet()(c, nil) != nil }
	err := commands.Follow(ctx, n.sources(), q, each)
	if n.stopping.Err() != nil && errors.Is(err, context.Canceled) {
		return fmt.Errorf("follow: %w: the server is shutting down", api.ErrUnavailable)
	}
	return err
}

// changeGap is the least time between two calls about changes: a backlog is one change a moment.
const changeGap = 250 * time.Millisecond

// Changes implements api.Backend. Of commands it tells who may ask about those of all workspaces, of
// commits and spans who has the grants; the rest is the operator's.
func (n *Node) Changes(ctx context.Context, r api.ChangesRequest, each func(api.Changed) error) error {
	switch {
	case n.set == nil:
		return noRole(RoleProject)
	case n.local:
		return fmt.Errorf("follow changes: %w: no events can arrive while this command has the data directory open: start recount up", api.ErrUnavailable)
	}
	p, _ := access.FromContext(ctx)
	var follows []string
	for topic, may := range map[string]bool{
		schemas.TopicCommands: p.Granted(schemas.GrantCommands) && p.InWorkspace("*"),
		schemas.TopicCommits:  p.Granted(schemas.GrantCode),
		schemas.TopicSpans:    p.Granted(schemas.GrantRuntime),
		schemas.TopicAgents:   p.Operator,
		schemas.TopicFacts:    p.Operator,
	} {
		if may {
			follows = append(follows, topic)
		}
	}
	slices.Sort(follows)
	topics := map[string]string{} // on the log, by name
	for _, name := range follows {
		topics[n.log.Topic(name)] = name
	}
	visible := func() schemas.Watermark {
		w := n.set.Watermark()
		maps.DeleteFunc(w, func(tp schemas.TopicPartition, _ int64) bool { return topics[tp.Topic] == "" })
		return w
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.stopping, cancel)()
	err := changes(ctx, r, n.set.Changed, visible, func(c api.Changed) error {
		for i, topic := range c.Topics {
			c.Topics[i] = topics[topic]
		}
		if c.Follows != nil {
			c.Follows = follows
		}
		return each(c)
	})
	if n.stopping.Err() != nil && errors.Is(err, context.Canceled) {
		return fmt.Errorf("follow changes: %w: the server is shutting down", api.ErrUnavailable)
	}
	return err
}

// changes compares the visible state whenever it has changed, and calls each with the topics that
// differ, changeGap apart.
func changes(ctx context.Context, r api.ChangesRequest, changed func() <-chan struct{}, visible func() schemas.Watermark, each func(api.Changed) error) error {
	seen := visible()
	first := api.Changed{Follows: []string{}, Next: seen}
	if r.From != nil {
		first.Topics = differing(r.From, seen)
	}
	if err := each(first); err != nil {
		return err
	}
	var beat <-chan time.Time
	if r.Beat > 0 {
		ticker := time.NewTicker(r.Beat)
		defer ticker.Stop()
		beat = ticker.C
	}
	for {
		next := changed()
		now := visible()
		if topics := differing(seen, now); len(topics) > 0 {
			seen = now
			if err := each(api.Changed{Topics: topics, Next: now}); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(changeGap):
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-next:
		case <-beat:
			if err := each(api.Changed{Next: seen}); err != nil {
				return err
			}
		}
	}
}

// differing lists the topics whose partitions are elsewhere in two watermarks.
func differing(a, b schemas.Watermark) []string {
	var topics []string
	for tp, next := range b {
		if a[tp] != next && !slices.Contains(topics, tp.Topic) {
			topics = append(topics, tp.Topic)
		}
	}
	slices.Sort(topics)
	return topics
}
