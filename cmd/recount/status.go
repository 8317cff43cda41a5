package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func (a *app) statusCmd() *cobra.Command {
	var roots bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show how the log and the projections stand",
		Long: `Show what the log holds, what the projections have applied of it, and what is
known of the commands. --roots adds the hash of each projection's whole state:
equal roots are equal states.`,
		Example: "  recount status\n  recount status --roots --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answered := false
			err := a.withBackend(cmd.Context(), func(b *backend) error {
				answered = true
				if b.local != nil {
					if err := settle(cmd.Context(), b); err != nil {
						return err
					}
				}
				st, err := b.Status(cmd.Context(), api.StatusRequest{Roots: roots})
				a.clearProgress()
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(st)
				}
				a.printStatus(st, b.local != nil, time.Now())
				return nil
			})
			if cfg, bad := a.nodeConfig(); err != nil && !answered && bad == nil && !a.json {
				a.printSpool(node.SpoolStatus(cfg.DataDir, nil)) // this needs no server
			}
			return err
		},
	}
	c.Flags().BoolVar(&roots, "roots", false, "compute the root of each projection, which reads its whole state")
	return c
}

func (a *app) printStatus(st api.Status, local bool, now time.Time) {
	who := fmt.Sprintf("a server, pid %d, up %s", st.PID, took(now.Sub(st.Started)))
	if local {
		who = "no server runs; this command opened it"
	}
	a.printf("%s  %s\n", a.paint(bold, a.home(st.DataDir)), a.paint(dim, "("+who+", recount "+st.Version+")"))
	var total int64
	for _, end := range st.Log.Ends {
		total += end
	}
	a.printf("\nlog          %s events, %s\n", thousands(total), st.Log.Kind)
	if st.Log.Bytes > 0 {
		a.printf("             %s\n", strings.TrimPrefix(onDisk(st.Log.Bytes), ", "))
	}
	if len(st.Log.Brokers) > 0 {
		a.printf("             Kafka clients connect to %s\n", strings.Join(st.Log.Brokers, ", "))
	}
	if st.Log.Rejected > 0 {
		a.printf("             %s\n", a.paint(yellow, thousands(st.Log.Rejected)+" rejected: recount log tail --topic rejected"))
	}
	for _, tp := range st.Log.Unread {
		a.printf("             %s\n", a.paint(red, "nobody reads "+tp+": its events are not seen"))
	}
	if since := st.Log.SpansSince; since != nil {
		a.printf("             spans are known since %s: of what came before there are sums by the hour\n", since.Local().Format(time.DateTime))
		if sums := st.Log.SumsSince; sums != nil {
			a.printf("             sums are known since %s\n", sums.Local().Format(time.DateTime))
		}
	}
	for _, k := range []struct {
		what  string
		since *time.Time
	}{{"commands", st.Log.CommandsSince}, {"agents' events", st.Log.AgentsSince}} {
		if k.since != nil {
			a.printf("             %s are known since %s: retention removed those that came in before\n", k.what, k.since.Local().Format(time.DateTime))
		}
	}
	if st.Log.Error != "" {
		a.printf("             %s\n", a.paint(red, st.Log.Error))
	}
	if e := st.Erasing; e != nil {
		far := e.Phase
		if e.Total > 0 {
			far = fmt.Sprintf("%s, %s of %s", e.Phase, thousands(e.Done), thousands(e.Total))
		}
		a.printf("             %s\n", a.paint(yellow, fmt.Sprintf("%s being erased, in no answer any more: %s", counted(e.Events, "event"), far)))
	}
	a.printSpool(st.Spool)
	if t := st.Tokens; t != nil {
		a.printf("tokens       %s in %s\n", thousands(t.InForce), a.home(t.File))
		for _, wrong := range t.Mistakes {
			a.printf("             %s\n", a.paint(red, "not in force: "+oneLine(wrong)))
		}
	}
	i := st.Intents
	a.printf("commands     %s\n", thousands(i.Count))
	if r := i.Recent; r.Commands > 0 {
		a.printf("             of the newest %s: %s ok, %s failed, %s unknown", thousands(r.Commands), thousands(r.OK), thousands(r.Failed), thousands(r.Unknown))
		if r.OK+r.Failed > 0 {
			a.printf(" (%.1f %% of those known failed)", 100*r.FailureRate)
		}
		a.printf("\n")
	}
	if i.Oldest != nil && i.Newest != nil {
		a.printf("             from %s to %s\n", when(*i.Oldest, time.DateTime), i.Newest.Local().Format(time.DateTime))
	}
	for _, sh := range i.Shards {
		a.printf("             %s/%d: %s, %s of them not sealed yet, from %s to %s\n", sh.Topic, sh.Partition, thousands(sh.Count), thousands(sh.Hot),
			when(sh.Oldest, time.DateTime), sh.Newest.Local().Format(time.DateTime))
	}
	for n, p := range st.Projections {
		name := ""
		if n == 0 {
			name = "projections"
		}
		line := fmt.Sprintf("%s, up to date", p.Name)
		if p.Lag > 0 {
			line = fmt.Sprintf("%s, %s events behind", p.Name, thousands(p.Lag))
		}
		if p.Segments > 0 {
			line += fmt.Sprintf(", %d sealed segments", p.Segments)
		}
		if len(p.Shards) > 0 {
			var commands, vectors, files int64
			for _, sh := range p.Shards {
				commands, vectors, files = commands+int64(sh.Commands), vectors+int64(sh.Vectors), files+int64(sh.Files)
			}
			line += fmt.Sprintf(", %s distinct vectors of %s commands, %s sealed files", thousands(vectors), thousands(commands), thousands(files))
		}
		line += onDisk(p.Bytes)
		if p.Root != nil {
			line += ", root " + p.Root.String()
		}
		a.printf("%-12s %s\n", name, line)
	}
}

// printSpool prints the state of the spool if entries wait or something is wrong.
func (a *app) printSpool(s api.SpoolStatus) {
	var lines []string
	say := func(colour, format string, args ...any) {
		lines = append(lines, a.paint(colour, plainText(fmt.Sprintf(format, args...))))
	}
	if s.Waiting > 0 {
		say(yellow, "%s recorded and not in the log yet", thousands(int64(s.Waiting)))
	}
	for _, to := range s.Servers {
		say(yellow, "%s to be sent to %s", thousands(int64(to.Waiting)), to.URL)
	}
	if s.Fault != "" {
		say(red, "%s", s.Fault)
	}
	file := func(name string) string { return a.home(filepath.Join(s.Dir, name)) }
	if s.Lost > 0 {
		say(red, "%s commands were not recorded, the last %s: nothing could be written; remove %s once you know", thousands(s.Lost), s.LastLost.Local().Format(time.DateTime), file("lost"))
	}
	if s.DamagedBytes > 0 {
		say(red, "%s bytes could not be read: they are in %s", thousands(s.DamagedBytes), file("damaged"))
	}
	if s.Refused > 0 {
		say(red, "%s entries that the log cannot take: they are in %s, with the reason", thousands(int64(s.Refused)), file("refused"))
	}
	for i, line := range lines {
		name := ""
		if i == 0 {
			name = "spool"
		}
		a.printf("%-12s %s\n", name, line)
	}
}

// onDisk formats disk usage, "" if it is unknown.
func onDisk(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f MB on disk", float64(bytes)/1e6)
}
