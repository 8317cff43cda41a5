package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func (a *app) logCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "log",
		Short: "Inspect the log itself: topics, events, positions",
		Long: `Inspect the log itself. If a server runs, this uses its Kafka listener, as any other
Kafka client could.`,
		Example: `  recount log topics
  recount log tail -f
  echo '{"command":"make test","exit_code":2}' | recount log produce`,
	}
	c.AddCommand(a.logTopicsCmd(), a.logTailCmd(), a.logProduceCmd(), a.logPartitionsCmd(), a.logRetainCmd())
	return c
}

func (a *app) logTopicsCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "topics",
		Short:   "List the topics with their partitions and offsets",
		Example: "  recount log topics --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithLog(cmd.Context(), false, func(l *pipeline.Log) error {
				topics, err := l.Topics(cmd.Context())
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(topics)
				}
				rows := [][]string{{"TOPIC", "PARTITION", "START", "END", "EVENTS"}}
				for _, t := range topics {
					for _, p := range t.Partitions {
						rows = append(rows, []string{
							t.Name, strconv.Itoa(int(p.Partition)), strconv.FormatInt(p.Start, 10),
							strconv.FormatInt(p.End, 10), render.Thousands(p.End - p.Start),
						})
					}
				}
				render.Table(a.Out, rows)
				return nil
			})
		},
	}
}

func (a *app) logTailCmd() *cobra.Command {
	var o pipeline.TailOptions
	var topics []string
	var from string
	c := &cobra.Command{
		Use:   "tail",
		Short: "Print the last events, and follow",
		Long: `Print the last events of each partition: position, time, type, key and payload.
Order holds within a partition. With --json each event is one line.`,
		Example: `  recount log tail -n 3
  recount log tail -f --topic commands
  recount log tail --from recount.commands/0:1042
  recount log tail --topic rejected --all --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Last < 0 {
				return usage.Errorf("-n %d: want 0 or more, or --all", o.Last)
			}
			if all, _ := cmd.Flags().GetBool("all"); all {
				o.Last = -1
			}
			w, err := schemas.ParseWatermark(from)
			if err != nil {
				return usage.Errorf("--from: %w", err)
			}
			if from != "" {
				o.From = w
			}
			return a.WithLog(cmd.Context(), false, func(l *pipeline.Log) error {
				for _, t := range topics {
					o.Topics = append(o.Topics, l.Topic(t))
				}
				if o.From != nil && len(topics) == 0 {
					for _, tp := range o.From.Partitions() {
						if !slices.Contains(o.Topics, tp.Topic) {
							o.Topics = append(o.Topics, tp.Topic)
						}
					}
				}
				err := l.Tail(cmd.Context(), o, func(r schemas.LogRecord) error { return nodeview.Record(a.Terminal, r) })
				if o.Follow && errors.Is(err, context.Canceled) {
					return nil // ctrl-c is the normal end of following
				}
				return err
			})
		},
	}
	c.Flags().Int64VarP(&o.Last, "last", "n", 10, "number of events to print first from each partition")
	c.Flags().Bool("all", false, "begin at the first event")
	c.Flags().BoolVarP(&o.Follow, "follow", "f", false, "continue with new events")
	c.Flags().StringSliceVar(&topics, "topic", nil, "topics, with or without prefix (default all)")
	c.Flags().StringVar(&from, "from", "", "begin at these offsets: TOPIC/PARTITION:OFFSET,…")
	return c
}

func (a *app) logProduceCmd() *cobra.Command {
	var topic, key, typ string
	var partition int32
	c := &cobra.Command{
		Use:   "produce",
		Short: "Append raw records from the standard input, one a line",
		Long: `Append the lines of the standard input as records, as any Kafka client would: nothing
is checked, redacted or recognised as a duplicate. A line that is not an event is
appended too, and goes to the topic rejected when it is read. For commands, use record
or import.`,
		Example: `  echo '{"command":"make test","cwd":"/src/app"}' | recount log produce
  recount log produce --topic commands --key /src/app < events.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := schemas.LogRecord{Position: schemas.Position{Topic: topic, Partition: partition}}
			if typ != "" {
				r.Headers = []schemas.Header{{Key: "ce_type", Value: []byte(typ)}}
			}
			if key != "" {
				r.Key = []byte(key)
			}
			return a.WithLog(cmd.Context(), true, func(l *pipeline.Log) error { return a.produceLines(cmd.Context(), l, r) })
		},
	}
	c.Flags().StringVar(&topic, "topic", schemas.TopicCommands, "the topic, with or without prefix")
	c.Flags().StringVar(&key, "key", "", "the key, which selects the partition")
	c.Flags().Int32Var(&partition, "partition", -1, "the partition (default by the key)")
	c.Flags().Lookup("partition").DefValue = "0" // the help is not to name -1, which stands for the default
	c.Flags().StringVar(&typ, "type", "", "the event's type, such as outcome.observed (default the topic's)")
	return c
}

