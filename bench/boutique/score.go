package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/projections"
	runtimegraph "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

//go:embed declared.tsv
var declaredTSV string

// pair is a call from one service to another, with its procedure.
type pair struct{ caller, callee, procedure string }

func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.caller, q.caller), cmp.Compare(p.callee, q.callee), cmp.Compare(p.procedure, q.procedure))
}

// declared returns the calls that the source declares.
func declared() map[pair]bool {
	all := map[pair]bool{}
	for p := range declaredRows() {
		all[p] = true
	}
	return all
}

// joined counts the calls in the rows without Recount: rows whose parent is in another
// service. The procedure is the name without the prefixes of the Python and JavaScript
// libraries.
func joined(all []span) map[pair]uint64 {
	services := map[[2]string]string{}
	for _, s := range all {
		services[[2]string{s.trace, s.id}] = s.service()
	}
	calls := map[pair]uint64{}
	for _, s := range all {
		if caller := services[[2]string{s.trace, s.parent}]; caller != "" && caller != s.service() {
			calls[pair{caller, s.service(), strings.TrimPrefix(strings.TrimPrefix(s.operation, "/"), "grpc.")}]++
		}
	}
	return calls
}

// partitions is the default number of partitions of a topic.
const partitions = 4

// batches returns the exports as the log stores them: each service in one partition, with
// its offsets.
func batches(ctx context.Context, all []export) (map[int32][]schemas.Batch, error) {
	var names []string
	for _, e := range all {
		names = append(names, e.service)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	next := map[int32]int64{}
	out := map[int32][]schemas.Batch{}
	for _, e := range all {
		partition := int32(slices.Index(names, e.service) % partitions)
		value, err := proto.Marshal(e.data)
		if err != nil {
			return nil, err
		}
		lr := schemas.LogRecord{
			Position:  schemas.Position{Topic: "recount.spans", Partition: partition, Offset: next[partition]},
			Timestamp: time.Unix(1661140434, 0), Key: []byte(e.service), Value: value,
			Headers: []schemas.Header{{Key: "content-type", Value: []byte(schemas.ContentProto)}},
		}
		records, err := processors.Records(ctx, []schemas.LogRecord{lr}, processors.Chain{})
		if err != nil {
			return nil, err
		}
		if spans := records[0].GetSpans(); spans == nil || spans.Skipped > 0 {
			return nil, fmt.Errorf("an export of %s was not understood: %s", e.service, spans.GetProblem())
		}
		next[partition]++
		out[partition] = append(out[partition], schemas.Batch{Topic: lr.Position.Topic, Partition: partition, Next: next[partition], Records: records})
	}
	return out, nil
}

// fold applies the batches to a new projection, interleaving partitions at random by r, or
// one after the other if r is nil. use receives the result.
func fold(ctx context.Context, all map[int32][]schemas.Batch, r *rand.Rand, use func(p *runtimegraph.Runtime) error) (err error) {
	dir, err := os.MkdirTemp("", "boutique")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := runtimegraph.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, p.Close()) }()
	left := maps.Clone(all)
	for len(left) > 0 {
		turns := slices.Sorted(maps.Keys(left))
		turn := turns[0]
		if r != nil {
			turn = turns[r.IntN(len(turns))]
		}
		if err := p.Apply(ctx, left[turn][0]); err != nil {
			return err
		}
		if left[turn] = left[turn][1:]; len(left[turn]) == 0 {
			delete(left, turn)
		}
	}
	return use(p)
}

// serviceMap returns Recount's map: counts of calls between services.
func serviceMap(ctx context.Context, p *runtimegraph.Runtime) (map[pair]uint64, error) {
	v, err := p.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	calls, err := v.Calls(ctx, runtimegraph.Range{}, "")
	if err != nil {
		return nil, err
	}
	all := map[pair]uint64{}
	for _, c := range calls {
		if c.Caller != c.Callee {
			all[pair{c.Caller, c.Callee, c.Operation}] += c.Count
		}
	}
	return all, nil
}

