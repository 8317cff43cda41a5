// Package processors turns events into records: it takes log records and returns one record for
// each, in the same order.
//
// Records is a pure function of its input and of the chain. It reads no clock, random source, file
// or network, and its caches affect only its speed, so the live stream and a rebuild make the same
// bytes from the same log. No event that a producer can append stops it: an event that can never be
// understood, or that makes a processor panic, becomes a record whose body is Rejected.
//
// To add a kind of event, add a folder below this one with a Func, and a line to table.
package processors

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/agent"
	"github.com/recountdb/recount/processors/feedback"
	"github.com/recountdb/recount/processors/records"
	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/processors/span"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Chain configures how a batch is processed.
type Chain = records.Chain

var table = slices.Concat(records.Commands, records.Table{
	{Type: schemas.TypeSourceRevised, Name: source.Name, Func: source.Revised, Check: source.Check},
	{Type: schemas.TypeCommitRecorded, Name: source.Name, Func: source.Commit, Check: source.Check},
	{Type: schemas.TypeRefMoved, Name: source.Name, Func: source.Ref},
	{Type: schemas.TypeRetired, Name: source.Name, Func: source.Retired},
	{Type: schemas.TypeSpansExported, Name: span.Name, Func: span.Exported, Wire: span.Wire},
	{Type: schemas.TypeSpansSummarised, Name: span.Name, Func: span.Summarised},
	{Type: schemas.TypeAccessLogged, Name: span.Name, Func: span.Logged, Check: span.CheckLogged},
	{Type: schemas.TypeFeedbackGiven, Name: feedback.Name, Func: feedback.Given, Check: feedback.Check},
	{Type: schemas.TypeContextReturned, Name: feedback.Name, Func: feedback.Returned, Check: feedback.Check},
	{Topic: schemas.TopicAgents, Name: agent.Name, Prepare: agents, Check: agent.Check},
})

// Records makes one record of each log record, in order.
func Records(ctx context.Context, in []schemas.LogRecord, c Chain) ([]*recountv1.Record, error) {
	return table.Records(ctx, in, c)
}

// Check returns the error with which Records would reject an event (records.Table.Check).
func Check(e schemas.Event, payload proto.Message) error { return table.Check(e, payload) }

// ProcessorVersions returns the names and versions of the processors for the events of the topics.
func ProcessorVersions(topics ...string) []string { return table.Versions(topics...) }

// DefaultChain returns the chain that the shipped pipelines use.
func DefaultChain() Chain { return records.DefaultChain() }

// agents returns the processor of agents' events.
func agents(c Chain) records.Func {
	objects := agent.Remembering(c.Commands)
	return func(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
		if err := objects(e, payload, rec); err != nil {
			return err
		}
		agent.Embed(rec.GetObjects(), c.Embedder)
		return nil
	}
}
