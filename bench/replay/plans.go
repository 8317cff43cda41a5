package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// plans measures a plan of 1,000 steps, and that shuffled input gives the same bytes.
func plans() error {
	all := long(1000)
	r := plan.Request{Session: "s", All: true, Map: []string{"/home/alice=/home/bob"}}
	n := plan.Narrative{Goal: replay.Goal{Kind: "session", What: "s"}, Commands: all, Runs: all}
	var times []time.Duration
	sums := map[string]bool{}
	for i := range 11 {
		rng := rand.New(rand.NewPCG(20, uint64(i)))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, keep := range []bool{true, false} {
			r.All = keep
			start := time.Now()
			p, err := plan.Make(n, r)
			if err != nil {
				return err
			}
			took := time.Since(start)
			if keep {
				times = append(times, took)
			}
			b, err := json.Marshal(p)
			if err != nil {
				return err
			}
			sums[fmt.Sprintf("%x", sha256.Sum256(b))[:12]] = true
			if i == 0 {
				fmt.Printf("all=%t: %d steps, %d left out, %d bytes of JSON, %v\n", keep, len(p.Steps), len(p.Left), len(b), took.Round(time.Millisecond))
			}
		}
	}
	for i := range times {
		for j := i + 1; j < len(times); j++ {
			if times[j] < times[i] {
				times[i], times[j] = times[j], times[i]
			}
		}
	}
	fmt.Printf("a plan of 1,000 steps: median %v, worst %v of %d; %d different results of 2 requests over shuffled input\n",
		times[len(times)/2].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond), len(times), len(sums))
	return nil
}

// long returns a narrative of n commands of the usual kinds.
func long(n int) (all []commands.Scanned) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	zero := int32(0)
	for i := range n {
		text := [...]string{
			fmt.Sprintf("mkdir -p src/m%d", i/8), fmt.Sprintf("echo 'int f%d;' > src/m%d/a.c", i, i/8), fmt.Sprintf("cat src/m%d/a.c", i/8),
			fmt.Sprintf("cc -c src/m%d/a.c -o src/m%d/a.o", i/8, i/8), "git add -A", fmt.Sprintf("git commit -m 'Module %d'", i), "make", fmt.Sprintf("sed -i s/f/g/ src/m%d/a.c", i/8),
		}[i%8]
		e := &recountv1.CommandExecuted{Command: text, Cwd: "/home/alice/project", Workspace: "/home/alice/project", Session: "s", Shell: "bash", User: "alice"}
		var rec recountv1.Record
		ev := schemas.Event{Time: at.Add(time.Duration(i) * time.Second)}
		if err := command.Intent(ev, e, &rec); err != nil {
			panic(err) // the commands above can be understood
		}
		in := rec.GetIntent()
		c := commands.Scanned{Intent: commands.Intent{
			ID: schemas.NewCanon("bench").Int(int64(i)).ID(), Position: schemas.Position{Topic: "recount.commands", Offset: int64(i)},
			Time: ev.Time, Command: text, Cwd: e.Cwd, Session: e.Session, Workspace: e.Workspace, User: e.User, Shell: e.Shell, ExitCode: &zero, Template: in.Template,
		}}
		c.ContextHash = "0"
		for _, x := range in.Resources {
			r := commands.Resource{Kind: lower(x.Kind.String()[len("RESOURCE_KIND_"):]), Name: x.Name, Access: "read"}
			switch x.Access {
			case recountv1.Access_ACCESS_WRITE:
				r.Access = "write"
			case recountv1.Access_ACCESS_READ_WRITE:
				r.Access = "read_write"
			}
			c.Resources = append(c.Resources, r)
		}
		all = append(all, c)
	}
	return all
}

func lower(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] >= 'A' && b[i] <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}
