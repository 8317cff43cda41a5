package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/recall"
	"github.com/recountdb/recount/server/httpapi"
)

// earlier replays sessions that meet a failure which was met before. Without recall, the agent finds
// the mend when it has made its way to the next success of the same command; with recall, the mend of
// the earlier failure stands in its context right after the failure. It prints, for each, how many
// commands and changes lie between.
func earlier(ctx context.Context, args []string) error {
	var c common
	f := flag.NewFlagSet("earlier", flag.ExitOnError)
	c.add(f)
	_ = f.Parse(args)
	sessions, err := c.chosen(f.Args())
	if err != nil {
		return err
	}
	client, err := httpapi.NewClient(c.server, os.Getenv("RECOUNT_TOKEN"), nil)
	if err != nil {
		return err
	}
	runs := 0
	var gained []int
	for _, s := range sessions {
		told := []string{}
		counted := false
		for i, x := range s.steps {
			if !x.failed || x.command == "" || x.output == "" {
				continue
			}
			r := recall.Request{
				On: recall.OnFailure, Command: head(x.command), Output: tail(x.output), ExitCode: x.exit, Workspace: s.workspace, Session: s.name, Without: told,
				Moment: query.Moment{AsOf: query.AsOf{Time: x.at.Add(-time.Millisecond)}},
			}
			resp, err := recall.RecallQuestion.Ask(ctx, client, r)
			if err != nil {
				return err
			}
			for _, item := range resp.Items {
				told = append(told, item.ID)
			}
			if len(resp.Items) == 0 || resp.Items[0].Mend == nil {
				continue
			}
			m := resp.Items[0].Mend
			n, ended := untilMended(s.steps[i+1:], x.command)
			if !ended {
				continue
			}
			gained = append(gained, n)
			if !counted {
				runs++
				counted = true
			}
			fmt.Printf("%s\t%d\t%s\t%s\t%s\n", s.name[:min(8, len(s.name))], n, oneLine(x.command, 70), oneLine(resp.Items[0].Quote, 70), oneLine(strings.Join(append(m.Steps, m.Command), " / "), 120))
		}
	}
	slices.Sort(gained)
	sum := 0
	for _, n := range gained {
		sum += n
	}
	if len(gained) > 0 {
		fmt.Printf("%d failures in %d sessions: the mend stands in the context after 0 commands instead of %d in the median, %.1f in the mean, %d at most\n", len(gained), runs, gained[len(gained)/2], float64(sum)/float64(len(gained)), gained[len(gained)-1])
	}
	return nil
}

// untilMended returns how many commands and changes come before the next success of a command, which
// is included; ended is false if it does not succeed in the session.
func untilMended(steps []step, command string) (n int, ended bool) {
	for _, x := range steps {
		if !x.ended || x.command == "" && !x.edits {
			continue
		}
		n++
		if x.command != "" && !x.failed && sameCommand(x.command, command) {
			return n, true
		}
	}
	return n, false
}

// sameCommand reports whether two commands run the same program and subcommand.
func sameCommand(a, b string) bool {
	key := func(s string) string {
		if i := strings.LastIndex(s, "&& "); i >= 0 && strings.HasPrefix(strings.TrimSpace(s), "cd ") {
			s = s[i+3:]
		}
		words := strings.Fields(s)
		return strings.Join(words[:min(2, len(words))], " ")
	}
	return key(a) == key(b)
}