// answers returns all answers of the projection, except positions, as text: it is equal for
// any order of the same spans.
func answers(ctx context.Context, p *runtimegraph.Runtime) (string, error) {
	v, err := p.View()
	if err != nil {
		return "", err
	}
	defer v.Close()
	served, err1 := v.ServerSums(ctx, runtimegraph.Range{}, "")
	asked, err2 := v.ClientSums(ctx, runtimegraph.Range{}, "")
	calls, err3 := v.Calls(ctx, runtimegraph.Range{}, "")
	services, err4 := v.Services(ctx)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return "", err
	}
	var out strings.Builder
	sum := func(s runtimegraph.Sum) {
		fmt.Fprint(&out, s.Count, s.Errors, s.First, s.Last)
		for _, q := range []float64{0, 0.5, 0.95, 0.99, 1} {
			nanos, _ := s.Quantile(q)
			fmt.Fprint(&out, " ", nanos)
		}
		for _, x := range s.Examples {
			fmt.Fprintf(&out, " %x/%x %t %d", x.Trace, x.Span, x.Failed, x.Duration)
		}
		fmt.Fprintln(&out)
	}
	for _, s := range served {
		fmt.Fprintf(&out, "served %s %s %s %t %s ", s.Service, s.Kind, s.Operation, s.Templated, s.System)
		sum(s.Sum)
	}
	for _, s := range asked {
		fmt.Fprintf(&out, "asked %s %s %s %s %s ", s.Service, s.Peer, s.Kind, s.Operation, s.System)
		sum(s.Sum)
	}
	for _, c := range calls {
		fmt.Fprintf(&out, "call %s %s %s %s %s %s ", c.Caller, c.Callee, c.Kind, c.Operation, c.AskedOperation, c.Peer)
		sum(c.Sum)
	}
	for _, s := range services {
		fmt.Fprintf(&out, "service %+v\n", s)
	}
	return out.String(), nil
}

// outcome is the result of folding the data.
type outcome struct {
	root    schemas.Hash
	calls   map[pair]uint64
	answers string
}

// outcomeOf folds exports; see fold for r.
func outcomeOf(ctx context.Context, all []export, r *rand.Rand) (o outcome, err error) {
	b, err := batches(ctx, all)
	if err != nil {
		return o, err
	}
	err = fold(ctx, b, r, func(p *runtimegraph.Runtime) (err error) {
		if o.root, err = projections.Root(ctx, p); err != nil {
			return err
		}
		if o.calls, err = serviceMap(ctx, p); err != nil {
			return err
		}
		o.answers, err = answers(ctx, p)
		return err
	})
	return o, err
}

func score(ctx context.Context, all []span, seed uint64, w io.Writer) error {
	plain, err := outcomeOf(ctx, exports(all, perExport), nil)
	if err != nil {
		return err
	}
	table(w, joined(all), plain.calls, declared())
	r := rand.New(rand.NewPCG(seed, 0))
	fmt.Fprintln(w)
	for _, v := range variants {
		got, err := outcomeOf(ctx, exports(v.make(r, all), v.size), r)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: same calls %t", v.name, maps.Equal(got.calls, plain.calls))
		if !v.skewed {
			fmt.Fprintf(w, ", same answers %t", got.answers == plain.answers)
		}
		if v.sameLog {
			fmt.Fprintf(w, ", same root %t", got.root == plain.root)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// table prints the pairs, and the accuracy of the map by pairs and by calls.
func table(w io.Writer, want, got map[pair]uint64, source map[pair]bool) {
	all := map[pair]bool{}
	maps.Copy(all, source)
	for _, m := range []map[pair]uint64{want, got} {
		for p := range m {
			all[p] = true
		}
	}
	fmt.Fprintf(w, "%8s %8s %-8s\n", "spans", "map", "declared")
	found, right, counted := 0, 0, 0
	for _, p := range slices.SortedFunc(maps.Keys(all), pair.compare) {
		fmt.Fprintf(w, "%8d %8d %-8t %s → %s %s\n", want[p], got[p], source[p], p.caller, p.callee, p.procedure)
		if want[p] > 0 && got[p] > 0 {
			found++
		}
		if got[p] > 0 && source[p] {
			right++
		}
		if want[p] > 0 && got[p] == want[p] {
			counted++
		}
	}
	fmt.Fprintf(w, "\ncalls of the spans in the map: %d of %d, counted alike: %d\n", found, len(want), counted)
	fmt.Fprintf(w, "calls of the map that are declared: %d of %d\n", right, len(got))
}
