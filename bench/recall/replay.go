package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// injected is an item that a session would have been given.
type injected struct {
	Key       string      `json:"key"`
	Workspace string      `json:"workspace"`
	Held      bool        `json:"held"`
	On        string      `json:"on"`
	Session   string      `json:"session"`
	Asked     string      `json:"asked"`
	Command   string      `json:"command,omitempty"`
	Item      recall.Item `json:"item"`
	Text      string      `json:"text"` // all that was injected with it
}

// common are the flags of verbs that ask a server.
type common struct {
	server, part string
}

func (c *common) add(f *flag.FlagSet) {
	f.StringVar(&c.server, "server", "http://127.0.0.1:7171", "the server's URL")
	f.StringVar(&c.part, "part", "all", "dev, held or all")
}

// chosen selects the sessions of a part, in the directories of workspaces: WORKSPACE=DIR.
func (c *common) chosen(args []string) ([]session, error) {
	var chosen []session
	for _, arg := range args {
		workspace, dir, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%q: want WORKSPACE=DIR", arg)
		}
		all, err := readSessions(dir)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			if c.part == "all" || (c.part == "held") == held(s.name) {
				s.workspace = workspace
				chosen = append(chosen, s)
			}
		}
	}
	return chosen, nil
}

// replay asks at each prompt and failure of each session, and writes the items that would have been
// injected, none twice in a session.
func replay(ctx context.Context, args []string) error {
	var c common
	f := flag.NewFlagSet("replay", flag.ExitOnError)
	c.add(f)
	out := f.String("out", "items.jsonl", "the file to write")
	_ = f.Parse(args)
	sessions, err := c.chosen(f.Args())
	if err != nil {
		return err
	}
	client, err := httpapi.NewClient(c.server, os.Getenv("RECOUNT_TOKEN"), nil)
	if err != nil {
		return err
	}
	w, err := os.Create(*out)
	if err != nil {
		return err
	}
	defer w.Close()
	enc := json.NewEncoder(w)
	written := map[string]bool{} // sessions that were taken up again have prompts twice
	asked, answered, took := map[string]int{}, map[string]int{}, []time.Duration{}
	for _, s := range sessions {
		told := []string{}
		for _, x := range s.steps {
			r := recall.Request{Workspace: s.workspace, Session: s.name, Without: told, Moment: query.Moment{AsOf: query.AsOf{Time: x.at.Add(-time.Millisecond)}}}
			switch {
			case x.prompt != "":
				r.On, r.Text = recall.OnPrompt, head(x.prompt)
			case x.failed && x.command != "" && x.output != "":
				r.On, r.Command, r.Output, r.ExitCode = recall.OnFailure, head(x.command), tail(x.output), x.exit
			default:
				continue
			}
			start := time.Now()
			resp, err := recall.RecallQuestion.Ask(ctx, client, r)
			if err != nil {
				return fmt.Errorf("%s at %s: %w", s.name, x.at, err)
			}
			took = append(took, time.Since(start))
			asked[r.On]++
			if len(resp.Items) > 0 {
				answered[r.On]++
			}
			for _, item := range resp.Items {
				told = append(told, item.ID)
				about := x.prompt
				if r.On == recall.OnFailure {
					about = x.output
				}
				sum := sha256.Sum256([]byte(s.name + "\x00" + about + "\x00" + x.command + "\x00" + item.Quote + "\x00" + item.Title))
				key := hex.EncodeToString(sum[:6])
				if written[key] {
					continue
				}
				written[key] = true
				if err := enc.Encode(injected{Key: key, Workspace: s.workspace, Held: held(s.name), On: r.On, Session: s.name, Asked: about, Command: x.command, Item: item, Text: resp.Text}); err != nil {
					return err
				}
			}
		}
	}
	slices.Sort(took)
	for _, on := range []string{recall.OnPrompt, recall.OnFailure} {
		fmt.Printf("%s: asked %d, answered %d\n", on, asked[on], answered[on])
	}
	if n := len(took); n > 0 {
		fmt.Printf("%d sessions, the server's answer p50 %s, p99 %s\n", len(sessions), took[n/2].Round(time.Microsecond*100), took[n*99/100].Round(time.Microsecond*100))
	}
	return nil
}

// oneLine shortens a text for a table.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// sent is how many bytes of a text the hook sends.
const sent = 16 << 10

// head and tail cut a text as the hook does.
func head(s string) string { return strings.ToValidUTF8(s[:min(len(s), sent)], "") }

func tail(s string) string { return strings.ToValidUTF8(s[max(0, len(s)-sent):], "") }
