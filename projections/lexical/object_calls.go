package lexical

import (
	"fmt"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A question about a tool's output has the words of the call ("what did make lint print"), and those
// of the output, in two objects. So each part of a result has the terms of the call that it belongs
// to, and is found by both. A call is known by its session and the id that call and result name, and
// only to objects of its own audience; of several with one id the last before the result counts. A
// result that is in the log before its call has its own terms only.

// maxCallText is how many bytes of a call's text its results have, which is the whole of most calls,
// and of one that writes a file the path and the beginning.
const maxCallText = 1 << 10

// maxKeptCalls is how many calls a writer keeps between batches, before it drops them all.
const maxKeptCalls = 1 << 10

// callID identifies a call within a shard.
type callID struct {
	audience uint32
	id       schemas.EventID
}

// callIDOf returns the id of the call that an object is or belongs to, and false for anything else.
func callIDOf(audience uint32, o *recountv1.Object) (callID, bool) {
	if o.GetTool().GetCallId() == "" {
		return callID{}, false
	}
	return callID{audience, schemas.NewCanon("lexical/call").String(o.Session).String(o.Tool.CallId).ID()}, true
}

// keepCall stores the text of a call for its results.
func (w *objectWriter) keepCall(t *store.Txn, audience uint32, o *recountv1.Object) error {
	id, ok := callIDOf(audience, o)
	if !ok {
		return nil
	}
	text := schemas.Clip(o.Text, maxCallText)
	w.calls[id] = text
	w.key = appendCallKey(w.key[:0], t.Shard(), id)
	if err := t.Set(w.key, []byte(text)); err != nil {
		return fmt.Errorf("set a call: %w", err)
	}
	return nil
}

// callOf returns the text of the call that a result belongs to, "" if it is not known.
func (w *objectWriter) callOf(t *store.Txn, audience uint32, o *recountv1.Object) (string, error) {
	id, ok := callIDOf(audience, o)
	if !ok {
		return "", nil
	}
	if text, ok := w.calls[id]; ok {
		return text, nil
	}
	w.key = appendCallKey(w.key[:0], t.Shard(), id)
	text, _, err := t.Get(w.key)
	return string(text), err
}
