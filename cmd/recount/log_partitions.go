package main

import (
	"github.com/spf13/cobra"

	"github.com/recountdb/recount/server/api"
)

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
				return usagef("--topic: none given")
			}
			if q.Partitions < 1 {
				return usagef("--count %d: want how many partitions the topic is to have in all", q.Partitions)
			}
			return a.withBackendFor(cmd.Context(), a.toWrite, func(b *backend) error {
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
