package node

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// RetentionConfig configures how long topics are kept, for those from which events may be removed.
type RetentionConfig struct {
	Spans    KeepConfig `yaml:"spans"`
	Commands KeepConfig `yaml:"commands"`
	Agents   KeepConfig `yaml:"agents"`
}

// keepConfig returns the bounds of a topic, without its prefix.
func (r RetentionConfig) keepConfig(topic string) KeepConfig {
	switch topic {
	case schemas.TopicSpans:
		return r.Spans
	case schemas.TopicCommands:
		return r.Commands
	case schemas.TopicAgents:
		return r.Agents
	}
	return KeepConfig{}
}

// KeepConfig limits what is kept of a topic; zero is no limit.
type KeepConfig struct {
	// Age is the maximum age of an event.
	Age time.Duration `yaml:"age"`
	// Size is the maximum size of the topic: bytes, or with KiB, MiB, GiB, TiB.
	Size Size `yaml:"size"`
}

// minAge is the minimum of Age: younger events may still be on their way.
const minAge = time.Minute

func (k KeepConfig) validate(field string) error {
	switch {
	case k.Age != 0 && k.Age < minAge:
		return fmt.Errorf("%s.age: %s: want at least %s, or 0 for no limit", field, query.Took(k.Age), query.Took(minAge))
	case k.Size < 0:
		return fmt.Errorf("%s.size: %d: want 0 or more", field, k.Size)
	}
	return nil
}

func (k KeepConfig) bounds() bool { return k.Age > 0 || k.Size > 0 }

func (k KeepConfig) String() string {
	var parts []string
	if k.Age > 0 {
		parts = append(parts, "age "+k.Age.String())
	}
	if k.Size > 0 {
		parts = append(parts, fmt.Sprintf("size %d bytes", k.Size))
	}
	return strings.Join(parts, ", ")
}

// Size is a number of bytes.
type Size int64

// UnmarshalText parses sizes such as "10GiB".
func (s *Size) UnmarshalText(b []byte) error {
	n, err := ParseSize(string(b))
	*s = n
	return err
}

// ParseSize parses a number of bytes: 1048576, 1024KiB, 1MiB.
func ParseSize(text string) (Size, error) {
	number, unit := strings.TrimSpace(text), int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = strings.TrimSpace(rest), 1<<(10*(i+1))
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q: want a size such as 10GiB, in KiB, MiB, GiB, TiB, or without a unit in bytes", text)
	}
	return Size(n * unit), nil
}

// Retain implements api.Backend.
//
//  1. It selects what to remove: by the times of the records, or by the topic's size.
//  2. It appends the sums of the spans to be removed (summarise.go), or the ids of the events of
//     another topic (retiredids.go). Durable step 1: they have no effect by themselves, and after a
//     crash nobody reads them.
//  3. It appends records.retired. Durable step 2: from here on nobody reads what is before its cuts,
//     projections that start from zero get the sums instead, and events with these ids are not
//     appended again. It is one event: a crash leaves all effects or none.
//  4. As with an erasure (erase.go), the brokers delete the records, the projections are rebuilt from what
//     is left, and erasedFile records that this is done.
//
// So the state afterwards is that of a rebuild, because it is one.
func (n *Node) Retain(ctx context.Context, r api.RetainRequest, progress func(api.Progress)) (report api.RetainReport, err error) {
	began := time.Now()
	topic := n.log.Topic(cmp.Or(r.Topic, schemas.TopicSpans))
	if err := n.log.CheckRetirable(topic); err != nil {
		return report, err
	}
	name := schemas.TopicName(topic)
	keep := n.cfg.Retention.keepConfig(name)
	if r.AgeSeconds > 0 || r.Bytes > 0 {
		keep = KeepConfig{Age: time.Duration(r.AgeSeconds) * time.Second, Size: Size(r.Bytes)}
	}
	if err := keep.validate("retention of " + name); err != nil {
		return report, schemas.Poisonf("%w", err)
	}
	if !keep.bounds() {
		return report, schemas.Poisonf("retention of %s: no limit is configured (retention.%[1]s.age, retention.%[1]s.size), and none was given (--age, --size)", name)
	}
	ctx, done, err := n.erasing(ctx)
	if err != nil {
		return report, err
	}
	defer done()
	report = api.RetainReport{Topic: topic, Rule: keep.String(), DryRun: r.DryRun, Starts: schemas.Watermark{}}
	defer func() { report.Elapsed = sinceMS(began) }()
	var before time.Time
	if keep.Age > 0 {
		before = began.Add(-keep.Age)
	}
	plan, err := n.log.PlanRetention(ctx, topic, before, int64(keep.Size))
	if err != nil {
		return report, fmt.Errorf("retain: %w", err)
	}
	report.Events, report.Bytes = plan.Events, plan.Bytes
	for tp, c := range plan.Cuts {
		report.Starts[tp] = c.First
		if report.Known == nil || c.Known.After(*report.Known) {
			known := c.Known
			report.Known = &known
		}
	}
	if r.DryRun || len(plan.Cuts) == 0 {
		return report, nil
	}
	m := newMeter(progress)
	payload := &recountv1.RecordsRetired{Rule: keep.String()}
	if name != schemas.TopicSpans {
		if payload.Ids, err = n.appendRetiredIDs(ctx, topic, plan.Cuts, m); err != nil {
			return report, fmt.Errorf("retain: store the ids of the events to remove: %w", err)
		}
	} else if report.Sums, err = n.appendSums(ctx, payload, plan.Cuts, m); err != nil {
		return report, fmt.Errorf("retain: sum up the spans to remove: %w", err)
	}
	at, err := n.appendRetired(ctx, payload, plan)
	if err != nil {
		return report, fmt.Errorf("retain: %w", err)
	}
	report.Event = &at
	if report.Rebuilt, err = n.carryOutErasures(ctx, m, nil); err != nil {
		return report, fmt.Errorf("retain: it is in the log and will be finished at the next start: %w", err)
	}
	if n.log.Void(at) {
		return report, fmt.Errorf("%w: another process applied retention in the meantime: try again", api.ErrBusy)
	}
	return report, nil
}

