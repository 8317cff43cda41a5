package commands

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/schemas"
)

// ShowResponse is everything known about one command.
type ShowResponse struct {
	Intent
	Detail
	Replays    []replays.Replayed `json:"replays,omitempty" doc:"How it fared when it was replayed, the latest first."`
	Event      *RawEvent          `json:"event,omitempty" doc:"The event as stored in the log; absent if the log could not be read: event_error has the reason."`
	EventError string             `json:"event_error,omitempty" doc:"Why the event could not be read from the log."`
	Watermark  schemas.Watermark  `json:"watermark" example:"recount.commands/0:42" doc:"The watermark that the answer was computed at."`
	Proof      []query.Step       `json:"proof" nullable:"false" doc:"The steps by which the answer was computed."`
}

// Detail has the other fields that a projection stores of a command.
type Detail struct {
	StatedIntent string           `json:"stated_intent,omitempty" doc:"The stated purpose, in the author's own words."`
	GitHead      string           `json:"git_head,omitempty" doc:"The commit that HEAD pointed to."`
	ParentID     *schemas.EventID `json:"parent_id,omitempty" format:"uuid" doc:"The event that led to this one."`
	OutputTail   string           `json:"output_tail,omitempty" doc:"The end of its output, with secrets redacted."`
	Tokens       []Token          `json:"tokens,omitempty" doc:"The command's structure, in source order."`
	Resources    []Resource       `json:"resources,omitempty" doc:"The resources that it reads and writes."`
	Programs     []string         `json:"programs,omitempty" doc:"The programs that it runs, in order."`
	Concepts     []string         `json:"concepts,omitempty" doc:"The concept classes of the command."`
	Complexity   uint32           `json:"complexity" example:"1" doc:"The number of commands, operators, redirections and substitutions."`
	Confidence   float32          `json:"confidence" example:"1" doc:"Confidence of the interpretation, 0 to 1."`
	ContextHash  string           `json:"context_hash" example:"9f86d081884c7d65" doc:"xxh3 over cwd, shell, user, host, git head and env, in hex."`
	ContentHash  string           `json:"content_hash" example:"2c26b46b68ffc68f" doc:"xxh3 over the command with white space folded, in hex: equal for commands with the same text."`
	Embedder     string           `json:"embedder,omitempty" example:"hash/1" doc:"The embedder that made the vector."`
}

// Token is a structural part of a command.
type Token struct {
	Kind   string `json:"kind" example:"flag" doc:"binary, subcommand, flag, argument, pipe, …"`
	Text   string `json:"text" example:"-af" doc:"Its text."`
	Offset uint32 `json:"offset" example:"19" doc:"Its byte position in the command."`
}

// Resource is something a command reads or writes.
type Resource struct {
	Kind   string `json:"kind" example:"path" doc:"path, url, container, image, host, branch, package, port."`
	Name   string `json:"name" example:"/src/app/Makefile" doc:"Its canonical name."`
	Access string `json:"access,omitempty" example:"read" doc:"read, write or read_write."`
}

// RawEvent is an event as stored in the log.
type RawEvent struct {
	Position    schemas.Position  `json:"position" doc:"Its position."`
	ID          schemas.EventID   `json:"id" format:"uuid" doc:"Its id."`
	Type        string            `json:"type" example:"command.executed" doc:"Its CloudEvents type."`
	Source      string            `json:"source" example:"recount" doc:"Its CloudEvents source."`
	Time        time.Time         `json:"time" doc:"Its CloudEvents time."`
	Appended    time.Time         `json:"appended" doc:"The log record's timestamp."`
	Key         string            `json:"key,omitempty" doc:"The key that chose its partition."`
	ContentType string            `json:"content_type" example:"application/json" doc:"The media type of the payload."`
	Headers     map[string]string `json:"headers,omitempty" doc:"The record's headers."`
	Payload     []byte            `json:"payload" doc:"The payload, in base64."`
}

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
		r.readEvent(ctx, s, root.pos)
	}
	return r, nil
}

// fill copies all fields of a row except its embedding.
func fill(v *segment.View) (Intent, Detail) {
	var r Detail
	row := v.Row()
	r.StatedIntent, r.GitHead, r.OutputTail = row.StatedIntent, row.GitHead, row.OutputTail
	if !row.Parent.IsZero() {
		r.ParentID = &row.Parent
	}
	for _, t := range row.Tokens {
		r.Tokens = append(r.Tokens, Token{enumName(t.Kind, "TOKEN_KIND_"), t.Text, t.Offset})
	}
	for _, x := range row.Resources {
		access := ""
		if x.Access != recountv1.Access_ACCESS_UNSPECIFIED {
			access = enumName(x.Access, "ACCESS_")
		}
		r.Resources = append(r.Resources, Resource{enumName(x.Kind, "RESOURCE_KIND_"), x.Name, access})
	}
	r.Programs, r.Concepts = row.Programs, row.Concepts
	r.Complexity, r.Confidence, r.Embedder = row.Complexity, row.Confidence, row.Embedder
	r.ContextHash = fmt.Sprintf("%016x", row.ContextHash)
	r.ContentHash = fmt.Sprintf("%016x", row.ContentHash)
	return intentOf(v), r
}

func enumName(e fmt.Stringer, prefix string) string {
	return strings.ToLower(strings.TrimPrefix(e.String(), prefix))
}

// readEvent adds the event as stored in the log. If the log cannot be read, the answer has
// the interpretation without the event.
func (r *ShowResponse) readEvent(ctx context.Context, s Sources, pos schemas.Position) {
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
