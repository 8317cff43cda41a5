package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func (a *app) rebuildCmd() *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "rebuild [--projection NAME]",
		Short: "Make projections anew from the log",
		Long: `Replay the log from offset zero into new projections beside the live ones, and
switch to them at once when they have caught up. The live ones answer meanwhile;
an interrupted rebuild leaves them as they are.`,
		Example: "  recount rebuild\n  recount rebuild --projection lexical",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rebuild := func(b *backend) error {
				r, err := b.Rebuild(cmd.Context(), api.RebuildRequest{Projections: names}, a.progress())
				a.clearProgress()
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(r)
				}
				for _, p := range r.Projections {
					a.printf("%s rebuilt up to %s\n", p.Name, p.Watermark)
				}
				a.printf("%s events in %s, %s a second\n", thousands(r.Events), took(time.Duration(r.ElapsedMS)*time.Millisecond), thousands(int64(r.PerSecond)))
				return nil
			}
			err := a.withBackend(cmd.Context(), rebuild)
			// State that is too damaged to be opened is removed before it is rebuilt.
			var damaged *node.DamagedError
			if !errors.As(err, &damaged) {
				return err
			}
			cfg, cerr := a.nodeConfig()
			if cerr == nil {
				cerr = node.Reset(cfg.DataDir, names)
			}
			if cerr != nil {
				return cerr
			}
			return a.withBackend(cmd.Context(), rebuild)
		},
	}
	c.Flags().StringSliceVar(&names, "projection", nil, "which, comma-separated (default all)")
	return c
}

func (a *app) verifyCmd() *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "verify [--projection NAME]",
		Short: "Prove that the projections are what the log says",
		Long: `Replay the log from offset zero into a scratch directory and compare with the live
projections: roots, every key, and sealed files byte for byte. Changes nothing.
Exits with 1 and says where, if anything differs.`,
		Example: "  recount verify\n  recount verify --projection segment --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBackend(cmd.Context(), func(b *backend) error {
				r, err := b.Verify(cmd.Context(), api.VerifyRequest{Projections: names}, a.progress())
				a.clearProgress()
				if err != nil {
					return err
				}
				if a.json {
					err = a.printJSON(r)
				} else {
					a.printVerify(r)
				}
				if err == nil && !r.OK {
					return exitError(exitNothing)
				}
				return err
			})
		},
	}
	c.Flags().StringSliceVar(&names, "projection", nil, "which, comma-separated (default all)")
	return c
}

func (a *app) printVerify(r api.VerifyReport) {
	for _, p := range r.Projections {
		mark := a.paint(green, "equal  ")
		if p.Differing > 0 || p.Error != "" || p.Live != p.Replayed {
			mark = a.paint(red, "DIFFERS")
		}
		a.printf("%s %-8s %s keys, %d files, root %s\n", mark, p.Name, thousands(p.Keys), p.Files, p.Live)
		if p.Live != p.Replayed {
			a.printf("                 but replayed %s\n", p.Replayed)
		}
		if p.Error != "" {
			a.printf("        %s\n", a.paint(red, p.Error))
		}
		for _, d := range p.Differences {
			where := d.Key
			if d.File != "" {
				where = d.File
			}
			line := fmt.Sprintf("%s %s", d.Kind, where)
			if d.Live != "" || d.Replayed != "" {
				line += fmt.Sprintf(" at byte %d: live %s, replayed %s", d.Byte, d.Live, d.Replayed)
			}
			a.printf("        %s\n", line)
		}
		if more := p.Differing - int64(len(p.Differences)); more > 0 {
			a.printf("        and %s more\n", thousands(more))
		}
	}
	for _, tp := range r.Unread {
		a.printf("%s %s: nobody reads this partition, so its events are in neither\n", a.paint(red, "UNREAD "), tp)
	}
	a.printf("%s events replayed in %s\n", thousands(r.Events), took(time.Duration(r.ElapsedMS)*time.Millisecond))
	if r.Erased > 0 {
		a.printf("%s erased: recount log tail --topic erasures tells by what\n", counted(r.Erased, "event"))
	}
}
