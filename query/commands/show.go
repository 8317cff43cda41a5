package commands

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/schemas"
)

// Show finds one command by its id, an unambiguous prefix of it, or its
// position. An error is a *NotFoundError, an *AmbiguousError, the context's, or
// one of the projections.
func Show(ctx context.Context, s Sources, ref string) (ShowResponse, error) {
	// The projection lexical is not needed. Events that arrive during the query are ignored.
	a, err := s.open(ctx, query.Moment{}, s.withReplays(segment.Name, narrative.Name)...)
	if err != nil {
		return ShowResponse{}, err
	}
	defer a.Close()
	root, err := a.locate(ref)
	if err != nil {
		return ShowResponse{}, err
	}
	r := ShowResponse{Watermark: a.Visible}
	err = a.segment.ViewAt(ctx, []schemas.Position{root.pos}, func(_ int, v *segment.View) error {
		r.Intent, r.Detail = fill(v)
		return nil
	})
	if err != nil {
		return ShowResponse{}, err
	}
	outcomes, err := a.graph.Outcomes(r.ID)
	if err != nil {
		return ShowResponse{}, err
	}
	outcomes = slices.DeleteFunc(outcomes, func(oc narrative.Outcome) bool { return !a.knowsOutcome(oc) })
	if len(outcomes) > 0 {
		joinOutcome(&r.Intent, outcomes[0])
		if r.OutputTail == "" {
			r.OutputTail = outcomes[0].OutputTail
		}
		st := query.Step{Operator: "outcome", Counts: map[string]int64{"observed": int64(len(outcomes))}}
		for _, oc := range outcomes {
			st.Hits = append(st.Hits, query.Evidence{Position: oc.Position})
		}
		a.Step(st)
	}
	if a.replays != nil {
		if r.Replays, err = replays.OfCommand(a.replays, r.ID, a.Visible, a.as.Time); err != nil {
			return ShowResponse{}, err
		}
	}
	r.Proof = a.Proof
	if s.Event != nil {
		readEvent(ctx, s, &r, root.pos)
		// If the log cannot be read, event_error has the reason.
		if seen, err := s.changedBy(ctx, root.pos, outcomes); err == nil {
			r.Changes = changesOf(seen)
		}
	}
	return r, nil
}

// fill copies all fields of a row except its embedding.
func fill(v *segment.View) (Intent, Detail) {
	r := Detail{
		StatedIntent: strings.Clone(v.StatedIntent()), GitHead: strings.Clone(v.GitHead()), OutputTail: strings.Clone(v.OutputTail()),
		Embedder: strings.Clone(v.Embedder()), Programs: copies(v.Programs()), Concepts: copies(v.Concepts()),
		Complexity: v.Complexity(), Confidence: v.Confidence(),
		ContextHash: fmt.Sprintf("%016x", v.ContextHash()), ContentHash: fmt.Sprintf("%016x", v.ContentHash()),
	}
	if parent := v.Parent(); !parent.IsZero() {
		r.ParentID = &parent
	}
	for t := range v.Tokens() {
		r.Tokens = append(r.Tokens, Token{Kind: enumName(t.Kind, "TOKEN_KIND_"), Text: strings.Clone(t.Text), Offset: t.Offset})
	}
	for x := range v.Resources() {
		access := ""
		if x.Access != recountv1.Access_ACCESS_UNSPECIFIED {
			access = enumName(x.Access, "ACCESS_")
		}
		r.Resources = append(r.Resources, Resource{Kind: enumName(x.Kind, "RESOURCE_KIND_"), Name: strings.Clone(x.Name), Access: access})
	}
	return intentOf(v), r
}

// copies returns texts of a row as they stay when the row is gone.
func copies(texts iter.Seq[string]) (all []string) {
	for s := range texts {
		all = append(all, strings.Clone(s))
	}
	return all
}

func enumName(e fmt.Stringer, prefix string) string {
	return strings.ToLower(strings.TrimPrefix(e.String(), prefix))
}

// readEvent adds the event as stored in the log. If the log cannot be read, the answer has
// the interpretation without the event.
func readEvent(ctx context.Context, s Sources, r *ShowResponse, pos schemas.Position) {
	lr, err := s.Event(ctx, pos)
	if err != nil {
		r.EventError = err.Error()
		return
	}
	e, err := lr.Event()
	if err != nil {
		r.EventError = err.Error()
		return
	}
	r.Event = &RawEvent{
		Position: pos, ID: e.ID, Type: e.Type, Source: e.Source, Time: e.Time, Appended: lr.Timestamp.UTC(),
		Key: string(e.Key), ContentType: e.ContentType, Payload: e.Payload, Headers: map[string]string{},
	}
	for _, h := range lr.Headers {
		r.Event.Headers[h.Key] = string(h.Value)
	}
	r.Proof = append(r.Proof, query.Step{Operator: "event", Inputs: map[string]string{"bytes": strconv.Itoa(len(e.Payload))}, Hits: []query.Evidence{{Position: pos}}})
}