// appendSums appends the sums of what goes, and has payload name them.
func (n *Node) appendSums(ctx context.Context, payload *recountv1.RecordsRetired, cuts map[schemas.TopicPartition]pipeline.Cut, m *meter) (sums int64, err error) {
	if n.set == nil {
		return 0, fmt.Errorf("only a process that has the projections can make the sums: %w", noRole(RoleProject))
	}
	_, follows := n.log.Summaries()
	at, sums, err := n.summarise(ctx, cuts, m)
	for _, p := range at {
		payload.Summaries = append(payload.Summaries, p.Proto())
	}
	if follows != (schemas.Position{}) {
		payload.Follows = follows.Proto()
	}
	return sums, err
}

// appendRetired completes and appends a records.retired.
func (n *Node) appendRetired(ctx context.Context, payload *recountv1.RecordsRetired, plan pipeline.Cutting) (schemas.Position, error) {
	now := time.Now().UTC()
	payload.RetiredAt = timestamppb.New(now)
	for _, tp := range slices.SortedFunc(maps.Keys(plan.Cuts), schemas.TopicPartition.Compare) {
		c := plan.Cuts[tp]
		at := schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: c.First}
		payload.Cuts = append(payload.Cuts, &recountv1.RetiredCut{Position: at.Proto(), Time: timestamppb.New(c.Known)})
	}
	if err := schemas.Validate(payload); err != nil {
		return schemas.Position{}, err
	}
	data, err := schemas.EncodePayload(payload)
	if err != nil {
		return schemas.Position{}, err
	}
	e := schemas.Event{
		Type: schemas.TypeRecordsRetired, Source: schemas.DefaultSource, Time: now, Key: schemas.KeyOf(payload),
		ContentType: schemas.ContentJSON, Payload: data,
	}
	e.ID = e.DeriveID()
	at, err := n.log.Append(ctx, schemas.TopicErasures, e)
	if err != nil {
		return schemas.Position{}, err
	}
	return at[0], nil
}

// retainEvery is the interval at which a server applies its retention.
const retainEvery = time.Hour

// retain applies the configured retention until ctx ends. It removes at least an eighth of the age
// or the size each time, because each removal rebuilds what is left.
func (n *Node) retain(ctx context.Context) error {
	topics := slices.DeleteFunc(schemas.Topics(), func(t string) bool { return !n.cfg.Retention.keepConfig(t).bounds() })
	if len(topics) == 0 {
		return nil
	}
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		for _, topic := range topics {
			if err := n.retainNow(ctx, topic); err != nil && ctx.Err() == nil {
				n.cfg.Logger.Warn("retention could not be applied; trying again", "topic", topic, "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// retainNow applies the retention of a topic if there is enough to remove.
func (n *Node) retainNow(ctx context.Context, topic string) error {
	keep := n.cfg.Retention.keepConfig(topic)
	lax := api.RetainRequest{Topic: topic, AgeSeconds: int64((keep.Age + keep.Age/8) / time.Second), Bytes: int64(keep.Size + keep.Size/8), DryRun: true}
	over, err := n.Retain(ctx, lax, nil)
	if err != nil || over.Events == 0 {
		return err
	}
	done, err := n.Retain(ctx, api.RetainRequest{Topic: topic}, nil)
	if err == nil {
		n.cfg.Logger.Info("retention removed old events", "topic", topic, "rule", done.Rule, "events", done.Events, "known_since", done.Known)
	}
	return err
}

// knownSince returns since when a topic's events are known, and since when their sums are, because
// retention removed what came before; zero if nothing was removed.
func (n *Node) knownSince(topic string) (events, sums time.Time) {
	for tp, c := range n.log.Cuts() {
		if tp.Topic != n.log.Topic(topic) {
			continue
		}
		if c.Known.After(events) {
			events = c.Known
		}
		if c.Unsummed.After(sums) {
			sums = c.Unsummed
		}
	}
	return events, sums
}
