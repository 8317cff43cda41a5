// Command replay measures plans: how well slices are cut, and how long plans take.
//
//	make && go -C bench run ./replay slice                 recall and precision of slices
//	go -C bench run ./replay -half a slice                 of the half that rules were written with
//	go -C bench run ./replay script                        run the bash scripts elsewhere, compare trees
//	go -C bench run ./replay executed                      run them in the sandbox elsewhere, compare trees; and again
//	go -C bench run ./replay -agree executed               the same, and say yes to dangerous steps
//	go -C bench run ./replay -agree trimmed                without what trials leave out: recall, precision, trees
//	go -C bench run ./replay shellcheck                    what shellcheck says of their bash scripts
//	go -C bench run ./replay plan                          a plan of 1,000 steps
//	go -C bench run ./replay overhead                      what the sandbox adds to a step
//
// narratives holds shell sessions as people have them, each with its author's mark on every line: "+"
// if the step is needed for what the narrative leaves, or for its goal, "-" if not. Files a… were
// written to write the rules with, files b… before the slicer existed, and kept unseen until it was
// done. Files p… have no marks ("*"): they only tell whether trees are the same and what a second replay
// runs. Files c… are retold from tutorials and manuals that their titles name, and were marked before
// anything was run on them. Files d… to h… are by authors who had not seen the slicer. A line that only
// changes the directory (cd) is not counted, since each step states its own. Each narrative is typed into an interactive bash with the hook, in a home and a data
// directory of its own, so that what is planned is what a user would have recorded.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/plan"
)

