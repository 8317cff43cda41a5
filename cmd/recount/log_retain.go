package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

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
				return usagef("--age %s: want a time such as 720h", age)
			}
			if size != "" {
				n, err := node.ParseSize(size)
				if err != nil || n == 0 {
					return usagef("--size %q: want a size such as 10GiB", size)
				}
				r.Bytes = int64(n)
			}
			return a.withBackend(cmd.Context(), func(b *backend) error { return a.retain(cmd.Context(), b, r, dry, yes) })
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

func (a *app) retain(ctx context.Context, b *backend, r api.RetainRequest, dry, yes bool) error {
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
		if err := a.confirm(fmt.Sprintf("Give up %s of %s for good?", render.Count(int(would.Events), "event"), would.Topic), false); err != nil {
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