// produceLines appends each line of the standard input as a record that is like r, and prints where.
func (a *app) produceLines(ctx context.Context, l *pipeline.Log, r schemas.LogRecord) error {
	in := bufio.NewReaderSize(a.In, 64<<10)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if r.Value = bytes.TrimRight(line, "\r\n"); len(r.Value) > 0 {
			at, err := l.Produce(ctx, r)
			if err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if !a.JSON {
				a.Printf("%s\n", at[0])
			} else if err := render.JSON(a.Out).Encode(at[0]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
	}
}

func (a *app) logPartitionsCmd() *cobra.Command {
	var q api.GrowRequest
	c := &cobra.Command{
		Use:   "partitions --topic TOPIC --count N",
		Short: "Add partitions to a topic",
		Long: `Increase the number of partitions of a topic to N, while it is written and read. All
readers include the new partitions within seconds. The number cannot be decreased.

Recount's own keys stay in their partitions, so that related events keep their order;
the new partitions serve other Kafka clients that append. On the embedded log, Kafka's
own tools may not do this.`,
		Example: "  recount log partitions --topic commands --count 8",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Topic == "" {
				return usage.Errorf("--topic: missing")
			}
			if q.Partitions < 1 {
				return usage.Errorf("--count %d: want the new total number of partitions", q.Partitions)
			}
			return a.WithBackendFor(cmd.Context(), a.ToWrite, func(b *connect.Backend) error {
				r, err := b.Grow(cmd.Context(), q, a.Progress())
				a.ClearProgress()
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(r)
				}
				a.Printf("%s: %d partitions, before %d\n", r.Topic, r.Partitions, r.Before)
				return nil
			})
		},
	}
	c.Flags().StringVar(&q.Topic, "topic", "", "the topic, with or without prefix")
	c.Flags().IntVar(&q.Partitions, "count", 0, "the new total number of partitions")
	return c
}

func (a *app) logRetainCmd() *cobra.Command {
	var given timespec.Age
	var topic, size string
	var dry, yes bool
	c := &cobra.Command{
		Use:   "retain",
		Short: "Remove old spans, commands or agents' events",
		Long: `Remove the events of a topic that were received longer ago than --age, or the oldest
events until the topic takes no more than --size. Without either, the limits of the
configuration are used (retention.spans, retention.commands, retention.agents), which a
server also applies by itself.

Removal is an event in the log (records.retired), so that a rebuild gives the same
projections. No answer shows removed events. Hourly sums of spans are kept: traffic,
services, calls and latencies. The ids of commands and agents' events are kept, 16
bytes each, so that no import appends them again. Answers and status show from when on
a topic is known. The command first shows what it would remove and asks for
confirmation. It cannot be undone.`,
		Example: `  recount log retain --dry-run
  recount log retain --age 30d --size 10GiB --yes
  recount log retain --topic commands --age 8760h`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age := time.Duration(given)
			r := api.RetainRequest{Topic: topic, AgeSeconds: int64(age / time.Second)}
			if age != 0 && age < time.Second {
				return usage.Errorf("--age %s: want a time such as 720h", age)
			}
			if size != "" {
				n, err := node.ParseSize(size)
				if err != nil || n == 0 {
					return usage.Errorf("--size %q: want a size such as 10GiB", size)
				}
				r.Bytes = int64(n)
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error { return a.retain(cmd.Context(), b, r, dry, yes) })
		},
	}
	f := c.Flags()
	f.StringVar(&topic, "topic", "spans", "the topic: spans, commands or agents")
	f.Var(&given, "age", "remove events received longer ago than this")
	f.StringVar(&size, "size", "", "remove the oldest events until the topic takes no more than about this: 10GiB")
	f.BoolVar(&dry, "dry-run", false, "show what would be removed, and remove nothing")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) retain(ctx context.Context, b *connect.Backend, r api.RetainRequest, dry, yes bool) error {
	if dry || !yes {
		look := r
		look.DryRun = true
		would, err := b.Retain(ctx, look, a.Progress())
		a.ClearProgress()
		if err != nil {
			return err
		}
		switch {
		case dry && a.JSON:
			return a.PrintJSON(would)
		case dry || would.Events == 0:
			nodeview.Retained(a.Terminal, would)
			return nil
		}
		if !a.JSON {
			nodeview.Retained(a.Terminal, would)
		}
		if err := a.Confirm(fmt.Sprintf("Remove %s of %s permanently?", render.Count(int(would.Events), "event"), would.Topic), false); err != nil {
			return err
		}
	}
	done, err := b.Retain(ctx, r, a.Progress())
	a.ClearProgress()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(done)
	}
	nodeview.Retained(a.Terminal, done)
	return nil
}