var (
	bin     = flag.String("bin", "../bin/recount", "the recount program; recount-record is beside it")
	half    = flag.String("half", "", "only narratives whose names begin so: a to n, p, or a whole name")
	only    = flag.String("only", "", "only narratives whose names contain this")
	agree   = flag.Bool("agree", false, "with executed: answer yes about dangerous steps, which are refused otherwise")
	keep    = flag.String("keep", "", "with slice: a directory where recordings stay, for the next run to ask again")
	verbose = flag.Bool("v", false, "print what was left out or kept against the marks")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	var err error
	switch flag.Arg(0) {
	case "slice":
		err = slices()
	case "script":
		err = scripts()
	case "executed":
		err = executed()
	case "trimmed":
		err = trimmed()
	case "shellcheck":
		err = shellchecks()
	case "overhead":
		err = overhead()
	case "plan":
		err = plans()
	default:
		err = fmt.Errorf("want slice, script, shellcheck, executed, trimmed, plan or overhead")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// slices prints recall and precision over all steps that have marks.
func slices() error {
	needed, found, kept, right, whole, n := 0, 0, 0, 0, 0, 0
	moved, movedNeeded := 0, 0 // lines that only change the directory
	steps, strange, programs, asked := 0, 0, 0, 0
	return each(func(r *recorded) error {
		p, err := r.planAs(r.env, "")
		if err != nil {
			return err
		}
		in, unknown := map[string]bool{}, map[string]bool{}
		for _, s := range p.Steps {
			in[s.Intent.String()] = true
			if steps++; len(s.Unknown) > 0 {
				strange++
			}
			asks := 0
			for _, d := range s.Danger {
				if d.Unless == "" { // the place is empty
					asks = 1
					fmt.Printf("  %s: asks %s: %+v\n", r.n.name, oneLine(s.Command), d)
				}
			}
			asked += asks
			for _, name := range s.Unknown {
				if !unknown[name] && *verbose {
					fmt.Printf("  %s: unknown: %s\n", r.n.name, name)
				}
				unknown[name] = true
			}
		}
		programs += len(unknown)
		good := true
		for i, st := range r.n.steps {
			if st.mark == '*' {
				continue
			}
			if navigates.MatchString(st.text) {
				if moved++; st.mark == '+' {
					movedNeeded++
				}
				continue
			}
			id := r.hits[i].ID.String()
			switch {
			case st.mark == '+' && in[id]:
				needed, found, kept, right = needed+1, found+1, kept+1, right+1
			case st.mark == '+':
				needed++
				good = false
				fmt.Printf("  %s: missed %s\n", r.n.name, oneLine(st.text))
			case in[id]:
				kept++
				if *verbose {
					fmt.Printf("  %s: kept %s\n", r.n.name, oneLine(st.text))
				}
			}
			if *verbose && st.mark == '+' && !in[id] {
				for _, l := range p.Left {
					if l.Intent.String() == id {
						fmt.Printf("      %s: %s\n", l.Kind, l.Why)
					}
				}
			}
			if *verbose && st.mark != '+' && in[id] {
				for _, s := range p.Steps {
					if s.Intent.String() == id {
						fmt.Printf("      %v\n", s.Why)
					}
				}
			}
		}
		if n++; good {
			whole++
		}
		return nil
	}, func() {
		fmt.Printf("%d narratives, %d with all that is needed\n", n, whole)
		fmt.Printf("%d lines only change the directory and are not counted; %d of them are marked as needed\n", moved, movedNeeded)
		fmt.Printf("recall    %.3f (%d of %d needed steps)\n", float64(found)/float64(needed), found, needed)
		fmt.Printf("precision %.3f (%d of %d steps of plans)\n", float64(right)/float64(kept), right, kept)
		fmt.Printf("asks      %d of %d steps are dangerous\n", asked, steps)
		fmt.Printf("unknown   %d of %d steps have a program of which nothing is known; %d questions with the network open\n", strange, steps, programs)
	})
}

// each records the narratives, one after the other.
func each(f func(*recorded) error, done func()) error {
	files, err := filepath.Glob("replay/narratives/" + *half + "*.txt")
	if err != nil {
		return err
	}
	for _, file := range files {
		if !strings.Contains(file, *only) {
			continue
		}
		n, err := read(file)
		if err != nil {
			return err
		}
		r, err := kept(n)
		if err == nil {
			err = f(r)
		}
		if r != nil && *keep == "" {
			_ = os.RemoveAll(r.root)
		}
		if err != nil {
			fmt.Printf("  %s: %v\n", n.name, err)
		}
	}
	done()
	return nil
}

// kept returns the recording of a narrative that an earlier run kept, or records it.
func kept(n narrative) (*recorded, error) {
	root := filepath.Join(*keep, n.name)
	if *keep == "" {
		temporary, err := os.MkdirTemp("", "recount-replay-")
		if err != nil {
			return nil, err
		}
		root = temporary
	}
	r := &recorded{n: n, root: root, home: filepath.Join(root, "home", "alice")}
	known := filepath.Join(root, "kept")
	if _, err := os.Stat(known); err == nil {
		r.env = environment(root, "alice")
		r.hits, err = r.all()
		r.hits = r.hits[:min(len(r.hits), len(n.steps))]
		return r, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	r, err := record(n, root)
	if err != nil {
		_ = os.RemoveAll(root)
		return nil, err
	}
	return r, os.WriteFile(known, nil, 0o600)
}

// planAs asks, with an environment, for the plan of a recorded narrative, mapped to the home of another
// user if one is given.
func (r *recorded) planAs(env []string, toHome string, more ...string) (replay.Plan, error) {
	out, err := r.askAs(env, toHome, "", append(more, "--plan", "--json")...)
	if err != nil {
		return replay.Plan{}, err
	}
	var resp plan.Response
	err = json.Unmarshal(out, &resp)
	return resp.Plan, err
}

// ask asks for a script of a narrative.
func (r *recorded) ask(toHome, kind string, more ...string) ([]byte, error) {
	return r.askAs(r.env, toHome, kind, more...)
}

// askAs calls the verb with an environment. Its output is returned also where it fails.
func (r *recorded) askAs(env []string, toHome, kind string, more ...string) ([]byte, error) {
	args := append([]string{"replay"}, more...)
	switch r.n.goal {
	case "last":
		args = append(args, r.hits[len(r.hits)-1].ID.String())
	case "mend":
		last := r.hits[len(r.hits)-1]
		for i := len(r.n.steps) - 1; i >= 0; i-- {
			if r.n.steps[i].mark == '+' {
				last = r.hits[i]
				break
			}
		}
		goal := []string{last.ID.String()} // if no run with the same words failed
		for _, h := range r.hits {
			if h.Command == last.Command && h.ExitCode != nil && *h.ExitCode != 0 {
				goal = []string{"--mend", h.ID.String()}
				break
			}
		}
		args = append(args, goal...)
	default:
		args = append(args, "--session", r.hits[0].Session)
	}
	if toHome != "" {
		args = append(args, "--map", r.home+"="+toHome)
	}
	if kind != "" {
		args = append(args, "--script", kind)
	}
	return call(env, args...)
}

// call calls Recount, as a person who agrees to all if -agree is given. Its output is returned also where it fails.
func call(env []string, args ...string) ([]byte, error) {
	c := exec.Command(*bin, args...)
	c.Env = env
	if *agree {
		tty, end, err := agreeing()
		if err != nil {
			return nil, err
		}
		defer end()
		c.Stdin = tty
	}
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return out, fmt.Errorf("recount %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// all returns the recorded commands, the oldest first.
func (r *recorded) all() ([]commands.Hit, error) {
	c := exec.Command(*bin, "find", "--json", "--limit", "1000", "--repeats")
	c.Env = r.env
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("recount find: %w\n%s", err, out)
	}
	var resp commands.FindResponse
	if err := json.Unmarshal(out, &resp); err != nil {
		return nil, err
	}
	for i, j := 0, len(resp.Hits)-1; i < j; i, j = i+1, j-1 {
		resp.Hits[i], resp.Hits[j] = resp.Hits[j], resp.Hits[i]
	}
	return resp.Hits, nil
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return s[:min(len(s), 90)]
}
