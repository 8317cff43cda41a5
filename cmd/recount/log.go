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

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
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
			return a.withLog(cmd.Context(), false, func(l *pipeline.Log) error {
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
				return usagef("-n %d: want 0 or more, or --all", o.Last)
			}
			if all, _ := cmd.Flags().GetBool("all"); all {
				o.Last = -1
			}
			w, err := schemas.ParseWatermark(from)
			if err != nil {
				return usagef("--from: %w", err)
			}
			if from != "" {
				o.From = w
			}
			return a.withLog(cmd.Context(), false, func(l *pipeline.Log) error {
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
			return a.withLog(cmd.Context(), true, func(l *pipeline.Log) error {
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
