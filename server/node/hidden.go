package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Between an erasure's event and the rebuild of the projections without the erased events, the
// projections still hold them. Until then:
//
//   - An answer that names such an event, by its position or an id, is refused. Every hit, object and
//     edge of an answer carries its event's position.
//   - A question that sums up all events of a topic, or whose answer is written while it is read, is
//     refused if that topic has such an event.
//
// Both fail with 503: the erasure ends, and the question can be asked again.

// hiddenEvents is the set of events that the projections may still hold and no answer may show. It is
// immutable once published.
type hiddenEvents struct {
	at  map[schemas.Position]bool
	ids map[schemas.EventID]bool
	// left holds the events that the projections still hold.
	left map[schemas.Position]bool
	// over reports that the projections no longer hold any. A question that began before may still
	// have read them.
	over bool
}

// names reports whether a text, which may be JSON as encoding/json writes it, names a hidden
// event.
func (w *hiddenEvents) names(text []byte) bool {
	for _, m := range positionJSON.FindAllSubmatch(text, -1) {
		if at, err := schemas.ParsePosition(fmt.Sprintf("%s/%s/%s", m[1], m[2], m[3])); err == nil && w.at[at] {
			return true
		}
	}
	for _, m := range positionText.FindAll(text, -1) {
		if at, err := schemas.ParsePosition(string(m)); err == nil && w.at[at] {
			return true
		}
	}
	for _, m := range idText.FindAll(text, -1) {
		if id, err := schemas.ParseEventID(strings.ToLower(string(m))); err == nil && w.ids[id] {
			return true
		}
	}
	return false
}

var (
	positionJSON = regexp.MustCompile(`"topic":"([^"]+)","partition":([0-9]+),"offset":([0-9]+)`)
	positionText = regexp.MustCompile(`[A-Za-z0-9._-]+/[0-9]+/[0-9]+`)
	idText       = regexp.MustCompile(`[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)
)

// anyIn reports whether the projections still hold an event of one of the topics, given without their
// prefix.
func (w *hiddenEvents) anyIn(topics ...string) bool {
	for at := range w.left {
		if slices.Contains(topics, concerning(at.Topic)) || slices.Contains(topics, schemas.TopicName(at.Topic)) {
			return true
		}
	}
	return false
}

// hide adds events, each with its id, to those that no answer may show.
func (n *Node) hide(more map[schemas.Position]schemas.EventID) {
	n.hiding.Lock()
	defer n.hiding.Unlock()
	next := &hiddenEvents{at: map[schemas.Position]bool{}, ids: map[schemas.EventID]bool{}, left: map[schemas.Position]bool{}}
	if now := n.hidden.Load(); now != nil && !now.over {
		next.at, next.ids, next.left = maps.Clone(now.at), maps.Clone(now.ids), maps.Clone(now.left)
	}
	for at, id := range more {
		next.at[at], next.left[at] = true, true
		if !id.IsZero() {
			next.ids[id] = true
		}
	}
	n.hidden.Store(next)
}

// release removes events that the projections no longer hold from left. As long as any is left,
// answers may still name none of them, because a question that is being answered may have read
// them.
func (n *Node) release(gone func(schemas.Position) bool) {
	n.hiding.Lock()
	defer n.hiding.Unlock()
	now := n.hidden.Load()
	if now == nil || now.over {
		return
	}
	left := maps.Clone(now.left)
	maps.DeleteFunc(left, func(at schemas.Position, _ bool) bool { return gone(at) })
	n.hidden.Store(&hiddenEvents{at: now.at, ids: now.ids, left: left, over: len(left) == 0})
}

// releaseDone releases all events that were erased up to a watermark of topic erasures.
func (n *Node) releaseDone(done schemas.Watermark) {
	n.release(func(at schemas.Position) bool {
		e, ok := n.log.ErasedAt(at)
		return ok && e.By.Offset < done[e.By.TP()]
	})
}

// discreet is called before a question is asked. The returned function is called with the answer
// and its error, and returns an error if the answer must not be given.
func (n *Node) discreet() func(answer any, err error) error {
	before := n.hidden.Load()
	return func(answer any, err error) error {
		now := n.hidden.Load()
		if now == nil || now.over && now == before {
			return err
		}
		if err != nil {
			var many *query.AmbiguousError
			if now.names([]byte(err.Error())) || errors.As(err, &many) {
				return errErasing
			}
			return err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return fmt.Errorf("search for events that are being erased: %w", err)
		}
		if now.names(text) {
			return errErasing
		}
		return nil
	}
}

// summing fails if one of the topics, which a question sums up, has events that are being erased.
func (n *Node) summing(topics ...string) error {
	if now := n.hidden.Load(); now != nil && !now.over && now.anyIn(topics...) {
		return errErasing
	}
	return nil
}

var errErasing = fmt.Errorf("%w: the answer would use events that are being erased: try again when that is done", api.ErrUnavailable)
