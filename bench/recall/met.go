package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/recall"
	"github.com/recountdb/recount/server/httpapi"
)

// before is an earlier failure with a key line.
type before struct {
	session string
	mended  bool // the same command succeeded later in that session
	at      time.Time
}

// met measures how many of the failures that were met before are recognised. Which were met before
// says a rule that shares nothing with query/recall: an earlier failure of another session of the
// workspace has the same key line, which is the first line of the output that names an error, without
// numbers, hashes, quoted values and directories. The first failure with a key line counts in each
// session.
func met(ctx context.Context, args []string) error {
	var c common
	f := flag.NewFlagSet("met", flag.ExitOnError)
	c.add(f)
	show := f.Bool("show", false, "print each failure that was met before, and each answer to one that was not")
	_ = f.Parse(args)
	part := c.part
	c.part = "all" // the past has all sessions
	sessions, err := c.chosen(f.Args())
	if err != nil {
		return err
	}
	client, err := httpapi.NewClient(c.server, os.Getenv("RECOUNT_TOKEN"), nil)
	if err != nil {
		return err
	}
	past := map[string][]before{}
	for _, s := range sessions {
		for i, x := range s.steps {
			if k := keyLine(x); k != "" {
				_, mended := untilMended(s.steps[i+1:], x.command)
				past[s.workspace+"\x00"+k] = append(past[s.workspace+"\x00"+k], before{s.name, mended, x.at})
			}
		}
	}
	var failures, again, mended, recognised, recognisedMended, answered, unfounded int
	kinds, found := map[string]bool{}, map[string]bool{}
	for _, s := range sessions {
		if part != "all" && (part == "held") != held(s.name) {
			continue
		}
		seen := map[string]bool{}
		for _, x := range s.steps {
			k := keyLine(x)
			if k == "" || seen[k] {
				continue
			}
			seen[k] = true
			failures++
			was, mend := false, false
			for _, b := range past[s.workspace+"\x00"+k] {
				if b.session != s.name && b.at.Before(x.at) {
					was, mend = true, mend || b.mended
				}
			}
			resp, err := recall.RecallQuestion.Ask(ctx, client, recall.Request{
				On: recall.OnFailure, Command: head(x.command), Output: tail(x.output), ExitCode: x.exit, Workspace: s.workspace, Session: s.name,
				Moment: query.Moment{AsOf: query.AsOf{Time: x.at.Add(-time.Millisecond)}},
			})
			if err != nil {
				return err
			}
			told := len(resp.Items) > 0
			if told {
				answered++
			}
			mark := " "
			switch {
			case was && told:
				recognised++
				mark = "+"
			case was:
				mark = "-"
			case told && resp.Items[0].Session != s.name:
				unfounded++
				mark = "?"
			}
			if was {
				again++
			}
			if mend {
				mended++
				kinds[s.workspace+k] = true
				if told {
					recognisedMended++
					found[s.workspace+k] = true
				}
			}
			if *show && mark != " " {
				fmt.Printf("%s %t\t%s\t%s\t%s\n", mark, mend, s.workspace, oneLine(x.command, 60), oneLine(k, 130))
			}
		}
	}
	fmt.Printf("%s: %d failures, %d met before in another session, of these recognised %d (%.2f)\n", part, failures, again, recognised, ratio(recognised, again))
	fmt.Printf("  met before and mended then: %d, recognised %d (%.2f); by key line: %d of %d (%.2f)\n", mended, recognisedMended, ratio(recognisedMended, mended), len(found), len(kinds), ratio(len(found), len(kinds)))
	fmt.Printf("  answered %d; by another session although the rule knows no such failure: %d\n", answered, unfounded)
	return nil
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

var (
	names  = regexp.MustCompile(`(?i)\b\w*(error|exception)\b|\bfatal\b|\bfail(ed|ure)?\b|\bcannot\b|\bcould not\b|not found|no such|denied|unknown|unrecognized|undefined|unexpected|invalid|refused|timed out`)
	values = regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`|(?:[\\w.@~-]*/)+|\\b[0-9a-fA-F]{7,}\\b|\\d+")
	layout = regexp.MustCompile(`[\s\W_]+`)
)

// keyLine returns the key line of a failed command, "" if it has none of three words.
func keyLine(x step) string {
	if !x.failed || x.command == "" || x.output == "" {
		return ""
	}
	for line := range strings.Lines(x.output) {
		if !names.MatchString(line) {
			continue
		}
		k := strings.ToLower(strings.TrimSpace(layout.ReplaceAllString(values.ReplaceAllString(line, " "), " ")))
		if len(strings.Fields(k)) >= 3 {
			return k
		}
	}
	return ""
}
