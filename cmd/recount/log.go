package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func (a *app) logCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "log",
		Short: "Look at the log as it is: topics, events, positions",
		Long: `Look at the log as it is. With a server running this goes through its Kafka
listener, as any Kafka client could.`,
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
	c.Flags().Int64VarP(&o.Last, "last", "n", 10, "how many events of each partition to begin with")
	c.Flags().Bool("all", false, "begin with the first event")
	c.Flags().BoolVarP(&o.Follow, "follow", "f", false, "go on with what is appended")
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
		Long: `Append what the standard input holds, one record a line, as any Kafka client would:
nothing is checked, redacted or left out as a duplicate. What is no event is
appended all the same and lands in the rejected topic when it is read. For
commands, use record or import.`,
		Example: `  echo '{"command":"make test","cwd":"/src/app"}' | recount log produce
  recount log produce --topic commands --key /src/app < events.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithLog(cmd.Context(), true, func(l *pipeline.Log) error {
				var headers []schemas.Header
				if typ != "" {
					headers = []schemas.Header{{Key: "ce_type", Value: []byte(typ)}}
				}
				in := bufio.NewReaderSize(a.In, 64<<10)
				for n := 1; ; n++ {
					line, err := in.ReadBytes('\n')
					if value := bytes.TrimRight(line, "\r\n"); len(value) > 0 {
						r := schemas.LogRecord{Position: schemas.Position{Topic: topic, Partition: partition}, Value: value, Headers: headers}
						if key != "" {
							r.Key = []byte(key)
						}
						at, err := l.Produce(cmd.Context(), r)
						if err != nil {
							return fmt.Errorf("line %d: %w", n, err)
						}
						if a.JSON {
							if err := json.NewEncoder(a.Out).Encode(at[0]); err != nil {
								return err
							}
						} else {
							a.Printf("%s\n", at[0])
						}
					}
					if errors.Is(err, io.EOF) {
						return nil
					}
					if err != nil {
						return fmt.Errorf("standard input: %w", err)
					}
				}
			})
		},
	}
	c.Flags().StringVar(&topic, "topic", schemas.TopicCommands, "the topic, with or without prefix")
	c.Flags().StringVar(&key, "key", "", "the key, which decides the partition")
	c.Flags().Int32Var(&partition, "partition", -1, "the partition (default by the key)")
	c.Flags().StringVar(&typ, "type", "", "the event's type, such as outcome.observed (default the topic's)")
	return c
}

func (a *app) logPartitionsCmd() *cobra.Command {
	var q api.GrowRequest
	c := &cobra.Command{
		Use:   "partitions --topic TOPIC --count N",
		Short: "Give a topic more partitions",
		Long: `Give a topic more partitions, in all N, while it is written and read: everybody who
reads it goes on with the new ones within seconds. A topic never gets fewer.

What Recount appends stays in the partitions where its keys are, so that what belongs
together keeps its order; the new ones are for other Kafka clients that append. Kafka's
own tools are refused this on the embedded log.`,
		Example: "  recount log partitions --topic commands --count 8",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Topic == "" {
				return usage.Errorf("--topic: none given")
			}
			if q.Partitions < 1 {
				return usage.Errorf("--count %d: want how many partitions the topic is to have in all", q.Partitions)
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
	c.Flags().IntVar(&q.Partitions, "count", 0, "how many partitions it is to have in all")
	return c
}

func (a *app) logRetainCmd() *cobra.Command {
	var age time.Duration
	var topic, size string
	var dry, yes bool
	c := &cobra.Command{
		Use:   "retain",
		Short: "Give up old spans, commands or agents' events",
		Long: `Remove events of a topic that came in longer ago than --age, or the oldest until the
topic takes no more than --size; without either what the configuration says
(retention.spans, retention.commands, retention.agents), which a server applies by
itself.

That is an event on the log (records.retired), so that whoever makes the projections
anew makes the same. No answer shows what was removed. Of spans the sums stay, by the
hour: traffic, services, calls and latencies. Of commands and agents' events the ids
stay, 16 bytes each, so that no import brings them back. Answers and status say since
when a topic is known. It first shows what would go, and asks. There is no way back.`,
		Example: `  recount log retain --dry-run
  recount log retain --age 720h --size 10GiB --yes
  recount log retain --topic commands --age 8760h`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	f.StringVar(&topic, "topic", "spans", "the topic: spans, commands or agents; another one is refused, and why")
	f.DurationVar(&age, "age", 0, "give up what came in longer ago")
	f.StringVar(&size, "size", "", "give up the oldest until the topic takes no more, about: 10GiB")
	f.BoolVar(&dry, "dry-run", false, "show what would go, and remove nothing")
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
		if err := a.Confirm(fmt.Sprintf("Give up %s of %s for good?", render.Count(int(would.Events), "event"), would.Topic), false); err != nil {
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
