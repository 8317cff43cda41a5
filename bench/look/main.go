// Command look measures the list over all kinds (recount look): it asks a server questions whose
// right kind and hit are known, and prints how high these stand.
//
//	go -C bench run ./look -server http://127.0.0.1:7171 -half dev QUESTIONS.tsv
//
// A line of QUESTIONS has four fields: the kind, the half (dev or unseen), the text, and what is
// wanted. For commands that is the command; for code, names or ends of names with commas between
// them; for runtime, ends of operations' names; for agents, a list in JSON of {"has": …}, of which
// an object's text has to have one, or {"is": …}, of which one is a result. bench/docs/search.md says
// how the questions were made.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/look"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/httpapi"
)

var (
	server  = flag.String("server", "http://127.0.0.1:7171", "the server that has the log")
	half    = flag.String("half", "dev", "the half of the questions to ask: dev or unseen")
	verbose = flag.Bool("v", false, "print each question, its ranks and its first hit")
)

// question is one line.
type question struct{ kind, text, want string }

// tally sums up the questions of a kind.
type tally struct {
	asked                  int
	first, kindFirst       int     // the wanted hit, or any of the wanted kind, stands first
	reciprocal, withinKind float64 // of the rank in the list, and in the list of the kind alone
	ten                    int
	sure, sureRight        int
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("name the file of questions")
	}
	if err := run(context.Background(), flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string) error {
	client, err := httpapi.NewClient(*server, "", nil)
	if err != nil {
		return err
	}
	asked, err := read(path)
	if err != nil {
		return err
	}
	texts, err := objects(ctx, client)
	if err != nil {
		return err
	}
	all := map[string]*tally{"all": {}}
	for _, q := range asked {
		resp, err := look.Question.Ask(ctx, client, look.Request{Text: q.text, Limit: look.MaxLimit})
		if err != nil {
			return fmt.Errorf("%q: %w", q.text, err)
		}
		if all[q.kind] == nil {
			all[q.kind] = &tally{}
		}
		rank, within := ranks(q, resp.Hits, texts)
		for _, t := range []*tally{all[q.kind], all["all"]} {
			t.add(q, resp, rank, within)
		}
		if *verbose {
			first := ""
			if len(resp.Hits) > 0 {
				h := resp.Hits[0]
				first = fmt.Sprintf("%s %.2f %+.2v %.60q", h.Kind, h.Score, h.Parts, h.Title)
			}
			fmt.Printf("%-8s %3d (%3d in its kind)  %.70s\n    want %.60q, first %s\n", q.kind, rank, within, q.text, q.want, first)
		}
	}
	fmt.Printf("%-9s %5s %6s %6s %6s %6s %9s %6s %10s\n", "KIND", "ASKED", "KIND@1", "HIT@1", "R@10", "MRR", "IN KIND", "SURE", "SURE RIGHT")
	for _, kind := range append(look.Kinds(), "all") {
		t := all[kind]
		if t == nil {
			continue
		}
		n := float64(t.asked)
		fmt.Printf("%-9s %5d %6.3f %6.3f %6.3f %6.3f %9.3f %6.3f %10.3f\n", kind, t.asked, float64(t.kindFirst)/n, float64(t.first)/n, float64(t.ten)/n, t.reciprocal/n, t.withinKind/n, float64(t.sure)/n, float64(t.sureRight)/max(1, float64(t.sure)))
	}
	return nil
}

func (t *tally) add(q question, resp look.Response, rank, within int) {
	t.asked++
	if rank > 0 {
		t.reciprocal += 1 / float64(rank)
	}
	if within > 0 {
		t.withinKind += 1 / float64(within)
	}
	if rank == 1 {
		t.first++
	}
	if rank > 0 && rank <= 10 {
		t.ten++
	}
	kind := len(resp.Hits) > 0 && resp.Hits[0].Kind == q.kind
	if kind {
		t.kindFirst++
	}
	if resp.Sure {
		t.sure++
		if kind {
			t.sureRight++
		}
	}
}

// ranks returns the rank of the wanted hit in the list and among those of its kind, 0 without it.
func ranks(q question, hits []look.Hit, texts map[string]string) (rank, within int) {
	of := 0
	for i, h := range hits {
		if h.Kind != q.kind {
			continue
		}
		of++
		if wanted(q, h, texts) {
			return i + 1, of
		}
	}
	return 0, 0
}

func wanted(q question, h look.Hit, texts map[string]string) bool {
	names := strings.Split(q.want, ",")
	switch {
	case h.Command != nil:
		return strings.Join(strings.Fields(h.Command.Command), " ") == strings.Join(strings.Fields(q.want), " ")
	case h.Symbol != nil:
		return slices.ContainsFunc(names, func(n string) bool { return h.Symbol.Name == n || strings.HasSuffix(h.Symbol.Name, "."+n) })
	case h.Operation != nil:
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(h.Operation.Operation, "/"+n) })
	case h.Object != nil:
		var all []struct{ Has, Is string }
		if err := json.Unmarshal([]byte(q.want), &all); err != nil {
			log.Fatalf("%q: %v", q.text, err)
		}
		said := []string{texts[h.Object.Position]}
		for _, r := range h.Object.Results {
			said = append(said, texts[r.Position])
		}
		for _, x := range all {
			for _, text := range said {
				if x.Has != "" && strings.Contains(text, x.Has) || x.Is != "" && strings.TrimSpace(text) == x.Is {
					return true
				}
			}
		}
	}
	return false
}

func read(path string) (all []question, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("%s: %q: want four fields", path, line)
		}
		if f[1] == *half {
			all = append(all, question{f[0], f[2], f[3]})
		}
	}
	return all, nil
}

// objects returns the texts of all agents' objects by the positions of their events.
func objects(ctx context.Context, c *httpapi.Client) (map[string]string, error) {
	var lines bytes.Buffer
	if err := c.Objects(ctx, evidence.ExportRequest{}, &lines); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	in := bufio.NewScanner(&lines)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var row schemas.ObjectRow
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			return nil, err
		}
		texts[row.Position] = row.Title + "\n" + row.Command + "\n" + row.Text
	}
	return texts, in.Err()
}
