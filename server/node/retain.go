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
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// RetentionConfig configures how long topics are kept, for those from which events may be removed.
type RetentionConfig struct {
	Spans KeepConfig `yaml:"spans"`
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
		return fmt.Errorf("%s.age: %s: want %s or more, or 0 for no bound", field, k.Age, minAge)
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
		return 0, fmt.Errorf("%q: want a size such as 10GiB, with KiB, MiB, GiB, TiB or none of them for bytes", text)
	}
	return Size(n * unit), nil
}

// Retain implements api.Backend.
//
//  1. It selects what to remove: by the times of the records, or by the topic's size.
//  2. It appends the sums of the spans to be removed (summarise.go). Durable step 1: the sums have no
//     effect by themselves, and after a crash nobody reads them.
//  3. It appends records.retired. Durable step 2: from here on nobody reads what is before its cuts, and
//     projections that start from zero get the sums instead. It is one event: a crash leaves both effects
//     or neither.
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
	keep := n.cfg.Retention.Spans
	if r.AgeSeconds > 0 || r.Bytes > 0 {
		keep = KeepConfig{Age: time.Duration(r.AgeSeconds) * time.Second, Size: Size(r.Bytes)}
	}
	if err := keep.validate("retention of spans"); err != nil {
		return report, schemas.Poisonf("%w", err)
	}
	if !keep.bounds() {
		return report, schemas.Poisonf("retention of spans: no bound is configured (retention.spans.age, retention.spans.size), and none was asked for (--age, --size)")
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
	if n.set == nil {
		return report, fmt.Errorf("retain: the sums of what goes are made by a process that has the projections: %w", noRole(RoleProject))
	}
	m := newMeter(progress)
	_, follows := n.log.Summaries()
	summaries, sums, err := n.summarise(ctx, plan.Cuts, m)
	if err != nil {
		return report, fmt.Errorf("retain: sum up what goes: %w", err)
	}
	at, err := n.appendRetired(ctx, keep, plan, summaries, follows)
	if err != nil {
		return report, fmt.Errorf("retain: %w", err)
	}
	report.Event, report.Sums = &at, sums
	if report.Rebuilt, err = n.settle(ctx, m, nil); err != nil {
		return report, fmt.Errorf("retain: it is on the log and will be finished at the next start: %w", err)
	}
	if n.log.Void(at) {
		return report, fmt.Errorf("%w: another process applied retention meanwhile, and this one did not: ask again", api.ErrBusy)
	}
	return report, nil
}

func (n *Node) appendRetired(ctx context.Context, keep KeepConfig, plan pipeline.Cutting, summaries []schemas.Position, follows schemas.Position) (schemas.Position, error) {
	now := time.Now().UTC()
	payload := &recountv1.RecordsRetired{Rule: keep.String(), RetiredAt: timestamppb.New(now)}
	for _, tp := range slices.SortedFunc(maps.Keys(plan.Cuts), schemas.TopicPartition.Compare) {
		c := plan.Cuts[tp]
		at := schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: c.First}
		payload.Cuts = append(payload.Cuts, &recountv1.RetiredCut{Position: at.Proto(), Time: timestamppb.New(c.Known)})
	}
	for _, at := range summaries {
		payload.Summaries = append(payload.Summaries, at.Proto())
	}
	if follows != (schemas.Position{}) {
		payload.Follows = follows.Proto()
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
	keep := n.cfg.Retention.Spans
	if !keep.bounds() {
		return nil
	}
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		if err := n.retainNow(ctx, keep); err != nil && ctx.Err() == nil {
			n.cfg.Logger.Warn("retention is not applied; trying again", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// retainNow applies the retention if there is enough to remove.
func (n *Node) retainNow(ctx context.Context, keep KeepConfig) error {
	lax := api.RetainRequest{AgeSeconds: int64((keep.Age + keep.Age/8) / time.Second), Bytes: int64(keep.Size + keep.Size/8), DryRun: true}
	over, err := n.Retain(ctx, lax, nil)
	if err != nil || over.Events == 0 {
		return err
	}
	done, err := n.Retain(ctx, api.RetainRequest{}, nil)
	if err == nil {
		n.cfg.Logger.Info("old spans were given up", "rule", done.Rule, "events", done.Events, "known_since", done.Known)
	}
	return err
}

// spansSince returns since when spans are known, and since when their sums are, because retention
// removed what came before; zero if nothing was removed.
func (n *Node) spansSince() (spans, sums time.Time) {
	for _, c := range n.log.Cuts() {
		if c.Known.After(spans) {
			spans = c.Known
		}
		if c.Unsummed.After(sums) {
			sums = c.Unsummed
		}
	}
	return spans, sums
}
